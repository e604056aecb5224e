"""Worlds: how providers, clusters and gateways answer a control plane, from one snapshot to the next.

A world is a function from a View to the statuses that are written after a pass. It may carry `kinds`, the
(apiVersion, kind) pairs that exist on the control cluster besides ours and those of the Configuration's dependencies,
and `pods`, a function from a View to the pods that exist on clusters. `failing`, `unreachable`, `slow` and
`faulty_releases` change the answers of another world, so they can be combined: `failing(rule, unreachable({"east"}))`.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Final

from modelplane.compose_cluster.commitments import count_residents
from modelplane.compose_cluster.report import committed
from modelplane.model.names import GROUP, LABEL_CLUSTER
from modelplane.observed.cluster import read_cluster
from modelplane.preview.simulation.clouds import CLOUD_KINDS, cloud_answers
from modelplane.preview.simulation.clusters import failing_pod, runs_pods
from modelplane.preview.simulation.gateway import gateway_answers
from modelplane.preview.simulation.pods import Pod
from modelplane.preview.simulation.providers import (
    COLLECTION,
    OBJECT,
    RELEASE,
    StatusPatch,
    answers,
    cluster_of,
    condition_of,
    is_edited,
    is_healthy,
    patch_of,
    simulated,
    starting,
)
from modelplane.preview.simulation.release_faults import ReleaseFault, ReleaseFaults
from modelplane.preview.store import View
from modelplane.reading.kinds import GATEWAY_KINDS, key_of, refer
from modelplane.reading.reader import as_object
from modelplane.reading.tree import Manifest, Tree, items, mapping
from modelplane.step import Object

World = Callable[[View], Iterable[StatusPatch]]
#: Returns, for a ModelReplica, why its workloads fail, None when they do not.
Rule = Callable[[Tree], str | None]

_REPLICA = f"ModelReplica.{GROUP}"
_CLUSTER = f"InferenceCluster.{GROUP}"


class _Healthy:
    """The world in which everything works; Envoy Gateway and the clouds' providers are on the control cluster."""

    kinds: Final = (
        *((version, kind) for version, kinds in GATEWAY_KINDS.items() for kind in sorted(kinds)),
        *CLOUD_KINDS,
    )

    def __call__(self, view: View) -> Iterator[StatusPatch]:
        """Yield what every provider, cluster and gateway writes, for objects whose status was not given.

        An Object whose manifest was edited is not ready in the pass of the edit, and ready from the next one on.
        """
        yield from answers(view)
        yield from gateway_answers(view)
        yield from cloud_answers(view)


healthy: Final = _Healthy()


def failing(rule: Rule, world: World = healthy) -> World:
    """Return a world in which workloads fail.

    `rule` is asked for every ModelReplica in each pass. While it returns a text, no pod of the workloads of the
    replica's present spec becomes available, and each pod reports the text; with None, `world` answers. Copies of an
    earlier spec that a rollout has not changed yet stay.
    """
    failures = _Failures(rule)
    return _Layered(world, failures.statuses, failures.pods)


def unreachable(clusters: Container[str], world: World = healthy) -> World:
    """Return a world in which these clusters are out of reach: their objects keep their last status, not Synced."""

    def statuses(view: View) -> Iterator[StatusPatch]:
        for kind in (OBJECT, COLLECTION, RELEASE):
            for obj in view.scan(kind):
                if cluster_of(obj) in clusters and not obj["metadata"].get("deletionTimestamp"):
                    yield patch_of(obj, {"conditions": _out_of_reach(obj, view.now)})

    return _Layered(world, statuses)


def slow(passes: int, world: World = healthy) -> World:
    """Return a world in which workloads are not ready for so many passes after they were composed or edited."""
    return _Layered(world, _Starts(passes).statuses)


def publishing(world: World = healthy) -> World:
    """Return a world in which a cluster whose status was given publishes what its ModelReplicas take as they are now.

    A control plane leaves such a cluster as it came: what has gone from it would take its room for ever.
    """
    return _Layered(world, _Publishing().statuses)


def faulty_releases(faults: Mapping[str, ReleaseFault], world: World = healthy) -> World:
    """Return a world in which releases of the serving stack fail, hang, flap or come late, by the name of the chart."""
    return _Layered(world, ReleaseFaults(faults).statuses)


def _no_pods(_: View) -> Iterable[Pod]:
    return ()


@dataclass(frozen=True, slots=True)
class _Layered:
    """A world over another one, `below`: its own `statuses` take precedence for an object that both answer."""

    below: World
    statuses: Callable[[View], Iterable[StatusPatch]]
    own_pods: Callable[[View], Iterable[Pod]] = _no_pods

    @property
    def kinds(self) -> Iterable[tuple[str, str]]:
        """Return the further kinds that exist."""
        return tuple(getattr(self.below, "kinds", ()))

    def __call__(self, view: View) -> Iterator[StatusPatch]:
        """Yield the statuses of all objects."""
        own = {patch[:3]: patch for patch in self.statuses(view)}
        yield from (patch for patch in self.below(view) if patch[:3] not in own)
        yield from own.values()

    def pods(self, view: View) -> Iterator[Pod]:
        """Yield the pods that exist on clusters."""
        yield from getattr(self.below, "pods", _no_pods)(view)
        yield from self.own_pods(view)


@dataclass(frozen=True, slots=True)
class _Publication:
    """What a cluster publishes, and what it was computed from."""

    read: tuple[object, ...]
    patch: StatusPatch


@dataclass(slots=True)
class _Publishing:
    """What clusters last published."""

    _last: dict[str, _Publication] = field(default_factory=dict)

    def statuses(self, view: View) -> Iterator[StatusPatch]:
        """Yield what the clusters publish whose status was given."""
        for body in view.scan(_CLUSTER):
            name = body["metadata"]["name"]
            if key_of(body) not in view.pinned:
                continue
            there = tuple(residents(view, name))
            last = self._last.get(name)
            if last is None or not are_same(last.read, (body["spec"], *there)):
                objects = [as_object(view, each) for each in there]
                patch = patch_of(body, _published(as_object(view, body), objects))
                last = self._last[name] = _Publication((body["spec"], *there), patch)
            yield last.patch


def residents(view: View, cluster: str) -> Iterator[Manifest]:
    """Yield the ModelReplicas of a cluster, and the stand-ins for those that were not read."""
    unread = view.unread.get(cluster)
    yield from view.scan(_REPLICA, {LABEL_CLUSTER: cluster})
    yield from unread.stand_ins if unread else ()


def are_same(before: Sequence[object], now: Sequence[object]) -> bool:
    """Tell whether these are the very same objects; what is stored is never changed in place."""
    return len(before) == len(now) and all(map(is_, before, now))


def _published(cluster: Object, replicas: Iterable[Object]) -> Tree:
    status = mapping(cluster.body, "status")
    residents = count_residents(read_cluster(cluster), replicas)
    fields = committed(tuple(items(cluster.body, "status", "gpuPools")), status, residents)
    return {field: value for field, value in fields.items() if value is not None}


@dataclass(slots=True)
class _Failures:
    """The workloads that fail in the present pass, each with why."""

    rule: Rule
    _failed: list[tuple[Manifest, str]] = field(default_factory=list)

    def statuses(self, view: View) -> Iterator[StatusPatch]:
        """Yield the statuses of the workloads that fail."""
        self._failed = [
            (workload, why)
            for replica in view.list(_REPLICA)
            if (why := self.rule(replica)) is not None and _is_composed(replica)
            for workload in _workloads(view, replica)
        ]
        for workload, _ in self._failed:
            yield patch_of(workload, starting(workload, view.now))

    def pods(self, _: View) -> Iterator[Pod]:
        """Yield the pods of the workloads that fail."""
        for workload, why in self._failed:
            manifest = mapping(workload, "spec", "forProvider", "manifest")
            yield cluster_of(workload), failing_pod(manifest, why)


def _is_composed(replica: Manifest) -> bool:
    """Tell whether a pass has composed the workloads of a replica's present spec."""
    passed = (c.get("observedGeneration") for c in items(replica, "status", "conditions") if c.get("type") == "Synced")
    return replica["metadata"]["generation"] in passed


def _workloads(view: View, replica: Manifest) -> Iterator[Manifest]:
    """Yield the Objects of a replica that run pods."""
    for ref in items(replica, "spec", "crossplane", "resourceRefs"):
        key = refer(ref, replica["metadata"]["namespace"])
        obj = view.peek(key) if key.kind == OBJECT else None
        if obj is not None and runs_pods(mapping(obj, "spec", "forProvider", "manifest")):
            yield obj


@dataclass(slots=True)
class _Starts:
    """Counts, for each Object that runs pods, the passes since it was composed or edited."""

    passes: int
    _now: int = 0
    _began: dict[str, int] = field(default_factory=dict)

    def statuses(self, view: View) -> Iterator[StatusPatch]:
        """Yield the statuses of starting workloads, a different one in each pass, so that `settle` does not stop."""
        self._now += 1
        for obj in simulated(view, OBJECT):
            uid = obj["metadata"]["uid"]
            if not runs_pods(mapping(obj, "spec", "forProvider", "manifest")):
                continue
            if is_edited(obj) or (uid not in self._began and not is_healthy(obj)):
                self._began[uid] = self._now
            passed = self._now - self._began.get(uid, self._now - self.passes)
            if passed < self.passes:
                yield patch_of(obj, starting(obj, view.now, f"starting, pass {passed + 1} of {self.passes}"))


def _out_of_reach(obj: Manifest, now: str) -> list[Manifest]:
    """Return the last conditions of an object, Synced False among them."""
    why = f"cannot reach cluster {cluster_of(obj)}"
    others = [c for c in items(obj, "status", "conditions") if c.get("type") != "Synced"]
    return [*others, condition_of(obj, now, "Synced", "False", "ReconcileError", message=why)]
