"""The conditions under which a hand-written ModelReplica composes anything before it has served."""

from collections.abc import Iterator

from modelplane.compose_replica.obstacle import Obstacle
from modelplane.composing import requirements as require
from modelplane.composing.messages import sentences
from modelplane.model.conditions import Reason
from modelplane.model.fleet import Cluster
from modelplane.model.observation import Gap
from modelplane.model.replica import Replica
from modelplane.observed.cluster import read_cluster
from modelplane.observed.replica import read_replica
from modelplane.scheduling.room import find_closed, find_misfit, find_no_room, has_to_fit
from modelplane.scheduling.words import remedy_of, word, word_holders
from modelplane.step import Object, Request, Requirement


def _read(request: Request) -> tuple[Replica, Cluster] | None:
    """Return a hand-written replica that never served, with its cluster; None if these conditions do not apply."""
    replica = read_replica(request.composite)
    found = request.one(require.cluster(replica.cluster)) if has_to_fit(replica) and replica.cluster else None
    return (replica, read_cluster(found)) if isinstance(found, Object) else None


def needs(request: Request) -> Iterator[Requirement]:
    """Yield the requirements for deciding whether a replica may run on its pools."""
    found = _read(request)
    if found is None:
        return
    replica, cluster = found
    if cluster.allowed is not None:
        yield require.namespace(replica.namespace)
    if cluster.pools is not None:
        yield require.residents(cluster.name)


def find_refusal(request: Request) -> Obstacle | None:
    """Return why a replica may not run on its pools, None if it may or no reason is known yet.

    A cluster that does not accept its namespace, or is tainted, takes nothing new and keeps what it has.
    """
    found = _read(request)
    if found is None:
        return None
    replica, cluster = found
    if not request.observed and (obstacle := _find_closed(request, replica, cluster)):
        return obstacle
    if misfit := find_misfit(replica, cluster):
        remedy = "Correct spec.engines, or create a ModelDeployment, which is placed where it fits."
        return Obstacle(Reason.INVALID_ENGINE, sentences(misfit, remedy), ends=True)
    return _find_no_room(request, replica, cluster) if cluster.pools is not None else None


def _find_closed(request: Request, replica: Replica, cluster: Cluster) -> Obstacle | None:
    labels = require.namespace_labels(request, replica.namespace)
    if cluster.allowed is not None and isinstance(labels, Gap):
        return Obstacle(Reason.WAITING_FOR_CLUSTER, f"Namespace {replica.namespace} is not fetched yet")
    refusal = find_closed(replica, cluster, {} if isinstance(labels, Gap) else labels)
    if refusal is None:
        return None
    closed = f"InferenceCluster {cluster.name} is {word(refusal)}"
    tainted = "A ModelReplica tolerates no taint: create a ModelDeployment with spec.tolerations."
    remedy = remedy_of([refusal.reason]) if refusal.reason == "NotAllowed" else tainted
    return Obstacle(Reason.WAITING_FOR_CLUSTER, sentences(closed, remedy))


def _find_no_room(request: Request, replica: Replica, cluster: Cluster) -> Obstacle | None:
    residents = request.all(require.residents(cluster.name))
    if isinstance(residents, Gap):
        waits = f"the ModelReplicas on cluster {cluster.name} are not fetched yet"
        return None if request.observed else Obstacle(Reason.WAITING_FOR_CLUSTER, waits)
    found = find_no_room(replica, cluster, map(read_replica, residents))
    if found is None:
        return None
    refusal, holders = found
    full = word(refusal, holding=word_holders(cluster.name, refusal.pool, holders))
    full = f"{refusal.reason} on cluster {cluster.name}: {full}"
    return Obstacle(Reason.WAITING_FOR_CLUSTER, sentences(full, remedy_of([refusal.reason])), ends=True)
