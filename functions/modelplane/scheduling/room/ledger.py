"""What the replicas of the fleet take of each pool, computed for a cluster when it is first asked for.

`charges` is what engines take, `charge_of` the sum over engines. `compose_cluster.commitments` publishes that sum of
all replicas on a cluster; a pass that has not read these replicas takes what is published (`Ledger.charge`).
"""

from collections.abc import Container, Iterable

from modelplane.model.fleet import Cluster
from modelplane.model.placement import Holders
from modelplane.model.replica import Replica, StampedEngine
from modelplane.scheduling.pools import Charge, Group, Groups, Layout, layout
from modelplane.scheduling.room.charge import engine_group, read_charge

Engines = tuple[StampedEngine, ...]


def identity(replica: Replica) -> str:
    """Return what identifies a replica: its uid, or namespace and name where no uid is known."""
    return replica.uid or f"{replica.namespace}/{replica.name}"


def charges(engines: Engines, where: Layout) -> list[tuple[int, Group]]:
    """Return (position of a pool, group) for all that engines take; a pool that does not exist is charged nothing."""
    found = []
    for engine in engines:
        pools = {member.pool for member in engine.members}
        for pool in pools if len(pools) == 1 else sorted(pools):
            position = where.positions.get(pool)
            if position is not None:
                group = engine_group(engine, pool, where.pools[position].hardware)
                if group:
                    found.append((position, group))
    return found


def charge_of(engines: Iterable[Engines], where: Layout) -> Charge:
    """Return the groups on each pool of the layout, of all these engines."""
    pools: list[dict[Group, int]] = [{} for _ in where.pools]
    for each in engines:
        for position, group in charges(each, where):
            pools[position][group] = pools[position].get(group, 0) + 1
    return tuple(tuple(sorted(pool.items())) if pool else () for pool in pools)


def holders_of(replicas: Iterable[tuple[Replica, Engines]], where: Layout, pool: str, namespace: str) -> Holders:
    """Return which of these replicas, each with the engines it is charged with, hold a pool.

    Replicas of `namespace` are named, the others only counted: a team may not read the names of another team's.
    """
    position = where.positions.get(pool)
    there = [each for each, engines in replicas if any(at == position for at, _ in charges(engines, where))]
    named = sorted(each.name for each in there if each.namespace == namespace)
    return Holders(tuple(named), len(there) - len(named))


class Ledger:
    """The engines of every known replica by cluster; a pass changes its own deployment's as it decides.

    `exact` are the clusters whose replicas are all known, None for every cluster. Another cluster is charged with what
    it publishes, and with its known replicas where it publishes nothing.
    """

    def __init__(self, replicas: Iterable[Replica], exact: Container[str] | None = None) -> None:
        self._exact = exact
        self._replicas: dict[str, dict[str, Replica]] = {}
        self._engines: dict[str, Engines] = {}
        self._placed: dict[str, list[Engines]] = {}
        self._charges: dict[str, Charge] = {}
        #: Clusters whose replicas are neither all known nor published.
        self._unpublished: set[str] = set()
        for replica in replicas:
            self._replicas.setdefault(replica.cluster, {})[identity(replica)] = replica

    def residents(self, cluster: str) -> Iterable[Replica]:
        """Return the replicas of a cluster."""
        return self._replicas.get(cluster, {}).values()

    def engines(self, replica: Replica) -> Engines:
        """Return the engines that a replica is charged with."""
        return self._engines.get(identity(replica), replica.engines)

    def all_engines(self, cluster: str) -> tuple[Engines, ...]:
        """Return the engines that a cluster is charged with."""
        residents = [self.engines(replica) for replica in self.residents(cluster)]
        return (*residents, *self._placed.get(cluster, ()))

    def restamp(self, replica: Replica, engines: Engines) -> None:
        """Charge a replica with other engines from now on."""
        self._engines[identity(replica)] = engines
        self._charges.pop(replica.cluster, None)

    def is_exact(self, cluster: str) -> bool:
        """Tell whether every replica of a cluster is known."""
        return self._exact is None or cluster in self._exact

    def knows_charges(self, cluster: Cluster) -> bool:
        """Tell whether the replicas of a cluster are all known, or at least published by the cluster."""
        self.charge(cluster)
        return cluster.name not in self._unpublished

    def charge(self, cluster: Cluster) -> Charge:
        """Return the groups on each pool of a cluster."""
        known = self._charges.get(cluster.name)
        if known is None:
            known = self._charges[cluster.name] = self._find(cluster)
        return known

    def _find(self, cluster: Cluster) -> Charge:
        if not self.is_exact(cluster.name):
            published = read_charge(cluster)
            if published is not None:
                return published
            self._unpublished.add(cluster.name)
        taken = self.all_engines(cluster.name)
        return charge_of(taken, layout(cluster)) if taken else _empty(layout(cluster))

    def charge_without(self, cluster: Cluster, replica: Replica) -> Charge:
        """Return the groups on each pool of a cluster, without those of one replica."""
        others = [self.engines(r) for r in self.residents(cluster.name) if identity(r) != identity(replica)]
        return charge_of([*others, *self._placed.get(cluster.name, ())], layout(cluster))

    def put(self, cluster: Cluster, engines: Engines, charge: Charge) -> None:
        """Charge a cluster with a new replica; `charge` is the cluster's with that replica included."""
        self._placed.setdefault(cluster.name, []).append(engines)
        self._charges[cluster.name] = charge


def _empty(where: Layout) -> tuple[Groups, ...]:
    return ((),) * len(where.pools)
