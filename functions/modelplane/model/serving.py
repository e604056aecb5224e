"""Whether a replica serves: the one definition of what can be seen of it (docs/scheduling.md, "Serves now")."""

from enum import IntEnum

from modelplane.model.fleet import Cluster
from modelplane.model.observation import Gap, Malformed
from modelplane.model.replica import Replica


class Serving(IntEnum):
    """What can be seen of whether a replica serves. Where one of several has to go, the lowest value goes first.

    `NOT`: it has never served, or was last seen not to serve. `PARTLY`: it serves with some of its copies, or with
    copies of an earlier spec until its pods are changed. `NOW`: it is complete: all copies of its present spec serve,
    and its cluster answers. `UNSEEN`: it was last seen to serve, with whichever pods, and may still do: its cluster
    does not answer or is another one, or what it last reported is about an earlier spec that makes the same pods.
    """

    NOT = 0
    PARTLY = 1
    NOW = 2
    UNSEEN = 3


def was_ready(replica: Replica) -> bool:
    """Tell whether a replica last reported Ready for its present spec, whether or not its cluster answers."""
    return replica.ready and not replica.stale


def see_serving(replica: Replica, cluster: Cluster | Gap | Malformed | None) -> Serving:
    """Return what can be seen of whether a replica serves; nothing can where its cluster is not known."""
    if not (replica.has_served and replica.ready):
        return Serving.NOT
    if not (isinstance(cluster, Cluster) and cluster.answers) or cluster.foreign:
        return Serving.UNSEEN
    if not replica.proven or not (replica.stale or replica.complete):
        return Serving.PARTLY
    return Serving.UNSEEN if replica.stale else Serving.NOW


def serves_through(before: str, after: str) -> bool:
    """Tell whether a replica goes on to serve while its pods are changed one copy after the other.

    `before` and `after` are the interfaces of its engines: both have several copies of each, which are reached alike.
    """
    return bool(before) and before == after


def is_broken(replica: Replica) -> bool:
    """Tell whether a replica has crashed, by its last report for its present spec: only another spec may help."""
    return replica.crashed and not replica.ready and not replica.stale


def stands_in(replica: Replica, copies: int) -> bool:
    """Tell whether one of `copies` copies may end for a replica, which has been complete, or has as many that serve."""
    return replica.proven and (replica.was_complete or (was_ready(replica) and replica.copies >= copies))
