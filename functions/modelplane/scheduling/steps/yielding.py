"""Yielding: the order in which replicas that have not served yet get room, the same in every deployment's pass.

Serving replicas always have room. The others follow by age, and each has room iff it fits in all its pools beside those
before it. A replica that has grown and does not serve at its new size yet keeps the room of the size it served with,
and comes before those that never served for the rest.
"""

from modelplane.model.fleet import Cluster
from modelplane.model.placement import HeldEdit, Needs, Stamp
from modelplane.model.refusal import NoRoom
from modelplane.scheduling.pools import layout
from modelplane.scheduling.room import Shortage, grows, identity, yielding
from modelplane.scheduling.steps.endings import give_up
from modelplane.scheduling.steps.roster import OwnReplica
from modelplane.scheduling.steps.work import Work


def contested(work: Work) -> list[OwnReplica]:
    """Return the replicas that may have to yield; none while the deployment's spec is invalid."""
    if work.invalid:
        return []
    return [own for own in work.roster.counted if _unproven(work, own) and work.published(own)]


def _unproven(work: Work, own: OwnReplica) -> bool:
    """Tell whether a replica never served, or takes more than it last served with."""
    served = own.replica.served_engines
    if not own.replica.has_served or served is None or served == own.engines:
        return not own.replica.has_served
    cluster = work.published(own)
    return cluster is not None and grows(served, own.engines, layout(cluster))


def give_way(work: Work) -> Needs | None:
    """End the replicas that never served and do not fit, and revert growth that does not fit, in the common order."""
    asking = {identity(own.replica): own for own in contested(work)}
    for name in sorted({own.replica.cluster for own in asking.values()}):
        cluster = work.cluster(name)
        if isinstance(cluster, Cluster):
            for uid, (pool, short) in yielding(cluster, work.ledger).items():
                if uid in asking:
                    _give_way(work, asking[uid], pool, short)
    return None


def _give_way(work: Work, own: OwnReplica, pool: str, short: Shortage) -> None:
    served = own.replica.served_engines if own.replica.has_served else None
    if served is None:
        give_up(own)
        return
    own.stamp, own.engines = Stamp.REVERT, served
    own.why = "it has no room at its new size, because other replicas grew at the same time"
    work.ledger.restamp(own.replica, served)
    work.held_edits[identity(own.replica)] = HeldEdit(
        own.replica, NoRoom(served[0].name, short.needs, short.free, pool=pool, profile=own.replica.profile)
    )
