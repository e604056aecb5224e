"""What the pods of a replica say of themselves: why they are not scheduled, pulled, started or kept alive.

They are looked at only while an engine does not serve, through one collection that makes an Object a pod: a fleet at
rest costs nothing, and one in trouble a look a minute at each pod of the replicas concerned. What they say is told
without their names, ages and restart counts, so that a condition changes only when what it tells does.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from modelplane.compose_replica.site import Site
from modelplane.kube.collection import collection
from modelplane.kube.object import PROVIDER_API
from modelplane.model.names import LABEL_PODS_OF, LABEL_WORKLOAD
from modelplane.model.observation import Gap
from modelplane.observed.fields import count, mapping, mappings, text
from modelplane.observed.remote import read_remote
from modelplane.runtime.step import Object, Request, Requirement

#: Composition resource name of the collection.
RESOURCE = "pods"
#: Reasons to wait that every pod has for a while.
_ORDINARY = frozenset({"", "ContainerCreating", "PodInitializing"})
#: Longest part of a container's last words that is told, in characters.
_LAST_WORDS = 200


def look(site: Site, workloads: Sequence[str]) -> dict[str, Any]:
    """Return the collection that looks at the pods of these workloads."""
    selector = {"matchExpressions": [{"key": LABEL_WORKLOAD, "operator": "In", "values": list(workloads)}]}
    looked_at = {"apiVersion": "v1", "kind": "Pod", "namespace": site.namespace, "selector": selector}
    return collection(looked_at, namespace=site.team, config=site.config, labels={LABEL_PODS_OF: site.replica})


def requirement(replica: Object) -> Requirement:
    """Return the requirement of the Objects that the collection makes."""
    labels = {LABEL_PODS_OF: replica.name}
    return Requirement(RESOURCE, PROVIDER_API, "Object", match_labels=labels, namespace=replica.namespace)


def _joined(reason: str, message: str) -> str:
    return f"{reason}: {message}" if message else reason


def _ended(state: Mapping[str, Any]) -> str:
    """Return how a container ended: its exit code, the reason, and the end of what it left as its message."""
    ended = mapping(state.get("terminated"))
    if not ended or not ended.get("exitCode"):
        return ""
    why = text(ended.get("reason"))
    said = " ".join(text(ended.get("message")).split())[-_LAST_WORDS:]
    return _joined(f"exit code {count(ended['exitCode'])}" + (f" ({why})" if why else ""), said)


def _of_container(status: Mapping[str, Any]) -> str:
    """Return why a container does not run, "" when it runs or is about to."""
    state = mapping(status.get("state"))
    waiting = mapping(state.get("waiting"))
    reason = text(waiting.get("reason"))
    if reason == "CrashLoopBackOff":
        # Its own message tells the pod's name and for how long it is held back.
        return _joined(reason, _ended(mapping(status.get("lastState"))))
    if reason not in _ORDINARY:
        return _joined(reason, text(waiting.get("message")))
    return _ended(state)


def _complaints(pod: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a pod."""
    status = mapping(pod.get("status"))
    for found in mappings(status.get("conditions")):
        if found.get("type") == "PodScheduled" and found.get("status") == "False":
            yield _joined(text(found.get("reason")) or "Unschedulable", text(found.get("message")))
    if status.get("phase") == "Failed":
        yield _joined(text(status.get("reason")) or "Failed", text(status.get("message")))
    for field in ("initContainerStatuses", "containerStatuses"):
        yield from filter(None, map(_of_container, mappings(status.get(field))))


def read_words(request: Request) -> dict[str, str]:
    """Return what the pods say that are looked at, by the name of their workload; alike pods speak with one voice."""
    found = request.all(requirement(request.composite))
    said: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for obj in () if isinstance(found, Gap) else found:
        pod = read_remote(obj).manifest or {}
        metadata = mapping(pod.get("metadata"))
        complaints = [] if metadata.get("deletionTimestamp") else list(dict.fromkeys(_complaints(pod)))
        if complaints:
            said[text(mapping(metadata.get("labels")).get(LABEL_WORKLOAD))][", ".join(complaints)] += 1
    return {
        workload: "; ".join(
            f"{pods} pod{'s' if pods > 1 else ''}: {words}"
            for words, pods in sorted(voices.items(), key=lambda voice: (-voice[1], voice[0]))
        )
        for workload, voices in said.items()
    }
