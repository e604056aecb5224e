"""Whether a replica serves: the one definition of what can be seen of it (docs/scheduling.md, "Serves now")."""

from enum import IntEnum

from modelplane.model.fleet import Cluster
from modelplane.model.observation import Gap, Malformed
from modelplane.model.replica import Replica


class Serving(IntEnum):
    """What can be seen of whether a replica serves. Where one of several has to go, the lowest value goes first.

    `NOT`: it has never served, or it is seen not to serve with the pods of its present spec. `NOW`: it is Ready with
    them, and its cluster answers. `UNSEEN`: it has served, and may still do: its cluster does not answer, or what it
    last reported is about an earlier spec that makes the same pods.
    """

    NOT = 0
    NOW = 1
    UNSEEN = 2


def was_ready(replica: Replica) -> bool:
    """Tell whether a replica last reported Ready for its present spec, whether or not its cluster answers."""
    return replica.ready and not replica.stale


def see_serving(replica: Replica, cluster: Cluster | Gap | Malformed | None) -> Serving:
    """Return what can be seen of whether a replica serves; nothing can where its cluster is not known."""
    if not replica.has_served:
        return Serving.NOT
    if not (isinstance(cluster, Cluster) and cluster.answers):
        return Serving.UNSEEN
    if not (replica.proven and replica.ready):
        return Serving.NOT
    return Serving.UNSEEN if replica.stale else Serving.NOW
