"""The orders in which deployments may come to decide.

Crossplane reconciles the composites of a kind in no order. Deployments without a common cluster cannot take anything
from each other, so that only the order within each group of competitors counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, permutations, zip_longest
from random import Random
from typing import Final

from modelplane.planning.events import Name

#: Deployments that decide first in each round, one after the other.
Deciding = tuple[Name, ...]
#: Competitors of whom every order is tried: 24 of them.
EVERY: Final = 4
#: Orders of deployments that are tried with each cluster first.
_WITH_CLUSTERS: Final = 2
#: Orders that are tried of more: each of them first, the reverse, and these by chance.
_CHANCE: Final = 8


def groups(reach: Mapping[Name, frozenset[str]]) -> list[tuple[Name, ...]]:
    """Return the groups of deployments that reach a common cluster, directly or through others of the group."""
    found: list[tuple[set[Name], set[str]]] = []
    for name, clusters in sorted(reach.items()):
        joined = [group for group in found if group[1] & clusters]
        found = [group for group in found if group not in joined]
        found.append(({name}.union(*(each[0] for each in joined)), set(clusters).union(*(each[1] for each in joined))))
    return [tuple(sorted(names)) for names, _ in found]


@dataclass(frozen=True, slots=True)
class Orders:
    """Orders of deciding, each of the same deployments; from each of `clusters` in turn, replicas go first."""

    deciding: tuple[Deciding, ...]
    clusters: frozenset[str] = frozenset()


#: The oldest decide first, and replicas go as soon as they may.
ANY: Final = Orders(((),))


def orders(competing: Iterable[Sequence[Name]]) -> list[Deciding]:
    """Return all orders of the deployments of a group, if there are up to EVERY of them, else some."""
    return _together([list(_orders(group)) for group in competing if len(group) > 1])


def few(found: Sequence[Deciding]) -> tuple[Deciding, ...]:
    """Return the orders that are tried where replicas go from one cluster first."""
    return tuple(found[:_WITH_CLUSTERS]) or ANY.deciding


def _together(of_groups: Iterable[Iterable[Sequence[Name]]]) -> list[Deciding]:
    """Return orders of all groups from those of each: groups do not see each other, so one future serves for all."""
    return [tuple(chain.from_iterable(order or () for order in turn)) for turn in zip_longest(*of_groups)]


def _orders(group: Sequence[Name]) -> Iterable[tuple[Name, ...]]:
    if len(group) <= EVERY:
        return permutations(group)
    chance = Random(len(group))  # noqa: S311 - the same orders each time
    firsts = [(name, *(other for other in group if other != name)) for name in group]
    return [*firsts, tuple(reversed(group)), *(tuple(chance.sample(group, len(group))) for _ in range(_CHANCE))]
