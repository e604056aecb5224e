"""What requests take of the entries of a node, encoded for the searches over choices of classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from modelplane.model.resources import NOTHING, Resources
from modelplane.scheduling.pools import Demand

#: The DeviceClass through which devices are claimed, None for devices that are only matched.
Key = str | None
#: The class of each request.
Choice = tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """The entries of a node with their counts and classes, and its declared CPU and memory."""

    counts: Sequence[int]
    keys: Sequence[Key]
    resources: Resources = NOTHING


@dataclass(frozen=True, slots=True)
class RequestDemand:
    """A request: its count, the entries that satisfy it, in order, and what it is charged with by class."""

    count: int
    entries: tuple[int, ...]
    demands: Mapping[Key, Demand]


@dataclass(frozen=True, slots=True)
class SearchGoal:
    """What to search for: the first `most` demands, or the demands that claim exactly the classes `only`, in order."""

    most: int | None = None
    only: tuple[str, ...] | None = None


class Vectors:
    """Demands encoded as integers, so that adding one and comparing it with a node takes a few operations.

    An integer holds `surely` and `most` of every entry, and the devices left of every class. The highest bit of each
    number is free: it shows which side of a subtraction was larger.
    """

    def __init__(self, node: Node, requests: Sequence[RequestDemand]) -> None:
        self._counts = node.counts
        asked = sum(request.count for request in requests)
        #: Bits of a number: enough for an entry's count and one more request, or for all requests, and the free bit.
        self._bits = max(2 * max(node.counts, default=0), asked).bit_length() + 1
        guard = 1 << (self._bits - 1)
        capacity = dict.fromkeys(node.keys, 0)
        for count, key in zip(node.counts, node.keys, strict=True):
            capacity[key] = min(capacity[key] + count, asked)
        width = 2 * len(node.counts)
        self._fields = {key: width + at for at, key in enumerate(capacity)}
        self.start = self._vector({field: guard + capacity[key] for key, field in self._fields.items()})
        self._class_guards = self._vector(dict.fromkeys(self._fields.values(), guard))
        self._limits = self._vector({at: node.counts[at // 2] for at in range(width)})
        self._guards = self._vector(dict.fromkeys(range(width), guard))
        self._demand_bits = (1 << (self._bits * width)) - 1

    def _vector(self, numbers: Mapping[int, int]) -> int:
        return sum(number << (self._bits * at) for at, number in numbers.items())

    def steps(self, request: RequestDemand) -> dict[Key, int]:
        """Return what a request adds to a vector, by the class it is claimed from."""
        return {key: self._step(demand, request.count, self._fields[key]) for key, demand in request.demands.items()}

    def _step(self, demand: Demand, count: int, field: int) -> int:
        numbers = dict(enumerate(number for pair in demand for number in pair))
        return self._vector({**numbers, field: -count})

    def add(self, vector: int, step: int) -> int | None:
        """Return the vector with one more request, None if its class has too few devices in total.

        What is taken of an entry is capped at what a node has.
        """
        after = vector + step
        if after & self._class_guards != self._class_guards:
            return None
        taken = after & self._demand_bits
        within = (((self._limits | self._guards) - taken) & self._guards) >> (self._bits - 1)
        mask = (within << (self._bits - 1)) - within
        return after - taken + (taken & mask) + (self._limits & ~mask)

    def taken(self, vector: int) -> int:
        """Return the part of a vector that says what is taken of the entries: equal iff the demands are."""
        return vector & self._demand_bits

    def demand(self, taken: int) -> Demand:
        """Return what is taken of the entries as a demand."""
        low = (1 << self._bits) - 1
        numbers = [taken >> (self._bits * at) & low for at in range(2 * len(self._counts))]
        return tuple(zip(numbers[::2], numbers[1::2], strict=True))
