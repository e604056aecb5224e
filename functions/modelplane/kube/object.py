"""What provider-kubernetes does on an inference cluster: an Object for one object there, a collection for many."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.model.names import ANNOTATION_POLL, CREATE_ONLY, OBSERVE_ONLY

PROVIDER_API = "kubernetes.m.crossplane.io/v1alpha1"
COLLECTION = "ObservedObjectCollection"
#: Poll interval of an Object that is watched, or of which only the sync state is read. The default is a minute
#: (`--poll` in install/). Every poll is a write on the control cluster, whatever it finds.
SELDOM = "5m"


@dataclass(frozen=True, slots=True)
class Handling:
    """How the provider treats the object on the cluster.

    `policies` are the Object's managementPolicies (none: manage it fully). `ready_when` is a CEL query over `object`;
    without it the Object is ready as soon as the manifest is applied. With `watch` the provider sees changes at once if
    it supports watching (otherwise it polls). `used_by` names an object of the control cluster (apiVersion, kind, name)
    that the provider keeps by a finalizer as long as the Object exists; it tries to write that finalizer once, when it
    first sees the Object (see `compose_replica/cluster_hold`). `pods_first`: a deleted object, and so its Object, stays
    until its pods are gone. `seldom`: the provider polls it every 5 minutes instead of every minute.
    """

    policies: tuple[str, ...] = ()
    ready_when: str | None = None
    watch: bool = False
    used_by: Mapping[str, str] | None = None
    pods_first: bool = False
    seldom: bool = False


#: Every poll is a write on the control cluster, also of what nobody changes but by hand.
SELDOM_POLLED = Handling(seldom=True)
#: Create and update the object, and leave it on the cluster when the Object is deleted.
ORPHANED = Handling(policies=("Observe", "Create", "Update"), seldom=True)
#: Create the object if it is absent, and never change it; leave it on the cluster too.
CLAIMED = Handling(policies=CREATE_ONLY, seldom=True)
#: The same of an object that is as wanted. The query makes it Ready: without one the provider waits until the object is
#: as it would apply it, and polls it every 30 seconds.
KEPT = Handling(policies=CREATE_ONLY, ready_when="has(object.metadata.uid)", seldom=True)


def observed_only(*, ready_when: str | None = None, watch: bool = False, seldom: bool = False) -> Handling:
    """Return the handling of an object that somebody else manages: it is observed, never written."""
    return Handling(policies=OBSERVE_ONLY, ready_when=ready_when, watch=watch, seldom=seldom)


#: Kind of the config that reaches an inference cluster, and of one for objects of its own namespace alone.
CLUSTER_CONFIG, OWN_CONFIG = "ClusterProviderConfig", "ProviderConfig"


def remote_object(
    manifest: Mapping[str, Any], handling: Handling, *, namespace: str, config: str, config_kind: str = CLUSTER_CONFIG
) -> dict[str, Any]:
    """Return the Object in `namespace` for `manifest` on the cluster of the ClusterProviderConfig `config`."""
    deletion = {"deletionPropagationPolicy": "Foreground"} if handling.pods_first else {}
    spec: dict[str, Any] = {
        "forProvider": {**deletion, "manifest": manifest},
        "providerConfigRef": {"kind": config_kind, "name": config},
    }
    if handling.policies:
        spec["managementPolicies"] = list(handling.policies)
    if handling.ready_when:
        spec["readiness"] = {"policy": "DeriveFromCelQuery", "celQuery": handling.ready_when}
    elif handling.policies:
        # The default, in words: of an Object whose handling changes the API server refuses that the field is left out.
        spec["readiness"] = {"policy": "SuccessfulCreate"}
    if handling.watch:
        spec["watch"] = True
    if handling.used_by:
        spec["references"] = [{"dependsOn": dict(handling.used_by)}]
    metadata: dict[str, Any] = {"namespace": namespace}
    if handling.seldom:
        metadata["annotations"] = {ANNOTATION_POLL: SELDOM}
    return {"apiVersion": PROVIDER_API, "kind": "Object", "metadata": metadata, "spec": spec}


def collection(
    observed: Mapping[str, Any], *, namespace: str, config: str, labels: Mapping[str, str]
) -> dict[str, Any]:
    """Return the collection in `namespace` that observes objects on the cluster of the ClusterProviderConfig `config`.

    `observed` has apiVersion, kind, namespace and a label selector. For each object that it finds, the provider creates
    an observe-only Object with `labels`.
    """
    return {
        "apiVersion": PROVIDER_API,
        "kind": COLLECTION,
        "metadata": {"namespace": namespace},
        "spec": {
            "observeObjects": dict(observed),
            "objectTemplate": {"metadata": {"labels": dict(labels)}},
            "providerConfigRef": {"kind": "ClusterProviderConfig", "name": config},
        },
    }
