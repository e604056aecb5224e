"""The provider-kubernetes Object: stands on the control cluster for one object on an inference cluster."""

from collections.abc import Mapping, Sequence
from typing import Any

PROVIDER_API = "kubernetes.m.crossplane.io/v1alpha1"

#: Look only: the object belongs to somebody else.
OBSERVE = ("Observe",)
#: Create and update, and leave the object where it is when the Object goes.
KEEP = ("Observe", "Create", "Update")


def remote_object(
    manifest: Mapping[str, Any],
    *,
    namespace: str,
    config: str,
    policies: Sequence[str] = (),
    ready_when: str | None = None,
    watch: bool = False,
    used_by: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the Object in `namespace` that manages `manifest` on the cluster of ClusterProviderConfig `config`.

    `policies` are its managementPolicies (none: manage it fully). `ready_when` is a CEL query over `object`; without
    it the Object is ready as soon as the manifest is applied. `watch` brings changes at once where the provider
    watches (it polls otherwise). `used_by` refers to an object of the control cluster (apiVersion, kind, name) that
    the provider keeps by a finalizer as long as this Object exists.
    """
    spec: dict[str, Any] = {
        "forProvider": {"manifest": manifest},
        "providerConfigRef": {"kind": "ClusterProviderConfig", "name": config},
    }
    if policies:
        spec["managementPolicies"] = list(policies)
    if ready_when:
        spec["readiness"] = {"policy": "DeriveFromCelQuery", "celQuery": ready_when}
    if watch:
        spec["watch"] = True
    if used_by:
        spec["references"] = [{"dependsOn": dict(used_by)}]
    return {"apiVersion": PROVIDER_API, "kind": "Object", "metadata": {"namespace": namespace}, "spec": spec}


def as_observed(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an observed composed resource as it should stay: its identity and spec, nothing that others write.

    To leave it out of the desired state would delete it.
    """
    metadata = {key: body["metadata"][key] for key in ("name", "namespace") if body["metadata"].get(key)}
    return {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": metadata, "spec": body.get("spec", {})}
