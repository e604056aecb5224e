"""A round of a fleet in many orders of deciding: a fork for each state that orders lead to.

Orders that begin alike share their beginning, a deployment that has nothing to decide parts no orders, and orders that
lead to the same state go on as one. So what is settled is the different states, not the orders.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from modelplane.planning.events import Name, State
from modelplane.planning.orders import Deciding
from modelplane.preview import ControlPlane
from modelplane.preview.control_plane import ORDER
from modelplane.reading.deployments import DEPLOYMENT
from modelplane.reading.kinds import Key
from modelplane.reading.tree import Manifest

_AT: Final = ORDER.index(DEPLOYMENT)
_BEFORE: Final = ORDER[:_AT]
_AFTER: Final = ORDER[_AT + 1 :]
#: What differs between two states that are otherwise the same: when, and in which order, objects were written. What
#: a cluster publishes of the versions of its replicas is among it.
_WHEN: Final = frozenset({"resourceVersion", "creationTimestamp", "lastTransitionTime", "residents"})


@dataclass(slots=True)
class Branch:
    """A state of the fleet, and the orders that lead to it.

    `clusters` are those of which one is first to let replicas go; without any, all let them go as soon as they may.
    `least` is, by deployment, how many of its replicas served when the fewest did. `rests`: the last round changed
    nothing.
    """

    control: ControlPlane
    orders: tuple[Deciding, ...]
    clusters: frozenset[str] = frozenset()
    least: dict[Name, int] = field(default_factory=dict)
    rests: bool = False

    def fork(self) -> "Branch":
        """Return a branch with the same state."""
        control = self.control.fork(self.control.world)
        return Branch(control, self.orders, self.clusters, dict(self.least), self.rests)

    def note(self, states: Mapping[Name, State]) -> None:
        """Note how many replicas serve now."""
        for name, state in states.items():
            self.least[name] = min(self.least.get(name, state.serving), state.serving)


class Meeting:
    """Joins branches whose states are the same, compared by what was written since so many writes."""

    def __init__(self, since: int) -> None:
        self._since = since
        #: By resourceVersion, which forks count together.
        self._texts: dict[str, str] = {}

    def join(self, branches: Sequence[Branch]) -> list[Branch]:
        """Return one branch for each state; it has the orders of all, and the least of what served in any."""
        if len(branches) < 2:
            return [*branches]
        found: dict[object, Branch] = {}
        for branch in branches:
            same = found.setdefault((branch.clusters, self.state(branch.control)), branch)
            if same is not branch:
                same.orders += branch.orders
                for name, least in branch.least.items():
                    same.least[name] = min(same.least.get(name, least), least)
                same.rests = same.rests and branch.rests
        return [*found.values()]

    def state(self, control: ControlPlane) -> frozenset[tuple[Key, str]]:
        """Return what distinguishes the state of a control plane from those of its forks."""
        written = control.written_since(self._since)
        return frozenset((key, "" if obj is None else self._text(obj)) for key, obj in written.items())

    def _text(self, obj: Manifest) -> str:
        version = obj["metadata"]["resourceVersion"]
        if version not in self._texts:
            self._texts[version] = json.dumps(_timeless(obj), sort_keys=True, default=id)
        return self._texts[version]


def play_round(branch: Branch, meeting: Meeting) -> Iterator[Branch]:
    """Make one round in every order of a branch, which must not be used afterwards, and yield the branches it has."""
    control, before = branch.control, branch.control.revision
    control.reconcile_due(_BEFORE)
    for decided in meeting.join([*_decide(branch, meeting)]):
        after = decided.control
        after.reconcile_due([DEPLOYMENT], besides=frozenset(map(_key, decided.orders[0])))
        after.reconcile_due(_AFTER)
        after.answer()
        decided.rests = after.revision == before
        yield decided


def _decide(branch: Branch, meeting: Meeting) -> Iterator[Branch]:
    """Yield the states after the deployments of the orders have decided, one after the other."""
    level = [(branch, [(order, order) for order in branch.orders])]
    while level:
        further: list[tuple[Branch, _Waiting]] = []
        for each, waiting in level:
            heads: dict[Deciding, _Waiting] = {}
            for order, left in waiting:
                rest = _from_due(each.control, left)
                heads.setdefault(rest[:1], []).append((order, rest[1:]))
            forks = [*(each.fork() for _ in range(len(heads) - 1)), each]
            for fork, (head, those) in zip(forks, heads.items(), strict=True):
                fork.orders = tuple(order for order, _ in those)
                if head:
                    fork.control.pass_alone(_key(head[0]))
                    further.append((fork, those))
                else:
                    yield fork
        level = _join(further, meeting)


#: Orders, each with its deployments that have not decided yet.
_Waiting = list[tuple[Deciding, Deciding]]


def _join(level: Iterable[tuple[Branch, _Waiting]], meeting: Meeting) -> list[tuple[Branch, _Waiting]]:
    left = {order: rest for _, waiting in level for order, rest in waiting}
    joined = meeting.join([branch for branch, _ in level])
    return [(branch, [(order, left[order]) for order in branch.orders]) for branch in joined]


def _from_due(control: ControlPlane, order: Deciding) -> Deciding:
    at = next((at for at, name in enumerate(order) if control.due(_key(name))), len(order))
    return order[at:]


def _key(name: Name) -> Key:
    return Key(DEPLOYMENT, *name)


def _timeless(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _timeless(each) for key, each in value.items() if key not in _WHEN}
    if isinstance(value, list | tuple):
        return [_timeless(each) for each in value]
    return value
