"""Why a replica cannot be composed, so that all of its resources are held."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from modelplane.compose_replica.spec import ReplicaSpec
from modelplane.compose_replica.validation import find_problems
from modelplane.composing.messages import sentences
from modelplane.model.conditions import Reason
from modelplane.model.fleet import Cluster
from modelplane.model.names import LABEL_CLUSTER
from modelplane.model.observation import Gap
from modelplane.model.pod_metadata import acting, find_denied
from modelplane.observed.cluster import mistaken
from modelplane.observed.fields import deleting, mapping
from modelplane.observed.remote import Remote
from modelplane.observed.replica import lacks_label, placed_cluster
from modelplane.step import Object


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a replica cannot be composed: a reason of ModelAccepted, and a message with the remedy.

    `ends`: the resources that it has composed are removed.
    """

    reason: Reason
    message: str
    ends: bool = False


def _config(spec: ReplicaSpec, cluster: Object | Gap) -> str | Obstacle:
    """Return the ClusterProviderConfig that reaches the cluster, or why nothing new can be put there."""

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
        return wait(
            f"{named} is being deleted; deletion completes when no replica runs there", "Delete this ModelReplica."
        )
    wrong = mistaken(cluster)
    return wait(f"{named} accepts no new replicas: {wrong}") if wrong else name


def cluster_mismatch(replica: Object, spec: ReplicaSpec, remotes: Mapping[str, Remote]) -> Obstacle | None:
    """Return why a replica may compose nothing on its spec's cluster: the field was edited, or the label is missing."""
    placed = placed_cluster(replica)
    if placed and placed != spec.cluster:
        moved = f"spec.clusterName is {spec.cluster}, the ModelDeployment has placed this replica on {placed}"
        return Obstacle(Reason.DEPLOYING, sentences(moved, "It restores the field: edit the ModelDeployment instead."))
    if remotes or not lacks_label(replica):
        return None
    line = f'{LABEL_CLUSTER}: "{spec.cluster}"'
    missing = f"Add the line {line} to metadata.labels of this ModelReplica: without the label it composes nothing"
    return Obstacle(Reason.WAITING_FOR_CLUSTER, sentences(missing))


def denied_metadata(spec: ReplicaSpec, cluster: Cluster) -> Obstacle | None:
    """Return that the cluster denies a label or annotation of the pods, None if it allows all."""
    members = [(engine.name, at, member) for engine in spec.engines for at, member in enumerate(engine.members)]
    for name, at, member in members:
        for field, block in (("labels", member.labels), ("annotations", member.annotations)):
            if key := find_denied(acting(block), cluster.pod_metadata):
                where = f"spec.engines[{name}].members[{at}].template.metadata.{field}[{key}]"
                closed = f"{where}: InferenceCluster {cluster.name} does not open it to teams"
                remedy = "Remove it, or have the cluster's owner add its prefix to spec.stack.podMetadataPrefixes."
                return Obstacle(Reason.INVALID_ENGINE, sentences(closed, remedy))
    return None


def reach(spec: ReplicaSpec, cluster: Object | Gap, remotes: Iterable[Remote]) -> str | Obstacle:
    """Return the ClusterProviderConfig to compose the replica with, or the first obstacle that applies."""
    if problems := find_problems(spec):
        return Obstacle(Reason.INVALID_ENGINE, problems)
    config = _config(spec, cluster)
    elsewhere = sorted({remote.config for remote in remotes if remote.config not in ("", config)})
    if isinstance(config, Obstacle) or not elsewhere:
        return config
    moved = f"spec.clusterName is {spec.cluster}, the replica runs on {', '.join(elsewhere)} and cannot move"
    return Obstacle(Reason.DEPLOYING, sentences(moved, "Restore spec.clusterName, or create another ModelReplica."))
