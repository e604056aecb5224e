"""Whether pods, and groups of pods, can take one another's places, by trying every exchange.

Rule: an edit takes no more than before iff each of its groups can take the place of another group that was there:
each pod of the one goes where another pod of the other was, which took as much of every entry or more.
"""

from collections.abc import Sequence
from itertools import permutations

#: (least, most) of each entry.
Demand = tuple[tuple[int, int], ...]
Group = tuple[tuple[Demand, int], ...]


def pods_of(group: Group) -> list[Demand]:
    """Return every pod of a group."""
    return [demand for demand, many in group for _ in range(many)]


def covers(before: Group, after: Group) -> bool:
    """Tell whether some exchange of pods gives each of `after` a place of its own."""
    places, wanting = pods_of(before), pods_of(after)
    return any(
        all(
            all(new <= old for (_, new), (_, old) in zip(pod, place, strict=True))
            for pod, place in zip(wanting, chosen, strict=True)
        )
        for chosen in permutations(places, len(wanting))
    )


def exchangeable(before: Sequence[Group], after: Sequence[Group]) -> bool:
    """Tell whether some exchange of groups gives each of `after` a place of its own."""
    return any(
        all(covers(had, wanted) for had, wanted in zip(chosen, after, strict=True))
        for chosen in permutations(before, len(after))
    )
