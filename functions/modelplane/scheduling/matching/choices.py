"""The choices of DeviceClasses by which a pod's requests can be served: one for every distinct demand, in order.

Each request takes its count from one of the entries of a node that satisfy it; requests share an entry while devices
are left. Two choices that take the same of every entry are equivalent for what follows (room, other engines), so only
the first is kept. The order is that of the entries, request by request.

The search assigns requests to entries, both in their order. It leaves a branch in a state that it has seen before, and
where the branch can add no demand that is new. What it does not finish within its states is completed class by class
(see `by_class`), in the order of the classes.
"""

from collections.abc import Mapping, Sequence

from modelplane.scheduling.matching.by_class import complete
from modelplane.scheduling.matching.demands import Choice, Key, Node, RequestDemand, SearchGoal, Vectors
from modelplane.scheduling.pools import Demand
from modelplane.scheduling.search_budget import Meter, OutOfStatesError

#: States of the search in the order of the entries.
IN_ORDER = 2_000


class Choices:
    """One search."""

    def __init__(self, node: Node, requests: Sequence[RequestDemand], goal: SearchGoal) -> None:
        #: The first choice of each distinct demand, in order, by what it takes as `Vectors` has it.
        self._found: dict[int, Choice] = {}
        #: The last request that the search reached, and the most devices that an entry had left for it.
        self.deepest = (-1, 0)
        self._node = node
        self._requests = requests
        self._goal = goal
        self._meter = Meter(IN_ORDER)
        self._left = list(node.counts)
        self._vectors = Vectors(node, requests)
        self._steps = [self._vectors.steps(request) for request in requests]
        columns = [(key, tuple(at in request.entries for request in requests)) for at, key in enumerate(node.keys)]
        #: Entries of one kind are interchangeable, so their remaining devices are compared without order.
        self._kinds = [columns.index(column) for column in columns]
        self._needed = [sum(request.count for request in requests[at:]) for at in range(len(requests) + 1)]
        #: For each request and entry, as bits: the sums that this request and the later ones can take of the entry.
        self._sums = [[1] * len(node.counts) for _ in range(len(requests) + 1)]
        for at, request in reversed(list(enumerate(requests))):
            for entry, later in enumerate(self._sums[at + 1]):
                self._sums[at][entry] = later | later << request.count if entry in request.entries else later
        self._seen: set[object] = set()
        self._barren: set[object] = set()
        self._closed: set[tuple[int, int, int]] = set()

    def run(self, meter: Meter) -> Mapping[Demand, Choice]:
        """Return the first choice of each distinct demand, in order. Raises OutOfStatesError."""
        try:
            self._give(0, self._vectors.start, 0, ())
        except OutOfStatesError:
            meter.spend(self._meter.spent)
            meter.check(len(self._found))
            complete(self._found, self._node, self._requests, self._goal, meter)
        else:
            meter.spend(self._meter.spent)
        return {self._vectors.demand(taken): choice for taken, choice in self._found.items()}

    def _give(self, at: int, vector: int, claimed: int, choice: Choice) -> bool:
        """Continue a choice for the requests before `at`; return False if no choice for them can be continued."""
        self._meter.spend()
        if at == len(self._requests):
            return self._find(vector, claimed, choice)
        if self._found and (len(self._found) == self._goal.most or not self._open(at, vector, claimed)):
            return True
        request = self._requests[at]
        if not self._found:
            self.deepest = max(self.deepest, (at, max((self._left[entry] for entry in request.entries), default=0)))
        useful = self._useful(at)
        left = at, claimed, tuple(sorted(zip(self._kinds, useful, strict=True)))
        if sum(useful) < self._needed[at] or left in self._barren:
            return False
        if (vector, left) in self._seen:
            return True
        self._seen.add((vector, left))
        fruitful = False
        for entry in self._distinct(request):
            key = self._node.keys[entry]
            if self._may_claim(key, claimed):
                self._left[entry] -= request.count
                taken = self._vectors.add(vector, self._steps[at][key])
                if taken is not None:
                    after = claimed if key is None else claimed + 1
                    fruitful |= self._give(at + 1, taken, after, (*choice, key))
                self._left[entry] += request.count
        if not fruitful:
            self._barren.add(left)
        return fruitful

    def _find(self, vector: int, claimed: int, choice: Choice) -> bool:
        if self._goal.only is not None and claimed < len(self._goal.only):
            return False
        self._found.setdefault(self._vectors.taken(vector), choice)
        self._meter.check(len(self._found))
        return True

    def _distinct(self, request: RequestDemand) -> list[int]:
        """Return the entries with enough left for a request; of entries that are alike now, only the first."""
        found: dict[tuple[int, int], int] = {}
        for entry in request.entries:
            if self._left[entry] >= request.count:
                found.setdefault((self._kinds[entry], self._left[entry]), entry)
        return list(found.values())

    def _may_claim(self, key: Key, claimed: int) -> bool:
        only = self._goal.only
        return only is None or key is None or (claimed < len(only) and only[claimed] == key)

    def _useful(self, at: int) -> list[int]:
        """Return, for each entry, the largest sum that the requests from `at` on can take of what is left."""
        return [
            (sums & (2 << left) - 1).bit_length() - 1 for sums, left in zip(self._sums[at], self._left, strict=True)
        ]

    def _open(self, at: int, vector: int, claimed: int) -> bool:
        """Tell whether a new demand could follow, by the total devices of each class alone."""
        if (at, vector, claimed) in self._closed:
            return False
        if at == len(self._requests):
            done = self._goal.only is None or claimed == len(self._goal.only)
            still_open = done and self._vectors.taken(vector) not in self._found
        else:
            still_open = any(
                self._open(at + 1, taken, claimed if key is None else claimed + 1)
                for key, step in self._steps[at].items()
                if self._may_claim(key, claimed) and (taken := self._vectors.add(vector, step)) is not None
            )
        if not still_open:
            self._closed.add((at, vector, claimed))
            self._meter.spend()
        return still_open
