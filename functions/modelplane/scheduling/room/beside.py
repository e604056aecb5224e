"""The room that the groups of a pool leave for one more group, checked for one option after another.

The options of an engine are combinations of few demands, so what the check of one option finds about its pod sets is
reused for the others. Room only shrinks as groups are added: what had none has none beside more groups either.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from modelplane.scheduling.matching import EngineOption, PodSet
from modelplane.scheduling.pools import Group, Groups, PodSlots, count_deviceless, join, size, with_nodes
from modelplane.scheduling.room.blocking import PoolGroups
from modelplane.scheduling.room.room import room_states
from modelplane.scheduling.room.rounding import are_few, rounded
from modelplane.scheduling.search_budget import Meter

#: Up to so many options are checked whole: checking their pod sets first would save little.
_FEW = 4
#: Options that count as one state when earlier checks already show that they have no room.
_GLANCES = 16
#: Demands of groups that are weighed against a pod in the time of one state.
_WEIGHED = 4


@dataclass(frozen=True, slots=True)
class PoolView:
    """A pool's nodes, and what each has and runs. `holds` checks room for groups, and counts the work it takes."""

    nodes: int
    counts: tuple[int, ...]
    slots: PodSlots
    meter: Meter
    holds: Callable[[Groups], bool]


class Beside:
    """The groups on a pool, and what is known about pod sets of one more group.

    `free` is an upper bound, by pod set, of the nodes left for its pods: 0 where other groups would then lack some.
    """

    def __init__(self, pool: PoolView, groups: Groups, free: Mapping[PodSet, int] | None = None) -> None:
        self._pool = pool
        self._groups = groups
        self._pods = sum([size(group) * many for group, many in groups])
        self._deviceless = count_deviceless(groups)
        self._free = dict(free or {})
        self._asked: set[PodSet] = set()
        self._others: PoolGroups | None = None
        self._demands = sum([len(group) for group, _ in groups])

    def with_more(self, groups: Groups) -> "Beside":
        """Return the room beside `groups`: the present ones and some more."""
        return Beside(self._pool, groups, self._free)

    def first(self, options: Sequence[EngineOption], start: int = 0) -> int | None:
        """Return the position of the first option from `start` on that has room. Raises OutOfStatesError."""
        if len(options) <= _FEW:
            holds = (self._pool.holds(join(self._groups, option.group)) for option in options[start:])
            return next((at for at, has_room in enumerate(holds, start) if has_room), None)
        free, nodes, unused = self._free, self._pool.nodes, self._pool.nodes - self._pods
        for at in range(start, len(options)):
            if not (at - start) % _GLANCES:
                self._pool.meter.spend()
            option = options[at]
            if option.size <= unused and not self._fills(option):
                return at
            for pods in option.pod_sets:
                if free.get(pods, nodes) < option.size:
                    break
            else:
                if self._has_room(option):
                    return at
        return None

    def _has_room(self, option: EngineOption) -> bool:
        for pods in option.pod_sets:
            if pods not in self._asked:
                self._asked.add(pods)
                self._free[pods] = self._free_for(pods, alone=len(option.pod_sets) == 1)
            if self._free[pods] < option.size:
                return False
        if self._is_exact(option.group) and not self._fills(option):
            return not self._strands(with_nodes(option.group))
        return self._pool.holds(join(self._groups, option.group))

    def _free_for(self, pods: PodSet, *, alone: bool) -> int:
        """Return an upper bound of the nodes left for a pod set; `alone`: the option has no other."""
        if not self._pool.holds(self._groups):
            return 0
        there = self._there()
        before = there.compared
        free = self._pool.nodes - there.blocked_for(pods.demand)
        self._pool.meter.spend(1 + (there.compared - before) * (1 + self._demands // _WEIGHED))
        group = ((pods.demand, pods.pods),)
        # A rounded pod set may lack room although the whole option has it; an exact one never does.
        lacks = free < pods.pods or (not alone and self._is_exact(group) and self._strands(group))
        return 0 if lacks else free

    def _fills(self, option: EngineOption) -> bool:
        """Tell whether the option makes pods fill nodes by their number."""
        return self._pool.slots.most_full_of(self._deviceless + option.deviceless, self._pods + option.size) > 0

    def _strands(self, group: Group) -> bool:
        there = self._there()
        before = there.compared
        found = there.strands(group)
        self._pool.meter.spend(1 + (there.compared - before) * len(self._pool.counts))
        return found

    def _is_exact(self, group: Group) -> bool:
        """Tell whether the groups and this one are compared exactly, not rounded up to classes."""
        return are_few(len(self._groups) + 1, self._demands + len(group), len(self._pool.counts))

    def _there(self) -> PoolGroups:
        if self._others is None:
            nodes, counts = self._pool.nodes, self._pool.counts
            self._pool.meter.spend(room_states(nodes, counts, self._groups))
            self._others = PoolGroups(nodes, counts, rounded(nodes, counts, self._groups).groups)
        return self._others
