"""What requests ask of the entries of a node, in the form in which the searches for choices of classes add it up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from modelplane.scheduling.room import Demand

#: The DeviceClass through which devices are claimed, None for devices that are only matched.
Key = str | None
#: The class of each request.
Choice = tuple[Key, ...]

#: Bits of one number in a vector that is kept in an integer: more than 16 requests of 4,096 devices need.
_BITS = 32
_GUARD = 1 << (_BITS - 1)


@dataclass(frozen=True, slots=True)
class Node:
    """The entries of a node: how many devices each has, and their class."""

    counts: Sequence[int]
    keys: Sequence[Key]


@dataclass(frozen=True, slots=True)
class Share:
    """A request: its count, the entries it may take it from in order, and what it is charged with by class."""

    count: int
    entries: tuple[int, ...]
    demands: Mapping[Key, Demand]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched for: the first `most` demands, or those that claim exactly the classes `only`, in order."""

    most: int | None = None
    only: tuple[str, ...] | None = None


class Vectors:
    """Demands as integers, so that adding one, and the comparison with what a node has, are a few operations on all.

    The integer holds `surely` and `most` of every entry, and of every class how many of its devices are left. The
    highest bit of each number is free: it shows which side of a subtraction was larger.
    """

    def __init__(self, node: Node) -> None:
        self._counts = node.counts
        classes = list(dict.fromkeys(node.keys))
        capacity = dict.fromkeys(classes, 0)
        for count, key in zip(node.counts, node.keys, strict=True):
            capacity[key] += count
        width = 2 * len(node.counts)
        self._fields = {key: width + at for at, key in enumerate(classes)}
        self.start = sum((_GUARD + capacity[key]) << (_BITS * field) for key, field in self._fields.items())
        self._class_guards = sum(_GUARD << (_BITS * field) for field in self._fields.values())
        self._limits = _vector([count for count in node.counts for _ in ("surely", "most")])
        self._guards = _vector([_GUARD] * width)
        self._demand_bits = (1 << (_BITS * width)) - 1
        self._demands: dict[int, Demand] = {}

    def steps(self, share: Share) -> dict[Key, int]:
        """Return what a request adds to a vector, by the class of its devices."""
        return {key: self._step(demand, share.count, self._fields[key]) for key, demand in share.demands.items()}

    def _step(self, demand: Demand, count: int, field: int) -> int:
        return _vector([number for pair in demand for number in pair]) - (count << (_BITS * field))

    def add(self, vector: int, step: int) -> int | None:
        """Return the vector with one more request, None where a class has too few devices in all.

        What is taken of an entry is no more than a node has.
        """
        after = vector + step
        if after & self._class_guards != self._class_guards:
            return None
        taken = after & self._demand_bits
        within = (((self._limits | self._guards) - taken) & self._guards) >> (_BITS - 1)
        mask = within * (_GUARD - 1)
        return after - taken + (taken & mask) + (self._limits & ~mask)

    def demand(self, vector: int) -> Demand:
        """Return the demand."""
        found = self._demands.get(vector)
        if found is None:
            numbers = [vector >> (_BITS * at) & (_GUARD - 1) for at in range(2 * len(self._counts))]
            found = self._demands[vector] = tuple(zip(numbers[::2], numbers[1::2], strict=True))
        return found


def _vector(numbers: Sequence[int]) -> int:
    return sum(number << (_BITS * at) for at, number in enumerate(numbers))
