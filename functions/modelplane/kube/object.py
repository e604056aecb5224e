"""The provider-kubernetes Object: stands on the control cluster for one object on an inference cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PROVIDER_API = "kubernetes.m.crossplane.io/v1alpha1"


@dataclass(frozen=True, slots=True)
class Handling:
    """How the provider treats the object on the cluster.

    `policies` are the Object's managementPolicies (none: manage it fully). `ready_when` is a CEL query over `object`;
    without it the Object is ready as soon as the manifest is applied. `watch` brings changes at once where the
    provider watches (it polls otherwise). `used_by` names an object of the control cluster (apiVersion, kind, name)
    that the provider keeps by a finalizer as long as the Object exists.
    """

    policies: tuple[str, ...] = ()
    ready_when: str | None = None
    watch: bool = False
    used_by: Mapping[str, str] | None = None


#: The managementPolicies of what is looked at, never touched.
LOOK = ["Observe"]
#: Create and update it, and leave it where it is when the Object goes.
KEEP = Handling(policies=("Observe", "Create", "Update"))


def observed_only(*, ready_when: str | None = None, watch: bool = False) -> Handling:
    """Return the handling of an object that belongs to somebody else: it is looked at, never touched."""
    return Handling(policies=tuple(LOOK), ready_when=ready_when, watch=watch)


def remote_object(manifest: Mapping[str, Any], handling: Handling, *, namespace: str, config: str) -> dict[str, Any]:
    """Return the Object in `namespace` for `manifest` on the cluster of the ClusterProviderConfig `config`."""
    spec: dict[str, Any] = {
        "forProvider": {"manifest": manifest},
        "providerConfigRef": {"kind": "ClusterProviderConfig", "name": config},
    }
    if handling.policies:
        spec["managementPolicies"] = list(handling.policies)
    if handling.ready_when:
        spec["readiness"] = {"policy": "DeriveFromCelQuery", "celQuery": handling.ready_when}
    if handling.watch:
        spec["watch"] = True
    if handling.used_by:
        spec["references"] = [{"dependsOn": dict(handling.used_by)}]
    return {"apiVersion": PROVIDER_API, "kind": "Object", "metadata": {"namespace": namespace}, "spec": spec}


def as_observed(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an observed composed resource as it should stay: its identity and spec, nothing that others write.

    To leave it out of the desired state would delete it. Owners beside the composite are ours too: they stay.
    """
    metadata = {key: body["metadata"][key] for key in ("name", "namespace") if body["metadata"].get(key)}
    owners = [owner for owner in body["metadata"].get("ownerReferences") or () if not owner.get("controller")]
    metadata |= {"ownerReferences": owners} if owners else {}
    return {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": metadata, "spec": body.get("spec", {})}


def left_behind(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an Object whose object stays on its cluster when the Object goes; anything else as it is.

    The provider then takes its finalizers off without a word to the cluster. `references` stay as they are: it takes
    its finalizer off an InferenceCluster only when it still finds the reference.
    """
    policies = set(body["spec"].get("managementPolicies") or ["*"])
    if body["kind"] != "Object" or not policies & {"*", "Delete"}:
        return body
    return {**body, "spec": {**body["spec"], "managementPolicies": list(KEEP.policies)}}


def _taken_along(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an Object that was `left_behind`, though what it is used by, called `name`, is not given up any more.

    Its object goes with it again. One that is meant to stay, such as a namespace, is used by nothing.
    """
    spec = body["spec"]
    users = [reference.get("dependsOn") or {} for reference in spec.get("references") or ()]
    if tuple(spec.get("managementPolicies") or ()) != KEEP.policies or name not in {user.get("name") for user in users}:
        return body
    return {**body, "spec": {field: value for field, value in spec.items() if field != "managementPolicies"}}


def handled(body: Mapping[str, Any], cluster: str, *, abandoned: bool | None) -> Mapping[str, Any]:
    """Return an Object on a cluster such that what it put there goes with it, and stays where the cluster is given up.

    While there is no cluster that says (None) it is as it is.
    """
    if abandoned is None:
        return body
    return left_behind(body) if abandoned else _taken_along(body, cluster)
