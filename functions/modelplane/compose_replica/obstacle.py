"""What keeps a replica from being composed anew, so that everything it has is held."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from modelplane.compose_replica.spec import ReplicaSpec
from modelplane.compose_replica.validation import find_problems
from modelplane.composing.messages import sentences
from modelplane.model.conditions import Reason
from modelplane.model.names import LABEL_CLUSTER
from modelplane.model.observation import Gap
from modelplane.observed.fields import deleting, mapping
from modelplane.observed.remote import Remote
from modelplane.observed.replica import lacks_label, placed_cluster
from modelplane.step import Object


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps a replica from being composed anew: a reason of ModelAccepted, and a message with the remedy.

    `ends`: what it has composed goes, too.
    """

    reason: Reason
    message: str
    ends: bool = False


def _config(spec: ReplicaSpec, cluster: Object | Gap) -> str | Obstacle:
    """Return the ClusterProviderConfig through which the cluster is reached, or why nothing new can be put there."""

    def wait(*message: str) -> Obstacle:
        return Obstacle(Reason.WAITING_FOR_CLUSTER, sentences(*message))

    named, published = f"InferenceCluster {spec.cluster}", "status.providerConfigRef"
    if cluster is Gap.NOT_FETCHED:
        return wait(f"{named} is not fetched yet")
    if not isinstance(cluster, Object):
        return wait(f"{named} does not exist", "Create it, or delete this ModelReplica.")
    reference = mapping(cluster.body.get("status")).get("providerConfigRef")
    name = mapping(reference).get("name")
    if not reference:
        return wait(f"{named} is not reached yet, its {published} is empty", "See its condition ClusterReady.")
    if not isinstance(name, str) or not name:
        return wait(f"{named}: {published} names no config", "See its condition ClusterReady.")
    if deleting(cluster):
        return wait(f"{named} is being deleted and goes when nothing runs there", "Delete this ModelReplica.")
    return name


def cluster_mismatch(replica: Object, spec: ReplicaSpec, remotes: Mapping[str, Remote]) -> Obstacle | None:
    """Return why a replica may compose nothing on the cluster that its spec names: it was edited, or lacks a label."""
    placed = placed_cluster(replica)
    if placed and placed != spec.cluster:
        moved = f"spec.clusterName is {spec.cluster}, the ModelDeployment has placed this replica on {placed}"
        return Obstacle(Reason.DEPLOYING, sentences(moved, "It restores the field: edit the ModelDeployment instead."))
    if remotes or not lacks_label(replica):
        return None
    missing = f"Label this ModelReplica {LABEL_CLUSTER}={spec.cluster}: without the label it composes nothing"
    return Obstacle(Reason.WAITING_FOR_CLUSTER, sentences(missing))


def reach(spec: ReplicaSpec, cluster: Object | Gap, remotes: Iterable[Remote]) -> str | Obstacle:
    """Return the ClusterProviderConfig to compose the replica through, or the first obstacle that holds."""
    if problems := find_problems(spec):
        return Obstacle(Reason.INVALID_ENGINE, problems)
    config = _config(spec, cluster)
    elsewhere = sorted({remote.config for remote in remotes if remote.config not in ("", config)})
    if isinstance(config, Obstacle) or not elsewhere:
        return config
    moved = f"spec.clusterName is {spec.cluster}, the replica runs on {', '.join(elsewhere)} and cannot move"
    return Obstacle(Reason.DEPLOYING, sentences(moved, "Restore spec.clusterName, or create another ModelReplica."))
