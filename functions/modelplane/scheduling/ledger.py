"""What the replicas of the fleet take of each pool, worked out for a cluster when it is read."""

from collections.abc import Container, Iterable

from modelplane.model.fleet import Cluster
from modelplane.model.placement import Holders
from modelplane.model.replica import Replica, StampedEngine
from modelplane.scheduling.charge import engine_group
from modelplane.scheduling.charged import read_stock
from modelplane.scheduling.groups import Group, Groups, Stock
from modelplane.scheduling.hardware import Layout, layout

Engines = tuple[StampedEngine, ...]


def identity(replica: Replica) -> str:
    """Return what tells a replica from every other, also where no uid is known."""
    return replica.uid or f"{replica.namespace}/{replica.name}"


def charges(engines: Engines, where: Layout) -> list[tuple[int, Group]]:
    """Return (position of a pool, group) of all that engines take; what is on a pool that does not exist is nothing."""
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


def stock_of(engines: Iterable[Engines], where: Layout) -> Stock:
    """Return the groups on each pool of the layout, of all these engines."""
    pools: list[dict[Group, int]] = [{} for _ in where.pools]
    for each in engines:
        for position, group in charges(each, where):
            pools[position][group] = pools[position].get(group, 0) + 1
    return tuple(tuple(sorted(pool.items())) if pool else () for pool in pools)


def holders_of(replicas: Iterable[tuple[Replica, Engines]], where: Layout, pool: str, namespace: str) -> Holders:
    """Return which of these replicas, each with the engines it is charged with, hold a pool.

    Those of `namespace` are named, the others counted: whoever reads it may not read of theirs.
    """
    position = where.positions.get(pool)
    there = [each for each, engines in replicas if any(at == position for at, _ in charges(engines, where))]
    named = sorted(each.name for each in there if each.namespace == namespace)
    return Holders(tuple(named), len(there) - len(named))


class Ledger:
    """The engines of every known replica by cluster; a pass changes its own deployment's as it decides.

    `exact` are the clusters of which every replica is known, None for all. The others are charged with what they
    publish, and with what is known where they publish nothing.
    """

    def __init__(self, replicas: Iterable[Replica], exact: Container[str] | None = None) -> None:
        self._exact = exact
        self._replicas: dict[str, dict[str, Replica]] = {}
        self._engines: dict[str, Engines] = {}
        self._placed: dict[str, list[Engines]] = {}
        self._stocks: dict[str, Stock] = {}
        self._untold: set[str] = set()
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
        self._stocks.pop(replica.cluster, None)

    def is_exact(self, cluster: str) -> bool:
        """Tell whether every replica of a cluster is known."""
        return self._exact is None or cluster in self._exact

    def is_told(self, cluster: Cluster) -> bool:
        """Tell whether what runs on a cluster is known, or published at least."""
        self.stock(cluster)
        return cluster.name not in self._untold

    def stock(self, cluster: Cluster) -> Stock:
        """Return the groups on each pool of a cluster."""
        known = self._stocks.get(cluster.name)
        if known is None:
            known = self._stocks[cluster.name] = self._find(cluster)
        return known

    def _find(self, cluster: Cluster) -> Stock:
        if not self.is_exact(cluster.name):
            published = read_stock(cluster)
            if published is not None:
                return published
            self._untold.add(cluster.name)
        taken = self.all_engines(cluster.name)
        return stock_of(taken, layout(cluster)) if taken else _empty(layout(cluster))

    def stock_without(self, cluster: Cluster, replica: Replica) -> Stock:
        """Return the groups on each pool of a cluster, but for those of one replica."""
        others = [self.engines(r) for r in self.residents(cluster.name) if identity(r) != identity(replica)]
        return stock_of([*others, *self._placed.get(cluster.name, ())], layout(cluster))

    def put(self, cluster: Cluster, engines: Engines, stock: Stock) -> None:
        """Charge a new replica that was placed on a cluster; `stock` is that of the cluster with it."""
        self._placed.setdefault(cluster.name, []).append(engines)
        self._stocks[cluster.name] = stock


def _empty(where: Layout) -> tuple[Groups, ...]:
    return ((),) * len(where.pools)
