"""The futures of a fleet: an edit made and settled in some orders of deployments, pass by pass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from modelplane.planning.branches import Branch, Meeting, play_round
from modelplane.planning.edits import CLUSTER, Edit, make
from modelplane.planning.events import Name, State, read_states
from modelplane.planning.leaving import Leaving
from modelplane.planning.orders import ANY, Orders
from modelplane.preview import ControlPlane, View
from modelplane.preview.assumed import supply
from modelplane.preview.worlds import World, are_same, residents
from modelplane.reading.fleet import count_claimed
from modelplane.reading.reader import as_object
from modelplane.reading.tree import Manifest, items

#: Rounds in which nothing goes from any cluster but one.
LATE: Final = 6
#: Rounds after which a future counts as not settled.
MOST: Final = 50


@dataclass(frozen=True, slots=True)
class Step:
    """The fleet after a pass: replicas that serve, replicas that are placed, devices that are claimed."""

    number: int
    serving: int
    placed: int
    devices: int


@dataclass(frozen=True, slots=True)
class Future:
    """How a fleet ends up.

    `least` is, by deployment, how many of its replicas served when the fewest did; `lost` says of clusters why replicas
    cannot stay there.
    """

    settled: bool
    states: Mapping[Name, State]
    least: Mapping[Name, int]
    lost: Mapping[str, str]
    steps: tuple[Step, ...]


def play(
    start: ControlPlane,
    edits: Sequence[Edit],
    world: World | None,
    orders: Orders = ANY,
    *,
    steps: bool = False,
) -> list[Future]:
    """Make edits on a fork of a control plane in a world, settle it in each of some orders, and return what differs.

    `steps`: record them, of the only order. Raises as `edits.make` does.
    """
    control = start.fork(world)
    counter, found, recorded = _Counter(), [], []
    if steps:
        recorded.append(counter.step(0, control.view(), read_states(control.view())))
    leaving = Leaving(control, orders.clusters)
    make(control, edits)
    open_ = [*leaving.part(Branch(control, orders.deciding, orders.clusters))]
    meeting = Meeting(control.writes)
    for number in range(1, MOST + 1):
        still: list[Branch] = []
        for branch in (after for each in open_ for after in play_round(each, meeting)):
            now = branch.control
            states = read_states(now.view())
            branch.note(states)
            if branch.clusters:
                still += [leaving.release(branch)] if number == LATE else leaving.part(branch)
                continue
            if (branch.rests and not supply(now)) or number == MOST:
                found.append(Future(branch.rests, states, branch.least, _lost(start, now), tuple(recorded)))
                continue
            if steps:
                recorded.append(counter.step(number, now.view(), states))
            still.append(branch)
        open_ = meeting.join(still)
    return found


def _lost(start: ControlPlane, end: ControlPlane) -> dict[str, str]:
    """Return the clusters on which no replica stays, each with why."""
    found = {}
    for name in (str(obj["metadata"]["name"]) for obj in start.view().scan(CLUSTER)):
        obj = end.get(CLUSTER, None, name)
        taints = [taint for taint in items(obj, "spec", "taints") if taint.get("effect") == "NoExecute"]
        if obj is None or obj["metadata"].get("deletionTimestamp"):
            found[name] = f"{name} is deleted"
        elif taints:
            found[name] = f"{name} is tainted {taints[0].get('key')} NoExecute"
    return found


class _Counter:
    """Counts the devices that are claimed, of a cluster again only where something has changed."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[tuple[Manifest, ...], int]] = {}

    def step(self, number: int, view: View, states: Mapping[Name, State]) -> Step:
        """Return the fleet after a pass."""
        return Step(
            number,
            sum(state.serving for state in states.values()),
            sum(len(state.placed) + state.leaving for state in states.values()),
            sum(self._claimed(view, cluster) for cluster in view.scan(CLUSTER)),
        )

    def _claimed(self, view: View, cluster: Manifest) -> int:
        name = cluster["metadata"]["name"]
        read = (cluster, *residents(view, name))
        last = self._last.get(name)
        if last is None or not are_same(last[0], read):
            first, *others = (as_object(view, each) for each in read)
            last = self._last[name] = (read, count_claimed(first, others))
        return last[1]
