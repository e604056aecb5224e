"""The findings of one pass over a replica: which workloads serve, and what is not yet on the cluster as desired."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from modelplane.compose_replica.handover import EARLIER, backends, belongs_to
from modelplane.compose_replica.obstacle import Obstacle
from modelplane.compose_replica.readiness import (
    OUTDATED,
    SERVING_KINDS,
    WORKLOAD_KINDS,
    Readiness,
    engine_of,
    has_acted,
    restarts,
)
from modelplane.compose_replica.spec import ReplicaSpec
from modelplane.compose_replica.weights import Mount
from modelplane.composing.messages import called, out_of_sync
from modelplane.composing.orphan import Policy
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.remote import Remote
from modelplane.observed.replica import was_complete
from modelplane.step import Object


@dataclass(frozen=True)
class ReplicaFindings:
    """One pass over a replica; what is found is computed once."""

    replica: Object
    #: None when it cannot be read.
    spec: ReplicaSpec | None
    #: The desired manifests by composition resource name; with an `obstacle`, the observed ones.
    wanted: Mapping[str, Mapping[str, Any]]
    #: The observed Objects by composition resource name.
    remotes: Mapping[str, Remote]
    #: The readiness of each observed Object.
    states: Mapping[str, Readiness]
    #: Why the replica is not composed, None if it is.
    obstacle: Obstacle | None = None
    #: The volume with the weights, None for the observed one.
    mount: Mount | None = None
    #: The digest of everything that determines the desired pods, "" with an obstacle.
    stamp: str = ""
    #: The earliest builder of the observed workloads, 0 without any.
    builder: int = 0
    #: The digest of everything that determined the observed pods.
    ran: str = ""
    #: The messages of the observed pods by the name of their workload.
    pods: Mapping[str, str] = field(default_factory=dict)
    #: The names of the workloads of pods that have crashed.
    crashed_pods: frozenset[str] = frozenset()
    #: Whether the cluster is abandoned, None while there is no cluster.
    orphaning: bool | None = None
    #: The policy of the cluster's Objects, None while there is no cluster.
    policy: Policy | None = None
    #: Whether the last pod of an ending replica is gone, None for one that is not ending.
    ended: bool | None = None
    #: The uid of the cluster if Modelplane makes it, else "".
    made_uid: str = ""

    @cached_property
    def engines(self) -> Mapping[str, tuple[Mapping[str, Any], Readiness]]:
        """Return the observed workload of each engine by its name: its manifest and readiness."""
        return {engine_of(resource): found for resource, found in self._workloads.items() if engine_of(resource)}

    @property
    def engine_objects(self) -> Mapping[str, str]:
        """Return the name of the Object of each engine's workload."""
        return {engine_of(each): self.remotes[each].name for each in self._workloads if engine_of(each)}

    @cached_property
    def _workloads(self) -> Mapping[str, tuple[Mapping[str, Any], Readiness]]:
        """Return every observed workload, an endpoint picker's too, by composition resource name."""
        return {
            resource: (self.wanted[resource], found)
            for resource, found in self._readiness.items()
            if text(self.wanted[resource].get("kind")) in WORKLOAD_KINDS
        }

    @cached_property
    def _readiness(self) -> Mapping[str, Readiness]:
        """Return the readiness of each wanted object that is observed, by composition resource name."""
        there = {resource: manifest for resource, manifest in self.wanted.items() if resource in self.remotes}
        return {resource: self._read(resource, manifest) for resource, manifest in there.items()}

    def _read(self, resource: str, manifest: Mapping[str, Any]) -> Readiness:
        """Return the readiness of an observed object; the messages of its pods come before its own."""
        found = self.states[resource]
        if found.complete and self._is_stale(resource, manifest):
            found = replace(found, complete=False, message=OUTDATED)
        pods = "" if found.complete else self.pods.get(text(mapping(manifest.get("metadata")).get("name")), "")
        restarting = self._is_restarting(resource, manifest)
        return replace(found, message="; ".join(filter(None, (pods, found.message))), restarting=restarting)

    def _is_restarting(self, resource: str, manifest: Mapping[str, Any]) -> bool:
        """Tell whether an engine's templates change in this pass, or changed and its controller has not acted yet."""
        remote = self.remotes[resource]
        if not engine_of(resource) or remote.kind not in WORKLOAD_KINDS:
            return False
        last = mapping(self.replica.body.get("status"))
        rows = [row for row in mappings(last.get("workloads")) if row.get("engine") == engine_of(resource)]
        # An earlier version recorded only that the replica was not ready.
        unready = bool(rows) and "complete" not in last and not was_complete(self.replica)
        before = unready or any(row.get("restarting") is True for row in rows)
        return restarts(remote, manifest) or (before and not has_acted(resource, self.remotes))

    def _is_stale(self, resource: str, manifest: Mapping[str, Any]) -> bool:
        """Tell whether the last observation of a workload is of other pods than its present or next ones.

        That is so in the pass that changes its pods, and until the provider has acted on that. A stale observation does
        not make a replica complete; otherwise an edit and its rollback would count as served at once.
        """
        remote = self.remotes[resource]
        if remote.kind not in WORKLOAD_KINDS:
            return False
        return restarts(remote, manifest) or (remote.synced is None and not was_complete(self.replica))

    @property
    def workloads_to_observe(self) -> list[str]:
        """Return the names of all workloads, sorted, if one of them is on the cluster and does not serve; else none."""
        named = {
            text(mapping(manifest.get("metadata")).get("name")): found for manifest, found in self._workloads.values()
        }
        there = any(self.remotes[resource].manifest for resource in self.wanted if resource in self.remotes)
        return sorted(named) if there and not all(found.complete for found in named.values()) else []

    @cached_property
    def unready(self) -> tuple[str, ...]:
        """Return a message for each engine that is not complete and each object of the edge that is not applied."""
        engines, note = self.engines, ", serving" if self.serves else ""
        asked = {engine.name for engine in self.spec.engines} if self.spec else set()
        messages = [f"engine {name}: nothing runs yet" for name in sorted(asked - engines.keys())]
        for engine, (_, found) in sorted(engines.items()):
            if not found.complete:
                why = f": {found.message}" if found.message else ""
                messages.append(f"engine {engine}: {found.available} of {found.desired} copies ready{note}{why}")
        return *messages, *self._unready_edge()

    def _unready_edge(self) -> Iterator[str]:
        """Yield a message for each object of the edge that is not complete, unless no route leads to it yet."""
        for resource, manifest in self._edge:
            found = self._readiness.get(resource)
            if found is None:
                yield f"{called(manifest)}: not applied yet"
            elif not found.complete:
                yield f"{called(manifest)}: {found.message or 'not ready yet'}"

    @cached_property
    def _edge(self) -> tuple[tuple[str, Mapping[str, Any]], ...]:
        """Return the objects through which requests reach the engines, without those to which no route leads yet."""
        found: list[tuple[str, Mapping[str, Any]]] = []
        led_to = {kind for manifest in self.wanted.values() for kind, _ in backends(manifest)}
        for resource, manifest in sorted(self.wanted.items()):
            kind = text(manifest.get("kind"))
            if kind not in SERVING_KINDS or (kind in WORKLOAD_KINDS and engine_of(resource)):
                continue
            if resource not in EARLIER and belongs_to(resource) in {"", *led_to}:
                found.append((resource, manifest))
        return tuple(found)

    @cached_property
    def complete(self) -> bool:
        """Tell whether every engine has all its copies, as desired, and can be reached, by the last known state."""
        return bool(self.engines) and not self.unready

    @cached_property
    def serves(self) -> bool:
        """Tell whether one copy of every engine serves and can be reached, by the last known state."""
        engines = self.engines
        asked = {engine.name for engine in self.spec.engines} if self.spec else set()
        running = bool(engines) and asked <= engines.keys() and all(found.serving > 0 for _, found in engines.values())
        return running and all(self._answers(resource) for resource, _ in self._edge)

    @cached_property
    def has_crashed(self) -> bool:
        """Tell whether it does not serve because containers of an engine without a copy have crashed.

        That holds until it serves or its pods are changed: what crashes again and again runs for a while in between,
        and the pods of a gang are others each time.
        """
        if self.serves or any(found.restarting for _, found in self.engines.values()):
            return False
        without = (manifest for manifest, found in self.engines.values() if found.available <= 0)
        names = {text(mapping(manifest.get("metadata")).get("name")) for manifest in without}
        before = mapping(self.replica.body.get("status")).get("crashed") is True
        return bool(names) and (before or not self.crashed_pods.isdisjoint(names))

    def _answers(self, resource: str) -> bool:
        """Tell whether an object of the edge is applied, or is a workload with a copy."""
        found = self._readiness.get(resource)
        return found is not None and (found.complete or found.serving > 0)

    @cached_property
    def pending(self) -> str:
        """Return what is not on the cluster yet as it is wanted, "" when all is: failures first, then the rest."""
        missing = {resource: manifest for resource, manifest in self.wanted.items() if not self._is_taken(resource)}
        failing = {resource for resource in missing if self._is_failing(resource)}
        waiting = [called(missing[resource]) for resource in sorted(missing.keys() - failing)]
        applied = f"being applied: {', '.join(waiting)}" if waiting else ""
        return "; ".join(filter(None, (self._sync_failure(failing), applied)))

    def _is_taken(self, resource: str) -> bool:
        """Tell whether the cluster holds what is asked for; what the provider patches in beside it does not count."""
        remote = self.remotes.get(resource)
        if remote is None or not remote.manifest or remote.synced is None:
            return False
        return all(remote.wanted.get(key) == value for key, value in self.wanted[resource].items())

    def _is_failing(self, resource: str) -> bool:
        return resource in self.remotes and self.remotes[resource].synced is False

    @cached_property
    def sync_failure(self) -> str:
        """Return which objects are not in sync, so that the last known state stands for them; "" when all are."""
        return self._sync_failure({resource for resource, remote in self.remotes.items() if remote.ours})

    def _sync_failure(self, resources: set[str]) -> str:
        remotes = {called(self.remotes[each].wanted): self.remotes[each] for each in resources}
        return out_of_sync(self.spec.cluster if self.spec else "", remotes)
