"""Finds what keeps a replica from being composed anew, so that everything it has stays as it is."""

from collections.abc import Iterable
from dataclasses import dataclass

from modelplane.compose_replica import topology
from modelplane.compose_replica.spec import ReplicaSpec
from modelplane.model.conditions import Reason
from modelplane.model.observation import Gap, Malformed
from modelplane.observed.fields import deleting, mapping
from modelplane.observed.remote import Remote
from modelplane.step import Object


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A reason of the condition ModelAccepted, and what is in the way and how to clear it."""

    reason: Reason
    words: str


def _config(spec: ReplicaSpec, cluster: Object | Gap) -> str | Obstacle:
    """Return the ClusterProviderConfig through which the cluster is reached, or why nothing new can be put there."""
    named, field = f"InferenceCluster {spec.cluster}", "status.providerConfigRef"
    if cluster is Gap.NOT_FETCHED:
        return Obstacle(Reason.WAITING_FOR_CLUSTER, f"{named} is not fetched yet")
    if not isinstance(cluster, Object):
        return Obstacle(Reason.WAITING_FOR_CLUSTER, f"{named} does not exist: create it, or delete this ModelReplica")
    reference = mapping(cluster.body.get("status")).get("providerConfigRef")
    name = mapping(reference).get("name")
    if not reference:
        return Obstacle(Reason.WAITING_FOR_CLUSTER, f"{named} has not published how it is reached ({field})")
    if not isinstance(name, str) or not name:
        return Obstacle(
            Reason.WAITING_FOR_CLUSTER, str(Malformed("InferenceCluster", spec.cluster, field, "names no config"))
        )
    if deleting(cluster):
        return Obstacle(Reason.WAITING_FOR_CLUSTER, f"{named} is being deleted")
    return name


def reach(spec: ReplicaSpec, cluster: Object | Gap, remotes: Iterable[Remote]) -> str | Obstacle:
    """Return the ClusterProviderConfig to compose the replica through, or the first obstacle that holds."""
    if wrong := topology.wrong(spec):
        return Obstacle(Reason.INVALID_ENGINE, wrong)
    config = _config(spec, cluster)
    elsewhere = sorted({remote.config for remote in remotes if remote.config not in ("", config)})
    if isinstance(config, Obstacle) or not elsewhere:
        return config
    words = f"runs on {', '.join(elsewhere)} and cannot move: restore spec.clusterName, or make another ModelReplica"
    return Obstacle(Reason.DEPLOYING, words)
