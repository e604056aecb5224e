"""Which engines the pools of a cluster can still host together, decided pool by pool.

Engines compete only on the same pool, so they can be placed iff they can be divided among the pools such that each pool
hosts its part. The largest sets of engines that each pool hosts beside its present groups are joined over all pools.
That removes orders and permutations from the search.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from modelplane.scheduling.matching import ClusterWays, EngineOption, PoolOption
from modelplane.scheduling.pools import Charge, Group, Groups, PoolSize, Sizes, join
from modelplane.scheduling.room.beside import Beside, PoolView
from modelplane.scheduling.room.room import measure_room
from modelplane.scheduling.search_budget import Meter

#: Engines as the bits of an integer.
_Set = int
#: Groups to join with one more, and sets of engines to look at, that count as a state.
_GROUPS, _SETS = 8, 4


def with_placed(charge: Charge, placed: PoolOption, times: int = 1) -> Charge:
    """Return the charge with `times` more engines placed in that way."""
    position, option = placed
    return (*charge[:position], join(charge[position], option.group, times), *charge[position + 1 :])


def _largest(sets: Iterable[_Set]) -> list[_Set]:
    """Return the sets that are not contained in another one."""
    largest: list[_Set] = []
    for each in sorted(set(sets), key=int.bit_count, reverse=True):
        if not any(each | other == other for other in largest):
            largest.append(each)
    return largest


def _members(engines: _Set) -> list[int]:
    return [at for at in range(engines.bit_length()) if engines >> at & 1]


class _Room:
    """Which groups the pools of one cluster have room for; results are kept for one search.

    It refers to nothing that refers to it, so that what a search has kept is freed as soon as it ends. A cycle would
    wait for a collection of all objects.
    """

    def __init__(self, pools: Sequence[PoolSize], kinds: Sequence[int], meter: Meter) -> None:
        self._pools = pools
        self._kinds = kinds
        self._meter = meter
        self._found: dict[tuple[int, Groups], bool] = {}

    def fits(self, position: int, groups: Groups) -> bool:
        """Tell whether a pool has room for these groups. Raises OutOfStatesError."""
        key = self._kinds[position], groups
        found = self._found.get(key)
        if found is None:
            nodes, counts, slots = self._pools[position]
            found, states = measure_room(nodes, counts, groups, slots) if nodes > 0 else (False, 1)
            self._found[key] = found
            self._meter.spend(states)
        return found


class Hosting:
    """What the pools of one cluster can host; results are kept for one search."""

    def __init__(self, ways: ClusterWays, sizes: Sizes, meter: Meter) -> None:
        self._pools = sizes.pools
        self._meter = meter
        self._options: list[dict[int, tuple[EngineOption, ...]]] = [dict(by_pool) for by_pool in ways.by_pool]
        #: Pools of one size that have the same options host the same.
        alike = [(size, [each.get(at) for each in self._options]) for at, size in enumerate(sizes.pools)]
        self._kinds = [alike.index(kind) for kind in alike]
        self._room = _Room(self._pools, self._kinds, meter)
        self._beside: dict[tuple[int, Groups], Beside] = {}
        self._hosted: dict[tuple[int, Groups, _Set], bool] = {}

    def fits(self, position: int, groups: Groups) -> bool:
        """Tell whether a pool has room for these groups. Raises OutOfStatesError."""
        return self._room.fits(position, groups)

    def beside(self, position: int, groups: Groups) -> Beside:
        """Return the room that groups on a pool leave."""
        key = self._kinds[position], groups
        found = self._beside.get(key)
        if found is None:
            pool = PoolView(*self._pools[position], self._meter, partial(self._room.fits, position))
            found = self._beside[key] = Beside(pool, groups)
        return found

    def with_more(self, position: int, groups: Groups, group: Group, times: int = 1) -> Groups:
        """Return the groups on a pool with `times` more of `group`, and carry over what is known to have no room."""
        self._meter.spend(2 + len(groups) // _GROUPS)
        after = join(groups, group, times)
        key = self._kinds[position], after
        if key not in self._beside:
            self._beside[key] = self.beside(position, groups).with_more(after)
        return after

    def place(self, charge: Charge, placed: PoolOption, times: int = 1) -> Charge:
        """Return the charge with `times` more engines placed in that way."""
        position, option = placed
        after = self.with_more(position, charge[position], option.group, times)
        return (*charge[:position], after, *charge[position + 1 :])

    def fitting(self, at: int, charge: Charge) -> Iterator[PoolOption]:
        """Yield the options for an engine that have room beside the charge, in order. Raises OutOfStatesError."""
        for position, options in self._options[at].items():
            yield from (PoolOption(position, option) for option in self._on(position, charge[position], options))

    def _on(self, position: int, groups: Groups, options: Sequence[EngineOption]) -> Iterator[EngineOption]:
        beside = self.beside(position, groups)
        found = beside.first(options)
        while found is not None:
            yield options[found]
            found = beside.first(options, found + 1)

    def can_follow(self, at: int, charge: Charge) -> bool:
        """Tell whether the engines from `at` on can be placed beside the charge. Raises OutOfStatesError."""
        wanted = (1 << len(self._options)) - (1 << at)
        reached: list[_Set] = [0]
        *larger, smallest = sorted(range(len(charge)), key=lambda position: -self._pools[position][0]) or [0]
        for position in larger:
            if wanted in reached:
                return True
            hosted = self._most_hosted(position, charge[position], wanted)
            self._meter.spend(len(hosted) * len(reached))
            reached = _largest(some | more for more in hosted for some in reached)
        # The smallest pool, which takes least, only has to host what is left.
        return any(self._hosts(smallest, charge[smallest], wanted & ~some) for some in reached)

    def _most_hosted(self, position: int, groups: Groups, wanted: _Set) -> list[_Set]:
        """Return the largest sets of wanted engines that a pool hosts beside its groups.

        Sets grow from single engines, and only if every part of a set is hosted: it is mostly a pair that does not fit
        together. The whole set is tried first, because mostly there is room.
        """
        if self._takes_all(position, groups, wanted):
            return [wanted]
        hosted: set[_Set] = {0}
        layer = {1 << at for at in _members(wanted) if self._hosts(position, groups, 1 << at)}
        single = sorted(layer)
        while layer:
            hosted |= layer
            grown = {each | one for each in layer for one in single if one > each}
            self._meter.spend(1 + len(grown) // _SETS)
            layer = {
                each
                for each in grown
                if all(each & ~(1 << at) in hosted for at in _members(each)) and self._hosts(position, groups, each)
            }
        self._meter.spend(len(hosted))
        return _largest(hosted)

    def _takes_all(self, position: int, groups: Groups, engines: _Set) -> bool:
        """Tell whether the pool hosts all of these engines, each in the first option that fits beside those before."""
        for at in _members(engines):
            found = next(self._on(position, groups, self._options[at].get(position, ())), None)
            if found is None:
                return False
            groups = self.with_more(position, groups, found.group)
        return True

    def _hosts(self, position: int, groups: Groups, engines: _Set) -> bool:
        """Tell whether the pool hosts all of these engines, each in any of its options, beside its groups."""
        if not engines:
            return True
        key = self._kinds[position], groups, engines
        found = self._hosted.get(key)
        self._meter.spend()
        if found is None:
            first, rest = (engines & -engines).bit_length() - 1, engines & (engines - 1)
            found = self._hosted[key] = any(
                self._hosts(position, self.with_more(position, groups, option.group), rest)
                for option in self._on(position, groups, self._options[first].get(position, ()))
            )
        return found
