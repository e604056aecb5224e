"""The one order in which replicas get room on a cluster: those that have served, then the others by age."""

from collections.abc import Mapping
from typing import Final

from modelplane.lru import Identity, Lru, weigh
from modelplane.model.fleet import Cluster
from modelplane.model.replica import Replica
from modelplane.scheduling.pools import ENDLESS, Charge, Layout, PodSlots, join, layout
from modelplane.scheduling.room.blocking import Shortage
from modelplane.scheduling.room.growth import grows
from modelplane.scheduling.room.ledger import Engines, Ledger, charge_of, charges, identity
from modelplane.scheduling.room.room import shortage


def seniority(replica: Replica) -> tuple[str, str, str]:
    """Return the key that sorts replicas by age: creation time, then the owner's uid, then uid."""
    return replica.created, replica.owner, identity(replica)


#: Whether clusters have room for what runs there, by their content; at most 4 MiB.
_ROOMY: Final = Lru[bool](4 * 1024 * 1024)


def _proven(replica: Replica, engines: Engines, where: Layout) -> Engines | None:
    """Return the engines with which a replica has served, None if it never did: it has room for them in any case."""
    if not replica.has_served:
        return None
    served = replica.served_engines
    if served is None or served == engines or not grows(served, engines, where):
        return engines
    return served


def _exchange(charge: Charge, before: Engines | None, after: Engines, where: Layout) -> Charge:
    pools = list(charge)
    for position, group in charges(before or (), where):
        pools[position] = join(pools[position], group, -1)
    for position, group in charges(after, where):
        pools[position] = join(pools[position], group)
    return tuple(pools)


def _short(
    charge: Charge, engines: Engines, where: Layout, slots: PodSlots | None = None
) -> tuple[str, Shortage] | None:
    """Return the first of the engines' pools that is short, with the shortage. `slots` replace those of the pools."""
    for position in sorted({position for position, _ in charges(engines, where)}):
        pool = where.pools[position]
        short = shortage(pool.nodes, pool.hardware.capacity, charge[position], slots or pool.slots)
        if short:
            return pool.name, short
    return None


def has_room(where: Layout, engines: tuple[Engines, ...]) -> bool:
    """Tell whether no pool of a cluster is short with these engines on it; cached across passes."""

    def make() -> tuple[bool, int]:
        charge = charge_of(engines, where)
        pools = zip(where.pools, charge, strict=True)
        short = (shortage(pool.nodes, pool.hardware.capacity, there, pool.slots) for pool, there in pools)
        return not any(short), weigh(engines)

    return _ROOMY.get((where, *map(Identity, engines)), make)


def crowded_out(cluster: Cluster, ledger: Ledger) -> Mapping[str, tuple[str, Shortage]]:
    """Return the replicas of a cluster (by identity) that do not fit beside those before them in the order.

    Each comes with the pool that is short: the pool was made smaller than what runs there. Replicas that have served
    come first in the order. Pod slots are not checked: the pods that run show more than what the pool declares.
    """
    where = layout(cluster)
    if has_room(where, ledger.all_engines(cluster.name)):
        return {}
    charge = charge_of((), where)
    found: dict[str, tuple[str, Shortage]] = {}
    for replica in sorted(ledger.residents(cluster.name), key=lambda each: (not each.has_served, seniority(each))):
        after = _exchange(charge, None, ledger.engines(replica), where)
        if short := _short(after, ledger.engines(replica), where, ENDLESS):
            found[identity(replica)] = short
        else:
            charge = after
    return found


def yielding(cluster: Cluster, ledger: Ledger) -> Mapping[str, tuple[str, Shortage]]:
    """Return the replicas of a cluster (by identity) that have no room at all, or not for their growth.

    Each comes with the pool that is short, and the shortage.
    """
    where = layout(cluster)
    present = [(replica, ledger.engines(replica)) for replica in ledger.residents(cluster.name)]
    proven = {identity(replica): _proven(replica, engines, where) for replica, engines in present}
    charge = charge_of((engines for engines in proven.values() if engines is not None), where)
    asking = [(replica, engines) for replica, engines in present if proven[identity(replica)] != engines]
    refused: dict[str, tuple[str, Shortage]] = {}
    for replica, engines in sorted(asking, key=lambda each: (not each[0].has_served, seniority(each[0]))):
        after = _exchange(charge, proven[identity(replica)], engines, where)
        short = _short(after, engines, where)
        if short:
            refused[identity(replica)] = short
        else:
            charge = after
    return refused
