"""What a replica's present pools can host of the engines that its deployment asks for."""

from collections.abc import Mapping
from dataclasses import dataclass

from modelplane.lru import Identity
from modelplane.model.fleet import Cluster
from modelplane.model.refusal import SearchBound
from modelplane.model.replica import StampedEngine
from modelplane.scheduling.matching import ClusterOptions, ClusterWays, Options, OptionsByPool, stamp
from modelplane.scheduling.pools import Layout, layout
from modelplane.scheduling.room import Engines, can_claim, grows
from modelplane.scheduling.steps.roster import OwnReplica
from modelplane.scheduling.words import word


@dataclass(frozen=True, slots=True)
class InPlace:
    """The deployment's engines on a replica's own pools.

    `engines`: the engines there that change the replica least; None when its pools are gone or do not match, for the
    reason `why`. `growing`: they take more than the replica has, so that room must be checked. `options`: all options.
    `undecided`: the search hit its bound, and no replica is moved for that. `profile`: the profile of the engines.
    """

    engines: Engines | None
    options: ClusterOptions | None = None
    growing: bool = False
    undecided: bool = False
    why: str = ""
    profile: str = ""


def still_hosts(where: Layout, engines: Engines) -> bool:
    """Tell whether the pools of a cluster still match the stamped engines, so that only the deployment has changed."""
    carried = {pool.name: pool.hardware for pool in where.pools}
    members = [member for engine in engines for member in engine.members]
    return all(
        member.pool in carried and all(can_claim(claim, carried[member.pool]) for claim in member.claims)
        for member in members
    )


def _no_longer(at: int, pools: set[str], where: Layout, options: ClusterOptions) -> str:
    """Return why none of a replica's pools can host an engine."""
    refused = sorted(where.positions[name] for name in pools if where.positions[name] in options.refusals[at])
    engine, whys = options.engines[at].name, [options.explained(at, position) for position in refused[:1]]
    return f"pool {', '.join(sorted(pools))} no longer matches engine {engine}" + "".join(
        f": {word(why)}" for why in whys
    )


class OwnPools:
    """The own pools of a deployment's replicas in one pass; replicas that are alike share results."""

    def __init__(self, options: Mapping[str, Options]) -> None:
        self._options = options
        self._in_place: dict[tuple[str, Identity, Layout], InPlace] = {}

    def resolve(self, own: OwnReplica, cluster: Cluster) -> InPlace:
        """Return the deployment's engines on the replica's own pools."""
        where = layout(cluster)
        if own.profile:
            return self._find(own.profile.name, own.replica.engines, where)
        return self._find_any(own.replica.engines, where)

    def _find_any(self, engines: Engines, where: Layout) -> InPlace:
        """Return the engines of the first profile that the pools host, for a replica whose own profile is gone."""
        tried = [self._find(profile, engines, where) for profile in self._options]
        return next((each for each in tried if each.engines is not None), tried[0])

    def _find(self, profile: str, engines: Engines, where: Layout) -> InPlace:
        key = profile, Identity(engines), where
        found = self._in_place.get(key)
        if found is None:
            found = self._in_place[key] = self._resolve(profile, engines, where)
        return found

    def _resolve(self, profile: str, engines: Engines, where: Layout) -> InPlace:
        pools = {member.pool for engine in engines for member in engine.members}
        gone = sorted(pools - where.positions.keys())
        if gone:
            return InPlace(None, why=f"pool {gone[0]} no longer exists")
        before = {engine.name: engine for engine in engines}
        options = self._options[profile]
        everywhere = options.on(where.shape)
        here: list[OptionsByPool] = []
        for at, engine in enumerate(everywhere.engines):
            by_pool = self._here(options, at, before.get(engine.name), pools, where)
            undecided = any(isinstance(refusal, SearchBound) for refusal in everywhere.refusals[at].values())
            if isinstance(by_pool, SearchBound) or (undecided and not by_pool):
                return InPlace(None, undecided=True)
            if not by_pool:
                return InPlace(None, why=_no_longer(at, pools, where, everywhere))
            here.append(by_pool)
        if options.budget.postponed:
            return InPlace(None, undecided=True)
        found = ClusterOptions(
            profile, everywhere.engines, ClusterWays(tuple(here)), ({},) * len(here), everywhere.explained
        )
        nearest = stamp(found.engines, [next(found.ways.of(at)) for at in range(len(here))], where)
        if nearest == engines:
            return InPlace(engines, found, profile=profile)  # the same object, which makes later comparisons fast
        return InPlace(nearest, found, grows(engines, nearest, where), profile=profile)

    def _here(
        self, options: Options, at: int, before: StampedEngine | None, pools: set[str], where: Layout
    ) -> OptionsByPool | SearchBound:
        """Return the options for an engine on the replica's own pools, the smallest change first.

        First comes what it claims now, even where a member claims nothing although it could on another pool: that moves
        no replica, and no edit may cause it. Then come the other options on its pool, then other pools.
        """
        by_pool = {
            position: of_pool
            for position, of_pool in options.on(where.shape).ways.by_pool[at]
            if where.pools[position].name in pools
        }
        if before is None:
            return tuple(by_pool.items())
        same, hardware = where.positions[before.pool], where.pools[where.positions[before.pool]].hardware
        on_it = by_pool.pop(same, ())
        if len(before.members) == len(options.engines[at].members):
            classes = tuple(tuple(claim.device_class for claim in member.claims) for member in before.members)
            unchanged = options.match_classes(at, hardware, classes)
            if isinstance(unchanged.refusal, SearchBound):
                return unchanged.refusal
            on_it = unchanged.options + on_it
        return ((same, on_it), *by_pool.items()) if on_it else tuple(by_pool.items())
