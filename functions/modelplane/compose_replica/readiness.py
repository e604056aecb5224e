"""Whether a replica's objects are complete on its cluster, by their counts, with their own messages.

A workload is *complete* if all its copies are available and updated, and its controller has seen its generation. It
*serves* if one copy is available, of whatever templates; of a gang, one with its leader and all its workers.

A replica is Ready by `findings.ReplicaFindings.serves`, which `report` says in ModelReady: a copy of each engine
serves, and requests reach it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from modelplane.model.names import ANNOTATION_TEMPLATE
from modelplane.observed.fields import count, mapping, mappings, text
from modelplane.observed.remote import Remote

_CURRENT = (
    "has(object.metadata.generation)",
    "has(object.status)",
    "has(object.status.observedGeneration)",
    "object.status.observedGeneration == object.metadata.generation",
)


def _full(*counts: str) -> tuple[str, ...]:
    """Return the terms of a query that require counts of the status to equal spec.replicas."""
    return tuple(f"has(object.status.{field}) && object.status.{field} == object.spec.replicas" for field in counts)


#: When a Deployment is ready, as a query on the Object; `_deployment` is the same rule. Its condition Available is not
#: sufficient: with one replica and no surge it is True without a pod.
DEPLOYMENT_READY = " && ".join((*_CURRENT, *_full("updatedReplicas", "replicas", "availableReplicas")))
#: A LeaderWorkerSet's condition Available is not sufficient either: it is True while a worker is Pending. Its status
#: does not say which generation it counted, so `_gang` reads the StatefulSets.
GANG_READY = " && ".join(("has(object.status)", *_full("updatedReplicas", "replicas", "readyReplicas")))
STATEFUL_SET_READY = " && ".join((*_CURRENT, *_full("readyReplicas")))

#: The field of spec with the pod template, by kind of workload.
_TEMPLATE_FIELDS = {"Deployment": "template", "LeaderWorkerSet": "leaderWorkerTemplate"}
#: The kinds that run an engine, and all kinds that a replica needs to serve; other objects only have to exist.
WORKLOAD_KINDS = frozenset(_TEMPLATE_FIELDS)
SERVING_KINDS = WORKLOAD_KINDS | {"Service", "HTTPRoute", "InferencePool"}

#: The message of a workload that has all its copies, but not all with the present templates.
OUTDATED = "not updated yet"


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether an object is complete, its available and desired copies, and why it is not complete.

    `restarting`: its templates have changed, and its controller has not acted on that yet.
    """

    complete: bool
    available: int = 0
    desired: int = 0
    message: str = ""
    restarting: bool = False

    @property
    def serving(self) -> int:
        """Return how many copies go on to serve: a change of the templates takes one, an unavailable one first."""
        return min(self.available, self.desired - 1) if self.restarting else self.available


def engine_of(resource: str) -> str:
    """Return the engine of a workload by its composition resource name, `<kind>-<engine>`; "" for another one."""
    return resource.partition("-")[2]


def observed_names(remotes: Mapping[str, Remote]) -> dict[str, str]:
    """Return the names of the observed workloads by composition resource name."""
    found = {resource: remote.wanted for resource, remote in remotes.items() if remote.kind in WORKLOAD_KINDS}
    return {resource: text(mapping(wanted.get("metadata")).get("name")) for resource, wanted in found.items()}


def leaders_resource(engine: str) -> str:
    """Return the composition resource name of the Object that observes the StatefulSet of an engine's leaders."""
    return f"leaders-{engine}"


def workers_resource(engine: str, copy: int) -> str:
    """Return the composition resource name of the Object that observes the StatefulSet of a gang's workers."""
    return f"workers-{copy}-{engine}"


def _complaints(manifest: Mapping[str, Any]) -> str:
    """Return the messages of a Deployment's bad conditions: refused pods, a stuck rollout, too few copies."""
    bad = {"ReplicaFailure": "True", "Progressing": "False", "Available": "False"}
    conditions = mappings(mapping(manifest.get("status")).get("conditions"))
    messages = {
        text(found.get("message")) or text(found.get("reason"))
        for found in conditions
        if bad.get(text(found.get("type"))) == found.get("status")
    }
    return " ".join(sorted(messages - {""}))


def is_seen(manifest: Mapping[str, Any]) -> bool:
    """Tell whether a status is for the present generation."""
    generation = mapping(manifest.get("metadata")).get("generation")
    return generation is not None and mapping(manifest.get("status")).get("observedGeneration") == generation


def _deployment(manifest: Mapping[str, Any]) -> Readiness:
    status, desired = mapping(manifest.get("status")), mapping(manifest.get("spec")).get("replicas")
    counts = [status.get(field) for field in ("updatedReplicas", "replicas", "availableReplicas")]
    complete = is_seen(manifest) and isinstance(desired, int) and all(found == desired for found in counts)
    available = count(status.get("availableReplicas"))
    return Readiness(complete, available, count(desired), "" if complete else _complaints(manifest))


def template_mark(manifest: Mapping[str, Any]) -> Any:
    """Return the mark of the templates that a LeaderWorkerSet or one of its StatefulSets makes pods from."""
    spec = mapping(manifest.get("spec"))
    template = mapping(spec.get("leaderWorkerTemplate")).get("leaderTemplate") or spec.get("template")
    return mapping(mapping(mapping(template).get("metadata")).get("annotations")).get(ANNOTATION_TEMPLATE)


def _sets(engine: str, copies: int, remotes: Mapping[str, Remote]) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    """Yield the observed StatefulSets of a LeaderWorkerSet, each with the copy whose workers it runs.

    That of the leaders, which comes first, runs pods of all copies: None.
    """
    named: dict[str, int | None] = {leaders_resource(engine): None}
    named |= {workers_resource(engine, copy): copy for copy in range(copies)}
    for resource, copy in named.items():
        remote = remotes.get(resource)
        if remote and remote.manifest and isinstance(mapping(remote.manifest.get("spec")).get("replicas"), int):
            yield copy, remote.manifest


def is_behind(part: Mapping[str, Any], mark: Any) -> bool:
    """Tell whether a StatefulSet still makes pods of earlier templates."""
    return template_mark(part) != mark or not is_seen(part)


def _gang(engine: str, manifest: Mapping[str, Any], remotes: Mapping[str, Remote]) -> Readiness:
    status, desired = mapping(manifest.get("status")), mapping(manifest.get("spec")).get("replicas")
    counts = [status.get(field) for field in ("updatedReplicas", "replicas", "readyReplicas")]
    full = isinstance(desired, int) and all(found == desired for found in counts)
    available, mark, missing = count(status.get("readyReplicas")), template_mark(manifest), 0
    messages: list[str] = []
    for copy, part in _sets(engine, count(desired), remotes):
        asked, has = count(part["spec"]["replicas"]), count(mapping(part.get("status")).get("readyReplicas"))
        what = "leaders" if copy is None else f"workers of copy {copy}"
        if is_behind(part, mark):
            # A copy of earlier templates is outdated, and not missing.
            messages.append(f"{what}: {OUTDATED}")
        elif has < asked:
            messages.append(f"{what}: {has} of {asked} pods ready")
            missing += copy is not None
    leaders = remotes.get(leaders_resource(engine))
    if messages:
        seen = mapping(leaders.manifest).get("status") if leaders and leaders.manifest else {}
        ready_leaders = count(mapping(seen).get("readyReplicas"), available)
        available = max(0, min(available, count(desired) - missing, ready_leaders))
    return Readiness(full and not messages, available, count(desired), ", ".join(messages))


def readiness_of(resource: str, remotes: Mapping[str, Remote]) -> Readiness:
    """Return the readiness of an observed Object's object: a workload by its counts, another one once it is applied.

    It is based on the last known state, however old: a cluster that stops answering changes nothing.
    """
    remote = remotes[resource]
    if remote.kind not in WORKLOAD_KINDS:
        return Readiness(complete=remote.ready, message="" if remote.ready else "not applied yet")
    if remote.manifest is None:
        asked = count(mapping(remote.wanted.get("spec")).get("replicas"), 1)
        return Readiness(complete=False, desired=asked, message="not applied yet")
    if remote.kind == "Deployment":
        found = _deployment(remote.manifest)
    else:
        found = _gang(engine_of(resource), remote.manifest, remotes)
    if found.complete or found.message or found.available < found.desired:
        return found
    return replace(found, message=OUTDATED)


def restarts(remote: Remote, manifest: Mapping[str, Any]) -> bool:
    """Tell whether a manifest makes other pods than the manifest in the workload's Object."""
    field = _TEMPLATE_FIELDS.get(remote.kind, "")
    return mapping(remote.wanted.get("spec")).get(field) != mapping(manifest.get("spec")).get(field)


def has_acted(resource: str, remotes: Mapping[str, Remote]) -> bool:
    """Tell whether the provider and the controller of a workload have acted on the last change of its templates."""
    remote = remotes[resource]
    if remote.manifest is None or remote.synced is None:
        return False
    if remote.kind == "Deployment":
        return is_seen(remote.manifest)
    mark = template_mark(remote.manifest)
    return not any(is_behind(part, mark) for _, part in _sets(engine_of(resource), 0, remotes))


def is_rolling(resource: str, remotes: Mapping[str, Remote]) -> bool:
    """Tell whether an observed workload may still make pods of an earlier template."""
    manifest = remotes[resource].manifest or {}
    status, generation = mapping(manifest.get("status")), count(mapping(manifest.get("metadata")).get("generation"))
    if count(status.get("updatedReplicas")) < count(status.get("replicas")):
        return True
    if manifest.get("kind") == "Deployment":
        return count(status.get("observedGeneration"), generation) < generation
    copies, mark = count(mapping(manifest.get("spec")).get("replicas")), template_mark(manifest)
    return any(is_behind(part, mark) for _, part in _sets(engine_of(resource), copies, remotes))
