"""Yielding: the order in which replicas that have not served yet get room, the same in every deployment's pass.

Serving replicas always have room. The others follow by age, and each has room iff it fits in all its pools beside those
before it. A replica that has grown and does not serve at its new size yet keeps the room of the size it served with,
and comes before those that never served for the rest.
"""

from dataclasses import replace

from modelplane.model.fleet import Cluster
from modelplane.model.placement import HeldEdit, Stamp
from modelplane.model.refusal import NoRoom
from modelplane.scheduling.pools import layout
from modelplane.scheduling.room import Shortage, grows, identity, yielding
from modelplane.scheduling.steps.decisions import Decisions
from modelplane.scheduling.steps.endings import give_up
from modelplane.scheduling.steps.pass_input import PassInput
from modelplane.scheduling.steps.roster import OwnReplica


def contested(given: PassInput) -> list[OwnReplica]:
    """Return the replicas that may have to yield; none while the deployment's spec is invalid."""
    if given.invalid:
        return []
    return [own for own in given.roster.counted if _unproven(given, own) and given.published(own)]


def _unproven(given: PassInput, own: OwnReplica) -> bool:
    """Tell whether a replica never served, or takes more than it last served with."""
    served = own.replica.served_engines
    if not own.replica.has_served or served is None or served == own.engines:
        return not own.replica.has_served
    cluster = given.published(own)
    return cluster is not None and grows(served, own.engines, layout(cluster))


def give_way(given: PassInput, so_far: Decisions) -> Decisions:
    """End the replicas that never served and do not fit, and revert growth that does not fit, in the common order."""
    asking = {identity(own.replica): own for own in contested(given)}
    reverted: dict[str, HeldEdit] = {}
    for name in sorted({own.replica.cluster for own in asking.values()}):
        cluster = given.cluster(name)
        for uid, (pool, short) in yielding(cluster, given.ledger).items() if isinstance(cluster, Cluster) else ():
            if uid in asking and (refusal := _give_way(given, asking[uid], pool, short)):
                reverted[uid] = HeldEdit(asking[uid].replica, refusal)
    return replace(so_far, held_edits={**so_far.held_edits, **reverted})


def _give_way(given: PassInput, own: OwnReplica, pool: str, short: Shortage) -> NoRoom | None:
    """End a replica that never served; return why the growth of another one is reverted."""
    served = own.replica.served_engines if own.replica.has_served else None
    if served is None:
        give_up(own)
        return None
    own.stamp, own.engines = Stamp.REVERT, served
    own.why = "it has no room at its new size, because other replicas grew at the same time"
    given.ledger.restamp(own.replica, served)
    return NoRoom(served[0].name, short.needs, short.free, pool=pool, profile=own.replica.profile)
