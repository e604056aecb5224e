"""What stays as it is: judges a deployment's replicas by their clusters and pools.

Only an absent or vanishing cluster, an untolerated NoExecute taint, and pools that are gone or no longer match end a
replica's stay. What cannot be read is never a reason: the replica is held.
"""

from dataclasses import dataclass
from itertools import product

from modelplane.model.deployment import Deployment, Engine
from modelplane.model.fleet import Cluster, Effect
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import EndCause
from modelplane.model.refusal import SearchBound
from modelplane.model.replica import StampedEngine
from modelplane.scheduling.eligible import repelling
from modelplane.scheduling.growth import grows
from modelplane.scheduling.hardware import Layout, layout
from modelplane.scheduling.ledger import Engines
from modelplane.scheduling.match import match_member
from modelplane.scheduling.plan import Plan, Shape, Way, plan, stand
from modelplane.scheduling.roster import Own

Known = Cluster | Gap | Malformed | None


@dataclass(frozen=True, slots=True)
class Stay:
    """What a replica's own pools make of the deployment's engines.

    `engines`: the engines there that come nearest to what it has; None when its pools are gone or do not match, and
    then `why` says so. `growing`: they take more than it has, so that room must be checked. `plan`: all ways there.
    `undecided`: there are too many ways to look at, and nobody is moved for that.
    """

    engines: Engines | None
    plan: Plan
    growing: bool = False
    undecided: bool = False
    why: str = ""


def _change(way: Way, before: StampedEngine | None) -> int:
    """Return how much a way changes of the engine as it is: 0 nothing, 1 what it claims, 2 its pool."""
    if before is None or before.pool != way.engine.pool:
        return 2
    has, gets = ([[claim.device_class for claim in m.claims] for m in each.members] for each in (before, way.engine))
    return 0 if has == gets else 1


def _ways_here(engine: Engine, before: StampedEngine | None, pools: set[str], where: Layout) -> list[Way]:
    """Return every way the engine can stand on these pools, those first that change least.

    Where a member claims nothing although it could elsewhere, it stays so, for being stranded ends nobody's stay; but
    no edit makes it so.
    """
    open_ways = {way.engine for way in plan((engine,), where.shape).ways[0]}
    ways: list[Way] = []
    for site, (pool, _, hardware) in enumerate(where.shape):
        if pool in pools:
            found = [match_member(engine.name, member, hardware) for member in engine.members]
            options = [claims if isinstance(claims, tuple) else () for claims in found]
            ways.extend(stand(engine, pool, site, chosen, hardware) for chosen in product(*options))
    ways = [way for way in ways if way.group and (way.engine in open_ways or _change(way, before) == 0)]
    return sorted(ways, key=lambda way: _change(way, before))


class Judge:
    """Judges the replicas of one deployment in one pass; what it finds for one holds for all that are alike."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._stays: dict[tuple[Engines, Shape], Stay] = {}
        self._evictions: dict[str, str] = {}

    def judge(self, own: Own, cluster: Known) -> None:
        """Decide whether a replica stays, leaves or is held, as far as its cluster alone tells."""
        if isinstance(cluster, Cluster):
            self._judge_cluster(own, cluster)
        elif cluster is Gap.ABSENT:
            own.leave(EndCause.REPLACED, f"cluster {own.replica.cluster} does not exist")
        else:
            own.hold(f"cluster {own.replica.cluster} cannot be read")

    def _judge_cluster(self, own: Own, cluster: Cluster) -> None:
        if taint := repelling(self._deployment, cluster, Effect.NO_EXECUTE) if cluster.taints else None:
            own.leave(EndCause.EVICTED, f"cluster {cluster.name} is tainted {taint.key} NoExecute")
        elif cluster.deleting:
            own.leave(EndCause.REPLACED, f"cluster {cluster.name} is being deleted")
        elif cluster.pools is None:
            own.hold(f"cluster {cluster.name} has not published its pools")
        elif not own.replica.engines:
            own.hold("its engines cannot be read")

    def stay(self, own: Own, cluster: Cluster) -> Stay:
        """Return what the replica's own pools make of the deployment's engines."""
        where = layout(cluster)
        key = own.replica.engines, where.shape
        found = self._stays.get(key)
        if found is None:
            found = self._stays[key] = self._resolve(own.replica.engines, where)
        return found

    def _resolve(self, engines: Engines, where: Layout) -> Stay:
        pools = {member.pool for engine in engines for member in engine.members}
        gone = sorted(pools - where.positions.keys())
        if gone:
            return Stay(None, Plan((), (), ()), why=f"pool {gone[0]} does not exist any more")
        wanted, before = self._deployment.engines, {engine.name: engine for engine in engines}
        ways = tuple(tuple(_ways_here(engine, before.get(engine.name), pools, where)) for engine in wanted)
        here = Plan(wanted, ways, ({},) * len(wanted))
        missing = [engine.name for engine, each in zip(wanted, ways, strict=True) if not each]
        if missing:
            failed = [refused for each in plan(wanted, where.shape).refusals for refused in each.values()]
            undecided = any(isinstance(refusal, SearchBound) for refusal in failed)
            why = f"pool {', '.join(sorted(pools))} does not match engine {missing[0]} any more"
            return Stay(None, here, undecided=undecided, why=why)
        nearest = tuple(each[0].engine for each in ways)
        return Stay(nearest, here, nearest != engines and grows(engines, nearest, where))
