"""A mixed fleet of ModelReplicas that serve, each reconciled once a minute although nothing has changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.figures import Figure, at_most, compared
from bench.fleet import Manifest
from bench.measure import Served, served, timed
from bench.passes import Scene, Store, run_pass
from bench.soak import serving, stored
from golden import read_documents
from modelplane.preview import ControlPlane
from unit.compose_replica.replicas import TOPOLOGIES, alone, others

_STEP: Final = "compose-replica"
#: A pass of a settled replica over a bare function that returns the same messages.
BARE: Final = 2.0
#: Replicas of the fleet, of all topologies in turn; of so many of them one is reconciled again once all have been.
FLEET, AGAIN = 5000, 5
#: The most calls that may be computed again, in percent, and what the function may have resident then, in MiB: a fifth
#: of its pod's limit.
COMPUTED, RESIDENT = 5.0, 205.0


@dataclass(frozen=True, slots=True)
class Pattern:
    """The requests of a settled replica's pass, and what names it and its objects in them."""

    requests: Sequence[bytes]
    name: bytes
    uids: Sequence[bytes]

    def of_another(self, request: bytes, number: int) -> bytes:
        """Return a request for another replica. Names and uids are as long as what they replace (see `soak`)."""
        for own in (self.name, *self.uids):
            request = request.replace(own, own[:-5] + b"%05d" % number)
        return request


def settled_replicas() -> Iterator[Figure]:
    """Yield what a pass costs that changes nothing, how many calls are computed again, and what is kept for that."""
    with served(_STEP) as on:
        (of,) = timed([serving(0)], on, _STEP, times=100)
        yield compared("settled replica: pass of two calls", of.total * 1e3, of.yardstick * 1e3, BARE, "ms")
        patterns = [_pattern(scene_of(file), on) for file in TOPOLOGIES.values()]
        reconcile(on, patterns, range(FLEET))
        before = len(on.logged(_STEP))
        reconcile(on, patterns, range(0, FLEET, AGAIN))
        lines = on.logged(_STEP)[before:]
        computed = 100 * sum(not line["cached"] for line in lines) / len(lines)
        yield at_most(f"... {FLEET:,} mixed replicas again: calls that are computed", computed, COMPUTED, "%")
        yield at_most(f"... resident after {FLEET:,} mixed replicas: {_STEP}", on.resident(_STEP), RESIDENT, "MiB")


def scene_of(file: Path) -> Scene:
    """Return a replica of a topology that serves, with what it composed."""
    (manifest,) = read_documents(file)
    control = ControlPlane([*others(manifest), manifest], pipelines=alone)
    control.settle()
    (replica,) = map(stored, control.list("ModelReplica"))
    objects = [stored(each) for each in (*control.list("Object"), *control.list("ClusterUsage"))]
    needed = ("InferenceCluster", "ModelCache", "Secret", "Namespace")
    return Scene(replica, _composed(objects), Store(stored(each) for kind in needed for each in control.list(kind)))


def _composed(objects: Sequence[Manifest]) -> dict[str, Manifest]:
    return {each["metadata"]["annotations"]["crossplane.io/composition-resource-name"]: each for each in objects}


def _pattern(scene: Scene, on: Served) -> Pattern:
    metadata = scene.composite["metadata"]
    uids = [each["metadata"]["uid"].encode() for each in (scene.composite, *scene.observed.values())]
    requests = [one.request for one in run_pass(scene, on.steps(_STEP)).exchanges]
    return Pattern(requests, metadata["name"].encode(), uids)


def reconcile(on: Served, patterns: Sequence[Pattern], numbers: range) -> None:
    """Make a pass over each of these replicas, which are like the patterns in turn."""
    for number in numbers:
        # AGAIN and the number of patterns have no common divisor: each of them is reconciled again.
        pattern = patterns[number % len(patterns)]
        for request in pattern.requests:
            on.calls[_STEP](pattern.of_another(request, number))
