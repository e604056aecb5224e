"""Which clusters may take a new replica, devices and room aside, and which no longer may keep the ones they have."""

from collections.abc import Mapping

from modelplane.model.deployment import Deployment, Profile, Toleration
from modelplane.model.fleet import Cluster, Effect, Taint
from modelplane.model.placement import Footprint
from modelplane.model.pod_metadata import find_denied
from modelplane.model.refusal import (
    Deleting,
    MetadataDenied,
    NoGatewayAddress,
    NoPools,
    NotAllowed,
    NotReady,
    OutsideCache,
    Refusal,
    SelectorMismatch,
    Tainted,
)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Tell whether a toleration accepts a taint; an empty effect matches both, Exists with an empty key everything."""
    if toleration.effect not in (None, taint.effect):
        return False
    if toleration.exists:
        return toleration.key in ("", taint.key)
    return (toleration.key, toleration.value) == (taint.key, taint.value)


def repelling(deployment: Deployment, cluster: Cluster, *effects: Effect) -> Taint | None:
    """Return the first taint of one of these effects that the deployment does not tolerate."""
    for taint in sorted(cluster.taints, key=lambda taint: (taint.key, taint.effect, taint.value)):
        if taint.effect in effects and not any(tolerates(each, taint) for each in deployment.tolerations):
            return taint
    return None


def lacking(cluster: Cluster, wanted: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the first label (key, value) of a selector that the cluster does not carry."""
    return next((label for label in sorted(wanted.items()) if cluster.labels.get(label[0]) != label[1]), None)


def drift(deployment: Deployment, cluster: Cluster) -> str:
    """Return why the deployment no longer allows a cluster that it has a replica on, "" where it does."""
    if label := lacking(cluster, deployment.cluster_selector):
        return f"spec.clusterSelector asks for {label[0]}={label[1]}"
    taint = repelling(deployment, cluster, Effect.NO_SCHEDULE)
    return f"the cluster is tainted {taint.key} NoSchedule, which spec.tolerations does not cover" if taint else ""


def find_not_allowed(name: str, cluster: Cluster, labels: Mapping[str, str]) -> NotAllowed | None:
    """Return the refusal of a cluster to a namespace with this name and these labels, None where it accepts it."""
    if cluster.allowed is None:
        return None
    lacks = next((label for label in sorted(cluster.allowed.items()) if labels.get(label[0]) != label[1]), None)
    return NotAllowed(name, *lacks) if lacks else None


def denied(profile: Profile, cluster: Cluster) -> str:
    """Return the first label or annotation of a profile's pods that the cluster denies to teams, "" for none."""
    return find_denied(profile.acting, cluster.pod_metadata)


def _denied_by_all(deployment: Deployment, cluster: Cluster) -> str:
    """Return a key that the cluster denies of the first profile, if it denies one of every profile; else ""."""
    found = [denied(each, cluster) for each in deployment.profiles]
    return found[0] if found and all(found) else ""


def rule_out(
    deployment: Deployment, cluster: Cluster, footprint: Footprint | None, namespace: Mapping[str, str]
) -> Refusal | None:
    """Return the first reason for which a cluster takes no new replica whatever its state, None where it may.

    Who operates the deployment or the cluster has said so. `namespace` are the labels of the deployment's namespace.
    """
    refusal: Refusal | None = None
    if label := lacking(cluster, deployment.cluster_selector) if deployment.cluster_selector else None:
        refusal = SelectorMismatch(*label)
    elif footprint and lacking(cluster, footprint.selector):
        refusal = OutsideCache(footprint.cache)
    elif refused := find_not_allowed(deployment.namespace, cluster, namespace):
        refusal = refused
    elif key := _denied_by_all(deployment, cluster):
        refusal = MetadataDenied(key)
    elif taint := repelling(deployment, cluster, Effect.NO_SCHEDULE, Effect.NO_EXECUTE) if cluster.taints else None:
        refusal = Tainted(taint.key, taint.effect)
    return refusal


def refuse(
    deployment: Deployment, cluster: Cluster, footprint: Footprint | None, namespace: Mapping[str, str]
) -> Refusal | None:
    """Return the first reason why the cluster takes no new replica of the deployment, in the order of precedence."""
    if cluster.deleting:
        return Deleting()
    if not cluster.ready:
        return NotReady()
    if not cluster.address:
        return NoGatewayAddress()
    if refusal := rule_out(deployment, cluster, footprint, namespace):
        return refusal
    return None if cluster.pools else NoPools(published=cluster.pools is not None)
