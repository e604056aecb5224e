"""Which classes the requests of a pod can be claimed from, whatever the order of the entries.

An entry belongs to one class, so a choice of classes can be served iff each class can pack its requests into its
entries. The largest requests are assigned first, which soon shows what cannot be packed. Requests that are alike are
assigned in the order of the classes, because exchanging them changes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence

from modelplane.scheduling.matching.demands import Choice, Key, Node, RequestDemand, SearchGoal, Vectors
from modelplane.scheduling.search_budget import Meter

_Left = tuple[int, ...]
_Positions = tuple[int, ...]
#: A request's count, and the entries of a class that it may take it from.
_Item = tuple[int, frozenset[int]]


def complete(
    found: dict[int, Choice], node: Node, requests: Sequence[RequestDemand], goal: SearchGoal, meter: Meter
) -> None:
    """Add a choice to `found` for every other demand, in the order of their classes. Raises OutOfStatesError."""
    classes = {key: at for at, key in enumerate(dict.fromkeys(node.keys))}
    search = _Distribution(set(found), node, requests, goal, meter)
    search.run()
    found |= sorted(search.found.items(), key=lambda each: [classes[key] for key in each[1]])


class _Distribution:
    """One search over the classes of the requests, the largest request first."""

    def __init__(
        self, known: set[int], node: Node, requests: Sequence[RequestDemand], goal: SearchGoal, meter: Meter
    ) -> None:
        self.found: dict[int, Choice] = {}
        self._known = known
        self._goal = goal
        self._meter = meter
        self._vectors = Vectors(node, requests)
        #: The requests in the order in which they are assigned, and for each the first one that is alike.
        self._order = sorted(range(len(requests)), key=lambda at: (-requests[at].count, requests[at].entries, at))
        self._requests = [requests[at] for at in self._order]
        self._first = list(range(len(requests)))
        for at in range(1, len(requests) if goal.only is None else 0):
            if self._requests[at] == self._requests[at - 1]:
                self._first[at] = self._first[at - 1]
        self._steps = [self._vectors.steps(request) for request in self._requests]
        self._classes = {key: at for at, key in enumerate(dict.fromkeys(node.keys))}
        self._closed: set[tuple[int, int, Key]] = set()
        self._packing = _Packing(node, self._requests, meter)

    def run(self) -> None:
        """Find a choice for every demand that is not known. Raises OutOfStatesError."""
        self._give(0, self._vectors.start, (), dict.fromkeys(self._classes, ()))

    def _give(self, at: int, vector: int, choice: Choice, given: Mapping[Key, _Positions]) -> None:
        self._meter.spend()
        if len(self._known) == self._goal.most or not self._open(at, vector, choice[-1] if choice else None):
            return
        if at == len(self._requests):
            self._find(vector, choice)
            return
        for key, taken in self._next(at, vector, choice[-1] if choice else None):
            positions = (*given[key], self._first[at])
            if self._packing.fits(key, positions):
                self._give(at + 1, taken, (*choice, key), {**given, key: positions})

    def _next(self, at: int, vector: int, last: Key) -> Iterator[tuple[Key, int]]:
        """Yield the classes of a request; alike requests take classes in order, so none precedes its predecessor's."""
        least = self._classes[last] if self._first[at] < at else 0
        for key, step in self._steps[at].items():
            taken = self._vectors.add(vector, step)
            if taken is not None and self._classes[key] >= least:
                yield key, taken

    def _find(self, vector: int, choice: Choice) -> None:
        declared = dict(zip(self._order, choice, strict=True))
        found = tuple(declared[at] for at in range(len(choice)))
        if self._goal.only in (None, tuple(key for key in found if key is not None)):
            self._known.add(self._vectors.taken(vector))
            self._meter.check(len(self._known))
            self.found[self._vectors.taken(vector)] = found

    def _open(self, at: int, vector: int, last: Key) -> bool:
        """Tell whether an unknown demand could follow, by the total devices of each class alone."""
        state = at, vector, last if at < len(self._requests) and self._first[at] < at else None
        if state in self._closed:
            return False
        if at == len(self._requests):
            still_open = self._vectors.taken(vector) not in self._known
        else:
            still_open = any(self._open(at + 1, taken, key) for key, taken in self._next(at, vector, last))
        if not still_open:
            self._closed.add(state)
            self._meter.spend()
        return still_open


class _Packing:
    """Whether the entries of a class can pack requests: exact, and cached for the duration of the search."""

    def __init__(self, node: Node, requests: Sequence[RequestDemand], meter: Meter) -> None:
        self._meter = meter
        self._counts = tuple(node.counts)
        self._items = [
            {
                key: (request.count, frozenset(entry for entry in request.entries if node.keys[entry] == key))
                for key in request.demands
            }
            for request in requests
        ]
        #: The devices left in all entries once a class has packed its requests, None where it cannot.
        self._left: dict[tuple[Key, _Positions], _Left | None] = {}

    def fits(self, key: Key, positions: _Positions) -> bool:
        """Tell whether a class can pack these requests. Raises OutOfStatesError."""
        return self._packed(key, positions) is not None

    def _packed(self, key: Key, positions: _Positions) -> _Left | None:
        if not positions:
            return self._counts
        if (key, positions) not in self._left:
            items = [self._items[at][key] for at in positions]
            before = self._packed(key, positions[:-1])
            found = None if before is None else self._place(items[-1:], list(before), set())
            if before is not None and found is None:
                items.sort(key=lambda item: (len(item[1]), -item[0]))
                found = self._place(items, list(self._counts), set())
            self._left[key, positions] = found
        return self._left[key, positions]

    def _place(self, items: list[_Item], left: list[int], failed: set[object]) -> _Left | None:
        """Return the devices left when each item has the tightest entry that works, None where they do not fit."""
        if not items:
            return tuple(left)
        state = len(items), tuple(left)
        if state in failed or not _enough(items, left):
            return None
        self._meter.spend()
        count, entries = items[0]
        tried = set()
        for entry in sorted(entries, key=left.__getitem__):
            kind = left[entry], tuple(entry in allowed for _, allowed in items)
            if left[entry] >= count and kind not in tried:
                tried.add(kind)
                left[entry] -= count
                found = self._place(items[1:], left, failed)
                left[entry] += count
                if found is not None:
                    return found
        failed.add(state)
        return None


def _enough(items: Sequence[_Item], left: Sequence[int]) -> bool:
    """Tell whether each set of entries has enough devices left for all items that are restricted to it."""
    return all(
        sum(count for count, bound in items if bound <= entries) <= sum(left[entry] for entry in entries)
        for entries in {entries for _, entries in items}
    )
