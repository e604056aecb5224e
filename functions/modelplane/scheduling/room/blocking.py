"""How many nodes the groups of a pool can block for a pod, and whether one more group strands one of them.

This is the exact arithmetic of docs/scheduling.md, "Room". Where groups are many, `room` rounds them first; it also
caches the answers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import lcm

from modelplane.scheduling.pools import Demand, Group, Groups, LackedUnits, size

#: What pods of a group may take of an entry: (least, most) of each demand, sorted.
_Spans = tuple[tuple[int, int], ...]
#: The weight unit of each entry, None for one that cannot block.
_Units = tuple[int | None, ...]
#: What one device of an entry weighs, for each entry that can block: (entry, weight).
_Factors = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Shortage:
    """A group that could be left without nodes: the nodes it needs, and the nodes that are free in any arrangement.

    `lacked` is set where CPU, memory or pod slots are short, and devices are not.
    """

    needs: int
    free: int
    lacked: LackedUnits | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Weights:
    """The weights of each group's pods, as (weight, pods), heaviest first; a weight of `scale` blocks a node alone."""

    scale: int
    factors: _Factors
    of: dict[Group, list[tuple[int, int]]]
    totals: dict[Group, int]
    total: int


class PoolGroups:
    """The groups of a pool, with intermediate results that one question leaves for the next."""

    def __init__(self, nodes: int, counts: tuple[int, ...], groups: Groups) -> None:
        self._nodes = nodes
        self._counts = counts
        self._groups = groups
        self._spans = {group: _spans(group, len(counts)) for group, _ in groups}
        self._sums: dict[tuple[int, _Spans], int] = {}
        self._weights: dict[_Units, _Weights] = {}
        #: Blocked nodes by the weights of the pods against a demand: many demands give the same weights.
        self._blocked: dict[_Weights, int] = {}
        #: The order in which groups are checked beside one more, by their positions: the one that was stranded last
        #: comes first.
        self._order = [*reversed(range(len(groups)))]
        #: What was asked of groups beside one more: its spans by number, and the weights of the pods against a demand
        #: of a group, by the position of the group, that of the demand, and the number of the spans.
        self._numbers: dict[tuple[_Spans, ...], int] = {}
        self._against: dict[tuple[int, int, int], _Weights] = {}
        #: How often a demand was compared with the groups, and how often the groups were weighed for one.
        self.compared = 0

    def shortage_of(self, group: Group) -> Shortage | None:
        """Return the shortage of one of the groups, None where it has its nodes."""
        needs = free = size(group)
        for demand, _ in group:
            weights = self.weights(demand, group)
            # The sum of all weights bounds the blocked nodes, and mostly decides already.
            if self._nodes - (weights.total - weights.totals[group]) // weights.scale < needs:
                free = min(free, self._nodes - self.blocked(weights, group))
        return Shortage(needs, free) if free < needs else None

    def blocked(self, weights: _Weights, own: Group) -> int:
        """Return how many nodes all groups except one group `own` could block with these weights."""
        others = ((weights.of[group], many - (group == own)) for group, many in self._groups)
        return min(self._nodes, _most_blocked(others, weights.scale))

    def blocked_for(self, demand: Demand) -> int:
        """Return how many nodes the groups could block for a pod of another group."""
        weights = self.weights(demand, ())
        found = self._blocked.get(weights)
        if found is None:
            self.compared += 1
            found = self._blocked[weights] = self.blocked(weights, ())
        return found

    def strands(self, added: Group) -> bool:
        """Tell whether `added` leaves one of the groups without room; all of them have room before."""
        spans = _spans(added, len(self._counts))
        number = self._numbers.setdefault(spans, len(self._numbers))
        stranded = next((at for at, group in enumerate(self._order) if self._loses(group, added, number, spans)), None)
        if stranded:
            self._order.insert(0, self._order.pop(stranded))
        return stranded is not None

    def _loses(self, position: int, added: Group, number: int, spans: tuple[_Spans, ...]) -> bool:
        group, _ = self._groups[position]
        needs = size(group)
        for at, (demand, _) in enumerate(group):
            self.compared += 1
            weights = self._against.get((position, at, number))
            if weights is None:
                weights = self._against[position, at, number] = self._weights_beside(demand, group, spans)
            pods = _weigh(added, weights.factors, weights.scale)
            total = weights.total - weights.totals[group] + sum([weight * many for weight, many in pods])
            if self._nodes - total // weights.scale < needs:
                others = [(weights.of[each], many - (each == group)) for each, many in self._groups]
                if self._nodes - _most_blocked([*others, (pods, 1)], weights.scale) < needs:
                    return True
        return False

    def weights(self, demand: Demand, own: Group) -> _Weights:
        """Return the weights of pods against a pod of this demand, which belongs to the group `own`."""
        spans = self._spans.get(own, ((),) * len(self._counts))
        units = tuple(
            [
                self._least_blocking(entry, most, spans[entry]) if most else None
                for entry, (_, most) in enumerate(demand)
            ]
        )
        return self._weights_of(units)

    def _weights_beside(self, demand: Demand, own: Group, added: tuple[_Spans, ...]) -> _Weights:
        """Return the weights of pods against a pod of `own` beside one more group, with these spans."""
        spans = self._spans[own]
        units = [
            self._least_beside(entry, most, spans[entry], added[entry]) if most else None
            for entry, (_, most) in enumerate(demand)
        ]
        return self._weights_of(tuple(units))

    def _weights_of(self, units: _Units) -> _Weights:
        found = self._weights.get(units)
        if found is None:
            self.compared += 1
            scale = lcm(*[unit for unit in units if unit])
            factors = tuple([(entry, scale // unit) for entry, unit in enumerate(units) if unit])
            of = {group: _weigh(group, factors, scale) for group, _ in self._groups}
            totals = {group: sum([weight * pods for weight, pods in each]) for group, each in of.items()}
            total = sum([totals[group] * many for group, many in self._groups])
            found = self._weights[units] = _Weights(scale, factors, of, totals, total)
        return found

    def _least_blocking(self, entry: int, demand: int, own: _Spans) -> int | None:
        """Return the least sum, at most one pod of each other group, that leaves too few of an entry; None for none."""
        return _least(self._sums_beside(entry, own), self._counts[entry], demand)

    def _least_beside(self, entry: int, demand: int, own: _Spans, added: _Spans) -> int | None:
        """Return the least such sum when the others include one more group, with these spans."""
        sums = _more(self._sums_beside(entry, own), added) & ((2 << self._counts[entry]) - 1)
        return _least(sums, self._counts[entry], demand)

    def _sums_beside(self, entry: int, own: _Spans) -> int:
        sums = self._sums.get((entry, own))
        if sums is None:
            sums = self._sums[entry, own] = self._sums_without(entry, own)
        return sums

    def _sums_without(self, entry: int, own: _Spans) -> int:
        """Return, as bits, the sums of an entry that pods can take on a node, without one group of the spans `own`."""
        alike: dict[_Spans, int] = {}
        for group, many in self._groups:
            spans = self._spans[group][entry]
            alike[spans] = alike.get(spans, 0) + many
        alike[own] = alike.get(own, 0) - 1
        sums, within = 1, (2 << self._counts[entry]) - 1
        for spans, many in alike.items():
            for _ in range(many if spans else 0):
                grown = _more(sums, spans) & within
                if grown == sums:
                    break
                sums = grown
        return sums


def _spans(group: Group, entries: int) -> tuple[_Spans, ...]:
    return tuple(
        [tuple(sorted({demand[entry] for demand, _ in group if demand[entry][1]})) for entry in range(entries)]
    )


def _least(sums: int, count: int, demand: int) -> int | None:
    """Return the least of some sums of an entry that leaves fewer of its devices than a demand."""
    enough = max(1, count - demand + 1)
    blocking = sums >> enough
    return enough + (blocking & -blocking).bit_length() - 1 if blocking else None


def _more(sums: int, spans: _Spans) -> int:
    """Return the sums, and each sum with what one more pod can take."""
    grown = sums
    for least, most in spans:
        grown |= _spread(sums, max(least, 1), most)
    return grown


def _spread(sums: int, least: int, most: int) -> int:
    """Return the sums with every number from `least` to `most` added to each."""
    found, width = sums << least, 1
    while width <= most - least:
        step = min(width, most - least + 1 - width)
        found |= found << step
        width += step
    return found


def _weigh(group: Group, factors: _Factors, scale: int) -> list[tuple[int, int]]:
    """Return (weight, pods) of a group, heaviest first."""
    weighed = []
    for demand, pods in group:
        weight = 0
        for entry, factor in factors:  # not max() of a comprehension, which takes twice as long
            weight = max(weight, demand[entry][1] * factor)
        weighed.append((min(weight, scale), pods))
    return sorted(weighed, reverse=True) if len(weighed) > 1 else weighed


def _most_blocked(weighed: Iterable[tuple[list[tuple[int, int]], int]], scale: int) -> int:
    """Return the largest b for which the b heaviest weights of each group add up to b nodes or more.

    The sum over b is concave, so its surplus over b nodes rises and then falls for good: walk its straight pieces.
    """
    bends: dict[int, int] = {0: 0}
    for weights, many in weighed:
        at = 0
        for weight, pods in weights:
            bends[at] = bends.get(at, 0) + weight * many
            at += pods
            bends[at] = bends.get(at, 0) - weight * many
    surplus = slope = at = 0
    for place in sorted(bends):
        loss = scale - slope
        if loss > 0 and surplus < loss * (place - at):
            return at + surplus // loss
        surplus -= loss * (place - at)
        slope += bends[place]
        at = place
    return at + surplus // scale
