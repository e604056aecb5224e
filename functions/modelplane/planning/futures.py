"""One future of a fleet: an edit made and settled in one order of deployments, pass by pass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from modelplane.model.names import API_VERSION
from modelplane.planning.edits import CLUSTER, Edit, make
from modelplane.planning.events import Name, State, read_states
from modelplane.planning.orders import ORDER, Order
from modelplane.preview import ControlPlane
from modelplane.preview.assumed import supply
from modelplane.preview.deletion import Finalizers, finalizers_of
from modelplane.preview.worlds import World
from modelplane.reading.deployments import DEPLOYMENT
from modelplane.reading.fleet import read_clusters, total_devices
from modelplane.reading.kinds import Key, key_of
from modelplane.reading.trace import REPLICA
from modelplane.reading.tree import Manifest, items, mapping

#: Rounds in which nothing goes from any cluster but one.
LATE: Final = 6
_CROSSPLANE: Final = ".crossplane.io"
_CLUSTER: Final = "InferenceCluster"
_HELD: Final = "planning.modelplane.ai/held"
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
    start: ControlPlane, edits: Sequence[Edit], world: World | None, order: Order = ORDER, *, steps: bool = False
) -> Future:
    """Make edits on a fork of a control plane in a world, and settle it in an order.

    `steps`: record them. Raises as `edits.make` does.
    """
    control = start.fork(world)
    recorded = [_step(control, 0, read_states(control.view()))] if steps else []
    if order.cluster:
        control.hold_by(_keeping(control, order.cluster))
    make(control, edits)
    first = [Key(DEPLOYMENT, *name) for name in order.deployments]
    serving: dict[Name, int] = {}
    settled, states = False, read_states(control.view())
    for number in range(1, MOST + 1):
        settled = control.settle(1, first) and not supply(control)
        states = read_states(control.view())
        for name, state in states.items():
            serving[name] = min(serving.get(name, state.serving), state.serving)
        if order.cluster and number == LATE:
            control.hold_by(_holding)
        elif settled and (number > LATE or not order.cluster):
            break
        if steps:
            recorded.append(_step(control, number, states))
    lost = _lost(start, control)
    return Future(settled, states, serving, lost, tuple(recorded))


def released(fleet: ControlPlane, world: World | None) -> ControlPlane:
    """Return a fork of a fleet as it was read, from which what is deleted goes, as Crossplane lets it.

    Nobody here takes away the finalizers that Crossplane sets on composites. An InferenceCluster keeps them: it stays
    until its replicas are gone.
    """
    control = fleet.fork(world)
    control.hold_by(_holding)
    return control


def _holding(obj: Manifest) -> list[str]:
    found = finalizers_of(obj)
    if obj["apiVersion"] != API_VERSION or obj["kind"] == _CLUSTER:
        return found
    return [each for each in found if not each.endswith(_CROSSPLANE)]


def _keeping(control: ControlPlane, cluster: str) -> Finalizers:
    """Return what holds objects while the ModelReplicas that are not on a cluster do not go."""
    kept = {key_of(each) for each in control.view().scan(REPLICA) if mapping(each, "spec").get("clusterName") != cluster}
    return lambda obj: [*_holding(obj), *([_HELD] if key_of(obj) in kept else ())]


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


def _step(control: ControlPlane, number: int, states: Mapping[Name, State]) -> Step:
    return Step(
        number,
        sum(state.serving for state in states.values()),
        sum(len(state.placed) + state.leaving for state in states.values()),
        sum(devices.claimed for devices in total_devices(read_clusters(control.view())).values()),
    )
