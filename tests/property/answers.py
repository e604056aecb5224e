"""Passes of composites over the wire, each call answered from what is remembered, and computed anew beside it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from hypothesis import strategies as st
from structlog.testing import capture_logs

from golden import read_documents
from modelplane.preview import ControlPlane
from modelplane.preview.pipelines import Pipeline, pipeline_of
from modelplane.preview.worlds import failing, healthy, slow, unreachable
from modelplane.step import Object, Request, Result, Step
from modelplane.step.opening import open_secrets
from modelplane.step.versions import INPUT_VERSION
from modelplane.transport import messages
from modelplane.transport.admission import Received
from modelplane.transport.exchange import answer
from modelplane.transport.structs import encode
from unit.compose_replica.replicas import TOPOLOGIES, others

Manifest = dict[str, Any]
Change = Callable[[ControlPlane], Any]
CLUSTER = "eu-1"
_WRITTEN = [{"manager": "crossplane", "operation": "Apply", "time": "2026-01-01T00:00:00Z"}]


class Compared:
    """The pipelines of a control plane, every call of which for some kinds is also made twice over the wire.

    `differing` are the calls whose remembered answer is not the computed one, `calls` and `computed` counts of calls,
    `last` the last remembered answer, `exchanged` every request with its answer.
    """

    def __init__(self, *kinds: str, others: bool = False) -> None:
        """Compare the calls for these kinds; other kinds are taken as they are, or composed too (`others`)."""
        self._kinds = kinds
        self._others = others
        self._steps: dict[str, Pipeline] = {}
        self.version = ""
        self.calls = self.computed = 0
        self.differing: list[str] = []
        self.last = b""
        self.exchanged: list[tuple[bytes, bytes]] = []

    def __call__(self, kind: str) -> Pipeline | None:
        """Return the pipeline of a kind, None for the kinds that are taken as they are."""
        found = pipeline_of(kind)
        if kind.partition(".")[0] not in self._kinds:
            return found if self._others else None
        if found is not None and kind not in self._steps:
            steps = tuple((name, self._compared(step)) for name, step in found.steps)
            self._steps[kind] = replace(found, steps=steps)
        return self._steps.get(kind)

    def _compared(self, step: Step) -> Step:
        def remembering(request: Request) -> Result:
            self.computed += 1
            return step(request)

        def call(request: Request) -> Result:
            request = replace(request, version=self.version)
            wire = _wire(request)
            with capture_logs():
                remembered = answer(remembering, Received(wire))
                computed = answer(partial(step), Received(wire))  # a step of its own, which has no answers yet
            self.calls += 1
            self.last = remembered
            self.exchanged.append((wire, remembered))
            if remembered != computed:
                self.differing.append(f"{request.composite.kind} {request.composite.name}: {list(request.required)}")
            return step(request)

        return call


def _wire(request: Request) -> bytes:
    """Return the request as Crossplane sends it."""
    message = messages.Request()
    message.observed.composite.resource = _stored(request.composite)
    for name, obj in request.observed.items():
        message.observed.resources[name].resource = _stored(obj)
    for name, found in request.required.items():
        message.required_resources[name].SetInParent()
        for obj in found:
            message.required_resources[name].items.add().resource = _stored(obj)
    message.context = encode(request.context)
    if request.version:
        message.input = encode({INPUT_VERSION: request.version})
    wire: bytes = message.SerializeToString()
    return wire


def _stored(obj: Object) -> bytes:
    body = open_secrets(obj.body)
    return encode({**body, "metadata": {**body["metadata"], "managedFields": _WRITTEN}})


def world_of(topology: str, pipelines: Compared) -> ControlPlane:
    """Return a control plane at rest with a replica of a topology that serves."""
    (replica,) = read_documents(TOPOLOGIES[topology])
    control = ControlPlane([*others(replica), replica], healthy, pipelines)
    assert control.settle()
    return control


@dataclass(frozen=True, slots=True)
class Settled:
    """The calls of a pass of a replica that serves, with their answers, and what names it."""

    calls: tuple[tuple[bytes, bytes], ...]
    names: tuple[bytes, ...]

    def renamed(self, number: int) -> Iterator[tuple[bytes, bytes]]:
        """Yield the calls of another replica like this one; its names are as long as what they replace."""
        for request, response in self.calls:
            yield self._named(request, number), self._named(response, number)

    def _named(self, message: bytes, number: int) -> bytes:
        for name in self.names:
            message = message.replace(name, name[:-6] + b"%06d" % number)
        return message


@cache
def settled(topology: str) -> Settled:
    """Return the last pass of a replica of a topology that serves."""
    pipelines = Compared("ModelReplica")
    control = world_of(topology, pipelines)
    pipelines.exchanged.clear()
    metadata = _replica(control)["metadata"]
    control.reconcile("ModelReplica", metadata["namespace"], metadata["name"])
    return Settled(tuple(pipelines.exchanged), (metadata["name"].encode(), metadata["uid"].encode()))


def _replica(control: ControlPlane) -> Manifest:
    (found,) = control.list("ModelReplica") or [{}]
    return dict(found)


def _end(control: ControlPlane) -> None:
    if body := _replica(control):
        body["spec"]["ending"] = True
        control.apply(body)


def _image(image: str) -> Change:
    def edit(control: ControlPlane) -> None:
        if body := _replica(control):
            body["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["image"] = image
            control.apply(body)

    return edit


def _workloads(control: ControlPlane) -> list[Manifest]:
    kinds = ("Deployment", "LeaderWorkerSet")
    objects = [dict(each) for each in control.list("Object")]
    return [each for each in objects if each["spec"]["forProvider"].get("manifest", {}).get("kind") in kinds]


def _report(ready: int) -> Change:
    """Return what lets a cluster report so many ready copies of each workload."""

    def report(control: ControlPlane) -> None:
        for obj in _workloads(control):
            status = {"readyReplicas": ready, "availableReplicas": ready}
            at = {"atProvider": {"manifest": {"status": status}}}
            control.patch_status("Object", obj["metadata"]["namespace"], obj["metadata"]["name"], at)

    return report


def _drift(control: ControlPlane) -> None:
    """Let somebody change a workload on its cluster."""
    for obj in _workloads(control):
        at = {"atProvider": {"manifest": {"spec": {"replicas": 7}}}}
        control.patch_status("Object", obj["metadata"]["namespace"], obj["metadata"]["name"], at)


def _write_secrets(data: Mapping[str, str]) -> Change:
    def write(control: ControlPlane) -> None:
        for each in control.list("Secret"):
            control.apply({**each, "data": data})

    return write


def _publish(status: Mapping[str, Any]) -> Change:
    return lambda control: control.patch_status("InferenceCluster", None, CLUSTER, status)


def _live_in(world: Any) -> Change:
    def live(control: ControlPlane) -> None:
        control.world = world

    return live


def _delete(kind: str, namespace: str | None, name: str) -> Change:
    return lambda control: control.delete(kind, namespace, name)


def _restore(control: ControlPlane) -> None:
    if body := _replica(control):
        for each in others(body):
            control.apply(each)


#: What happens around a replica.
CHANGES: Mapping[str, Change] = {
    "nothing": lambda _: None,
    "an edit of the image": _image("vllm/vllm-openai:v9"),
    "the edit taken back": _image("vllm/vllm-openai:v0.11.0"),
    "the replica ends": _end,
    "no copy is ready": _report(0),
    "one copy is ready": _report(1),
    "a drift on the cluster": _drift,
    "a Secret is rotated": _write_secrets({"token": "b25l"}),
    "a Secret is rotated again": _write_secrets({"token": "dHdv"}),
    "a Secret loses its key": _write_secrets({"other": "b25l"}),
    "the cache is deleted": _delete("ModelCache", "ml-team", "weights"),
    "the cluster is deleted": _delete("InferenceCluster", None, CLUSTER),
    "the cluster cannot be reached": _publish({"providerConfigRef": None}),
    "the cluster publishes something": _publish({"replicas": 3}),
    "all is there again": _restore,
    "a world out of reach": _live_in(unreachable({CLUSTER})),
    "a world that fails": _live_in(failing(lambda _: "CrashLoopBackOff")),
    "a slow world": _live_in(slow(2)),
    "a healthy world": _live_in(healthy),
}
#: A change, the version that the Composition states from then on, and the passes that follow it.
HAPPENINGS: st.SearchStrategy[tuple[str, str, int]] = st.tuples(
    st.sampled_from(sorted(CHANGES)), st.sampled_from(["", "", "", "0.0.1"]), st.integers(1, 3)
)
