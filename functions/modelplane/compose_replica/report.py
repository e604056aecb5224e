"""What a ModelReplica says of itself: its conditions, and the status it carries from pass to pass."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from modelplane.compose_replica import topology
from modelplane.compose_replica.handover import backends, belongs_to
from modelplane.compose_replica.obstacle import Obstacle
from modelplane.compose_replica.spec import ReplicaSpec
from modelplane.compose_replica.standing import SERVING_KINDS, WORKLOAD_KINDS, Standing, engine_of, judge
from modelplane.compose_replica.weights import Mount, mounted, told
from modelplane.composing.messages import sentences
from modelplane.model.conditions import Condition, Reason, ReplicaCondition, Status
from modelplane.model.names import LABEL_CLUSTER, replica_hostname
from modelplane.observed.fields import is_true, labels, mapping, text
from modelplane.observed.remote import Remote
from modelplane.step import Object


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass over a replica.

    `spec` is None when it cannot be read. `wanted` are the manifests to be on the cluster by composition resource
    name; with an `obstacle` they are what is observed. `mount` is the volume with the weights, None: as observed.
    `remotes` are the observed Objects. `stamp` is the digest of what the pods are to be made of, "" with an obstacle;
    `builder` the earliest builder of the observed workloads, 0 without any. `pods` is what the pods say that are
    looked at, by the name of their workload. `orphaning`: the orphan policy of the cluster, None while there is no
    cluster to say.
    """

    replica: Object
    spec: ReplicaSpec | None
    wanted: Mapping[str, Mapping[str, Any]]
    remotes: Mapping[str, Remote]
    obstacle: Obstacle | None = None
    mount: Mount | None = None
    stamp: str = ""
    builder: int = 0
    pods: Mapping[str, str] = field(default_factory=dict)
    orphaning: bool | None = None

    def workloads(self) -> dict[str, tuple[Mapping[str, Any], Standing]]:
        """Return each engine's workload that is observed: its manifest, and how it stands."""
        return {engine_of(resource): found for resource, found in self._running().items() if engine_of(resource)}

    def _running(self) -> dict[str, tuple[Mapping[str, Any], Standing]]:
        """Return every workload that is observed, an endpoint picker's too, by composition resource name."""
        return {
            resource: (manifest, self._standing(resource, manifest))
            for resource, manifest in self.wanted.items()
            if manifest.get("kind") in WORKLOAD_KINDS and resource in self.remotes
        }

    def _standing(self, resource: str, manifest: Mapping[str, Any]) -> Standing:
        """Return how a workload stands; what its pods say comes before what is said of them."""
        found = judge(resource, self.remotes)
        said = "" if found.ready else self.pods.get(text(mapping(manifest.get("metadata")).get("name")), "")
        return replace(found, words="; ".join(filter(None, (said, found.words))))

    def troubled(self) -> list[str]:
        """Return the names of the workloads, all of them, when one is on the cluster and does not serve."""
        named = {
            text(mapping(manifest.get("metadata")).get("name")): found for manifest, found in self._running().values()
        }
        there = any(self.remotes[resource].manifest for resource in self.wanted if resource in self.remotes)
        return sorted(named) if there and not all(found.ready for found in named.values()) else []

    def unready(self) -> list[str]:
        """Return, in words, each engine that does not serve and each piece of the edge that is not applied."""
        running = self.workloads()
        engines = {engine.name for engine in self.spec.engines} if self.spec else set()
        said = [f"engine {name}: nothing runs yet" for name in sorted(engines - running.keys())]
        for engine, (_, found) in sorted(running.items()):
            if not found.ready:
                words = f": {found.words}" if found.words else ""
                said.append(f"engine {engine}: {found.available} of {found.desired} copies ready{words}")
        return said + list(self._edge())

    def _edge(self) -> Iterator[str]:
        """Yield, in words, each piece of the edge that does not answer; none that no route leads to yet."""
        led_to = {kind for manifest in self.wanted.values() for kind, _ in backends(manifest)}
        for resource, manifest in sorted(self.wanted.items()):
            kind = text(manifest.get("kind"))
            if kind not in SERVING_KINDS or (kind in WORKLOAD_KINDS and engine_of(resource)):
                continue
            if belongs_to(resource) not in {"", *led_to}:
                continue
            if resource not in self.remotes:
                yield f"{_called(manifest)}: not applied yet"
            elif not (found := self._standing(resource, manifest)).ready:
                yield f"{_called(manifest)}: {found.words or 'not ready yet'}"

    @property
    def serves(self) -> bool:
        """Tell whether every engine serves and can be reached, as far as the last picture of the cluster tells."""
        return bool(self.workloads()) and not self.unready()

    def pending(self) -> list[str]:
        """Return, in words, what is not on the cluster yet as it is wanted: failures first, then the rest."""
        failed, waiting = [], []
        for resource, manifest in sorted(self.wanted.items()):
            remote = self.remotes.get(resource)
            if remote and remote.manifest and remote.synced is not None and _asked(remote, manifest):
                continue
            if remote and remote.stale:
                failed.append(f"{_called(manifest)} {remote.stale}")
            else:
                waiting.append(_called(manifest))
        return failed + ([f"being applied: {', '.join(waiting)}"] if waiting else [])

    def stale(self) -> list[str]:
        """Return, in words, each object of which the picture is old; one sentence for all with the same words."""
        found = {remote.stale for remote in self.remotes.values() if remote.ours} - {""}
        return sorted(found)


def _asked(remote: Remote, manifest: Mapping[str, Any]) -> bool:
    """Tell whether an Object asks for a manifest; what the provider patches in beside it does not count."""
    return all(remote.wanted.get(key) == value for key, value in manifest.items())


def _called(manifest: Mapping[str, Any]) -> str:
    return f"{text(manifest.get('kind'))} {text(mapping(manifest.get('metadata')).get('name'))}"


def _advice(done: Pass) -> list[str]:
    """Return what is told about a replica although it is accepted, such as a label that it lacks."""
    if done.spec is None:
        return []
    said, cluster = topology.advice(done.spec), done.spec.cluster
    if labels(done.replica).get(LABEL_CLUSTER) != cluster:
        said.append(f"label it {LABEL_CLUSTER}={cluster}: who looks up the replicas of a cluster does not see it")
    return said + ([done.mount.words] if done.mount and done.mount.words else [])


def _accepted(done: Pass) -> Condition:
    """Return ModelAccepted: whether the cluster has taken what the replica is made of.

    That the cluster is given up comes first: whoever gives it up waits for that word, and what a cluster that is away
    lets the provider say of each object is longer than a condition.
    """
    found = _taken(done)
    if not done.orphaning or done.spec is None:
        return found
    words = f"InferenceCluster {done.spec.cluster} is abandoned: what runs there is left behind when this replica goes"
    return replace(found, message="; ".join(filter(None, [words, found.message])))


def _taken(done: Pass) -> Condition:
    """Return ModelAccepted of a cluster that is not given up.

    An object that was taken and cannot be brought in sync leaves the last word as it is: an unreachable cluster has
    not given anything back, and a refused edit stays refused.
    """
    kind = ReplicaCondition.MODEL_ACCEPTED
    if done.obstacle:
        kept = "What runs stays as it is" if done.wanted else ""
        words = sentences(done.obstacle.words, kept, *_advice(done))
        return Condition(kind, Status.FALSE, done.obstacle.reason, words)
    if pending := done.pending():
        return Condition(kind, Status.FALSE, Reason.DEPLOYING, "; ".join(pending))
    stale = "; ".join(done.stale())
    if stale and not is_true(done.replica, kind):
        return Condition(kind, Status.FALSE, Reason.DEPLOYING, stale)
    return Condition(kind, Status.TRUE, Reason.ACCEPTED, "; ".join(filter(None, [stale, *_advice(done)])))


def _ready(done: Pass, accepted: Condition) -> Condition:
    """Return ModelReady: whether every engine serves, else what each waits for."""
    old = f"last known state, {'; '.join(done.stale())}" if done.stale() else ""
    if done.serves:
        return Condition(ReplicaCondition.MODEL_READY, Status.TRUE, Reason.SERVING, old)
    if not done.workloads():
        return Condition(
            ReplicaCondition.MODEL_READY,
            Status.FALSE,
            Reason.WAITING_FOR_MODEL,
            f"nothing runs yet: {accepted.message}",
        )
    words = [*done.unready(), *([old] if old else [])]
    return Condition(ReplicaCondition.MODEL_READY, Status.FALSE, Reason.MODEL_STARTING, "; ".join(words))


def conditions(done: Pass) -> tuple[Condition, ...]:
    """Return all conditions of the ModelReplica's kind."""
    accepted = _accepted(done)
    return accepted, _ready(done, accepted)


def _rows(done: Pass) -> list[dict[str, Any]]:
    return [
        {
            "engine": engine,
            "kind": text(manifest.get("kind")),
            "name": text(mapping(manifest.get("metadata")).get("name")),
            "ready": found.available,
            "desired": found.desired,
        }
        | ({"message": found.words} if found.words else {})
        for engine, (manifest, found) in sorted(done.workloads().items())
    ]


def _volumes(done: Pass, *, settled: bool) -> list[str]:
    """Return the claims that pods may mount: until all serve from the one that is wanted, those of before too."""
    wanted = {done.mount.volume} - {""} if done.mount else set()
    return sorted(wanted if settled else {*told(done.replica), *mounted(done.remotes), *wanted})


def status(done: Pass) -> dict[str, Any]:
    """Return the whole status of ours: a field that is left out is removed.

    `served` never goes back: a flap, a reboot or an unknown does not unserve a replica. `servedEngines` moves on only
    when the cluster runs, in sync, the very engines that are asked for now.
    """
    last = mapping(done.replica.body.get("status"))
    written: dict[str, Any] = {"served": last.get("served") is True or done.serves, "workloads": _rows(done)}
    in_sync = done.spec is not None and done.obstacle is None and not done.pending() and not done.stale()
    if volumes := _volumes(done, settled=in_sync and done.serves):
        written["volumes"] = volumes
    if done.builder:
        written["builder"] = done.builder
    if done.spec and in_sync and done.serves:
        written |= {"servedEngines": list(done.spec.block), "servedStamp": done.stamp}
    else:
        written |= {name: last[name] for name in ("servedEngines", "servedStamp") if name in last}
    if done.spec:
        written["endpoint"] = replica_hostname(done.replica.name, done.replica.namespace, done.spec.cluster)
    elif "endpoint" in last:
        written["endpoint"] = last["endpoint"]
    return written
