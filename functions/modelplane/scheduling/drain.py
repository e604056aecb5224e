"""Keeps what has served until its pods have finished what they have taken (docs/scheduling.md, "How one goes").

The decision is that a replica goes; here it becomes one that ends. It takes its room and its index until its last pod
is gone, counts for nothing else, and is never taken back.
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
    """Tell whether a replica that goes has served on a cluster that answers, so that its pods may have requests."""
    cluster = _cluster(replica, view)
    answers = not isinstance(cluster, Cluster) or (cluster.answers and not cluster.orphaned)
    return replica.serves and answers and cluster is not Gap.ABSENT


def _is_over(replica: Replica, view: FleetView) -> bool:
    """Tell whether a replica that ends may go: its last pod is gone, or its cluster is and nothing is known of it."""
    cluster = _cluster(replica, view)
    return replica.ended or cluster is Gap.ABSENT or (isinstance(cluster, Cluster) and cluster.orphaned)


def _ending(view: FleetView, schedule: Schedule) -> Iterator[Replica]:
    for replica in view.own:
        if replica.ending and not replica.deleting and not _is_over(replica, view):
            yield replica
    for end in schedule.ending:
        # A duplicate shares its endpoint with the one that stays.
        if _has_pods(end.replica, view) and end.cause is not EndCause.DUPLICATE:
            yield end.replica


def drain(schedule: Schedule, view: FleetView) -> Schedule:
    """Return the outcome of a pass with the replicas that end; those that never served go at once."""
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
