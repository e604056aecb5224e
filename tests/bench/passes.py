"""Plays Crossplane to function servers: passes over a pipeline with its requirement rounds, and what settles them."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from bench.fleet import Manifest, ready, serving
from modelplane.transport import messages
from modelplane.transport.structs import decode, encode

#: A step is called once, and again after each of at most five rounds of fetching.
_CALLS = 6
#: A deployment that is not settled after so many passes never will be.
_PASSES = 8
#: What a control plane with a kind answers whoever asks for its schema.
_SCHEMA = encode({"type": "object"})

Call = Callable[[bytes], bytes]


class NotSettledError(Exception):
    """What was to be measured never came to rest, or a function refused it."""


@dataclass(frozen=True)
class Stored:
    """An object of the control cluster."""

    manifest: Manifest

    @cached_property
    def wire(self) -> bytes:
        """Return the object as it is sent: serialized when it is fetched first, as few objects of a large fleet are."""
        return encode(self.manifest)


class Store:
    """The objects of a control cluster, for requirements."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        self._named: dict[tuple[str, str], list[Stored]] = defaultdict(list)
        self._labelled: dict[tuple[str, str, str], list[Stored]] = defaultdict(list)
        self._all: dict[str, list[Stored]] = defaultdict(list)
        for manifest in manifests:
            kind, meta, stored = manifest["kind"], manifest["metadata"], Stored(manifest)
            self._all[kind].append(stored)
            self._named[kind, meta["name"]].append(stored)
            for label, value in meta.get("labels", {}).items():
                self._labelled[kind, label, value].append(stored)

    def fetch(self, selector: Any) -> list[bytes]:
        """Return the serialized objects that a requirement selects, in the order in which they were given."""
        if selector.HasField("match_name"):
            found = self._named.get((selector.kind, selector.match_name), [])
        else:
            found = self._with(selector.kind, dict(selector.match_labels.labels))
        return [obj.wire for obj in found]

    def _with(self, kind: str, labels: Mapping[str, str]) -> list[Stored]:
        """Return the objects of a kind that have all of these labels."""
        having = [self._labelled.get((kind, *label), []) for label in labels.items()]
        fewest = min(having, key=len, default=self._all.get(kind, []))
        return [obj for obj in fewest if labels.items() <= obj.manifest["metadata"].get("labels", {}).items()]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call of one step: what went over the wire, and how long the caller waited, in seconds."""

    step: str
    request: bytes
    response: bytes
    seconds: float


@dataclass(frozen=True, slots=True)
class PassRun:
    """All calls of one pass, and the bytes of the objects that the last call of each step was given as required."""

    exchanges: tuple[Exchange, ...]
    fetched: int

    def seconds(self, step: str | None = None) -> float:
        """Return how long the caller waited for a step, or for all."""
        return sum(one.seconds for one in self.exchanges if step in (None, one.step))


@dataclass(frozen=True, slots=True)
class Scene:
    """A composite, what it composed (by composition resource name), and the cluster they live on."""

    composite: Manifest
    observed: Mapping[str, Manifest]
    store: Store

    def request(self) -> Any:
        """Return the request that a pass begins with."""
        request = messages.Request()
        request.observed.composite.resource = encode(self.composite)
        for name, manifest in self.observed.items():
            request.observed.resources[name].resource = encode(manifest)
        return request


def run_pass(scene: Scene, steps: Sequence[tuple[str, Call]]) -> PassRun:
    """Run the steps as one pass over the scene; raises NotSettledError where a function refuses."""
    request = scene.request()
    exchanges: list[Exchange] = []
    fetched: dict[str, int] = {}
    for step, call in steps:
        request.ClearField("required_resources")
        asked = messages.Response().requirements
        for _ in range(_CALLS):
            wire = request.SerializeToString(deterministic=True)
            began = time.perf_counter()
            answer = call(wire)
            exchanges.append(Exchange(step, wire, answer, time.perf_counter() - began))
            response = messages.Response.FromString(answer)
            if any(result.severity == 1 for result in response.results):
                raise NotSettledError(f"{step}: {response.results[-1].message}")
            request.context = response.context
            if response.requirements == asked:
                break
            asked = response.requirements
            fetched[step] = _fetch(request, asked, scene.store)
        request.desired.CopyFrom(response.desired)
    return PassRun(tuple(exchanges), sum(fetched.values()))


def _fetch(request: Any, requirements: Any, store: Store) -> int:
    """Put what is required into the request, and return its size in bytes. Every kind that is asked for exists."""
    request.ClearField("required_resources")
    for name in requirements.schemas:
        request.required_schemas[name].openapi_v3 = _SCHEMA
    size = 0
    for name, selector in requirements.resources.items():
        items = request.required_resources[name].items
        for wire in store.fetch(selector):
            items.add().resource = wire
            size += len(wire)
        request.required_resources[name].SetInParent()
    return size


def settle(scene: Scene, steps: Sequence[tuple[str, Call]]) -> Scene:
    """Return the scene once everything that it composes serves, and a pass changes nothing."""
    before = b""
    for number in range(_PASSES):
        done = run_pass(scene, steps)
        last = done.exchanges[-1].response
        if last == before:
            return scene
        before = last
        scene = applied(scene, last, version=1_000_000 * (number + 1))
    raise NotSettledError(f"{scene.composite['metadata']['name']} does not settle within {_PASSES} passes")


def applied(scene: Scene, wire: bytes, version: int) -> Scene:
    """Return the scene with what a response desires applied and serving."""
    response: Any = messages.Response.FromString(wire)
    status = decode(response.desired.composite.resource).get("status", {})
    conditions = [{"type": one.type, "status": "True", "reason": one.reason} for one in response.conditions]
    composite = {**scene.composite, "status": {**status, "conditions": [*ready(), *conditions]}}
    observed = {
        name: serving(_named(decode(resource.resource), name), name, scene.composite, version)
        for name, resource in sorted(response.desired.resources.items())
    }
    return replace(scene, composite=composite, observed=observed)


def _named(manifest: Manifest, resource: str) -> Manifest:
    """Return a composed resource with the name that it has, or else one as Crossplane gives it."""
    return {**manifest, "metadata": {"name": f"composed-{resource}", **manifest.get("metadata", {})}}
