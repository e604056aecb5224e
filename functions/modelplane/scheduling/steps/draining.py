"""Keeps a replica that has served until its pods have finished their requests (docs/scheduling.md, "How one goes").

The decision to end a replica is taken before; here the replica becomes an ending one. It keeps its room and its index
until its last pod is gone, counts for nothing else, and never becomes a normal replica again.
"""

from collections.abc import Iterator
from dataclasses import replace

from modelplane.model.fleet import Cluster
from modelplane.model.names import place_of_resource
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import EndCause, FleetView, Placement, Schedule, Stamp
from modelplane.model.replica import Replica


def _cluster(replica: Replica, view: FleetView) -> Cluster | Gap | Malformed | None:
    return view.clusters.get(replica.cluster)


def _has_pods(replica: Replica, view: FleetView) -> bool:
    """Tell whether a replica is not removed at once.

    Its pods may have requests: it has served, and its cluster answers. Or they could not be removed now, and would stay
    for ever: while the kubeconfig leads to another cluster a removed Object leaves behind what it represents.
    """
    cluster = _cluster(replica, view)
    if not isinstance(cluster, Cluster):
        return replica.has_served and cluster is not Gap.ABSENT
    return not cluster.orphaned and (cluster.foreign or (replica.has_served and cluster.answers))


def _is_over(replica: Replica, view: FleetView) -> bool:
    """Tell whether an ending replica may be removed: its last pod is gone, or its cluster is."""
    cluster = _cluster(replica, view)
    return replica.ended or cluster is Gap.ABSENT or (isinstance(cluster, Cluster) and cluster.orphaned)


def _ending(view: FleetView, schedule: Schedule) -> Iterator[Replica]:
    for replica in view.own:
        if replica.ending and not replica.deleting and not _is_over(replica, view):
            yield replica
    for end in schedule.ending:
        # A duplicate shares its endpoint with the replica that stays.
        if _has_pods(end.replica, view) and end.cause is not EndCause.DUPLICATE:
            yield end.replica


def drain(schedule: Schedule, view: FleetView) -> Schedule:
    """Return the schedule with its ending replicas; those that never served are removed at once."""
    ending = [
        Placement(
            replica.cluster,
            (place_of_resource(replica.resource) or (replica.cluster, replica.index or 0))[1],
            replica.engines,
            replica,
            Stamp.HOLD,
            leaving=True,
            profile=replica.profile,
            ending=True,
        )
        for replica in _ending(view, schedule)
    ]
    placements = sorted([*schedule.placements, *ending], key=lambda each: (each.cluster, each.index))
    return replace(schedule, placements=tuple(placements)) if ending else schedule
