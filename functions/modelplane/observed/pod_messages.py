"""Reads from pods why they are not scheduled, pulled, started or kept alive, and what their containers report.

A message carries no pod's name, age or restart count, so that a condition changes only when its cause does.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from modelplane.model.names import LABEL_GANG
from modelplane.observed.fields import count, excerpt, mapping, mappings, text
from modelplane.observed.remote import Remote

#: Reasons for waiting that every pod has for a while.
_ORDINARY = frozenset({"", "ContainerCreating", "PodInitializing"})
#: The remedy of a reason that does not suggest it.
_REMEDIES = {
    "ErrImagePull": "correct the image, or the pull secret",
    "ImagePullBackOff": "correct the image, or the pull secret",
    "InvalidImageName": "correct the image",
}
#: Reasons for which a container waits after it has failed to run.
_CRASHED = frozenset({"CrashLoopBackOff", "RunContainerError"})
#: Exit codes of what was stopped by SIGKILL and SIGTERM.
_BY_SIGNAL = frozenset({137, 143})
#: Longest part of a container's termination message that is repeated, in characters.
_TERMINATION_LIMIT = 200
#: Longest termination message that a kubelet keeps, in bytes.
_TERMINATION_BYTES: Final = 4096
#: The name of an exception in a log, and what follows it in its line.
_EXCEPTION: Final = re.compile(r"(?<![\w.])[\w.]++(?:(?<=\wError)|(?<=Exception)): (?=([^\n]*))")
#: With this vLLM ends when a process of it has failed, whose own exception comes before.
_FOLLOWS: Final = "See root cause above"


def _joined(reason: str, message: str) -> str:
    return f"{reason}: {message}" if message else reason


def _last_words(log: str) -> str:
    """Return a termination message, which is the end of a log; of a long one its last exception, else its end."""
    words = " ".join(log.split())
    if len(words) <= _TERMINATION_LIMIT:
        return words
    log = log[-_TERMINATION_BYTES:]
    found = list(_EXCEPTION.finditer(log))
    if not found:
        return words[-_TERMINATION_LIMIT:]
    last = next((each for each in reversed(found) if _FOLLOWS not in each[1]), found[-1])
    return " ".join(log[last.start() :].split())[:_TERMINATION_LIMIT]


def _ended(state: Mapping[str, Any]) -> str:
    """Return how a container ended: its exit code, the reason, and what its termination message says."""
    ended = mapping(state.get("terminated"))
    if not ended or not ended.get("exitCode"):
        return ""
    why = excerpt(ended.get("reason"))
    message = _last_words(text(ended.get("message")))
    return _joined(f"exit code {count(ended['exitCode'])}" + (f" ({why})" if why else ""), message)


def _of_container(status: Mapping[str, Any]) -> str:
    """Return why a container does not run, "" if it runs or is starting."""
    state = mapping(status.get("state"))
    waiting = mapping(state.get("waiting"))
    reason = excerpt(waiting.get("reason"))
    if reason == "CrashLoopBackOff":
        # Its own message has the pod's name and the back-off in seconds.
        return _joined(reason, _ended(mapping(status.get("lastState"))))
    if reason not in _ORDINARY:
        return "; ".join(filter(None, (_joined(reason, excerpt(waiting.get("message"))), _REMEDIES.get(reason))))
    return _ended(state)


def _unanswered(container: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    """Return which request a container that runs does not answer, "" if it is ready or runs no probe.

    It may be loading: a kubelet says only that the probe does not succeed.
    """
    if "running" not in mapping(status.get("state")) or status.get("ready") is not False or "started" not in status:
        return ""
    probe = "readinessProbe" if status["started"] else "startupProbe"
    asked = _asked(container, probe)
    if not asked:
        return ""
    loads = "" if status["started"] else "loads, or "
    return f"{loads}does not answer {asked}; if it answers elsewhere, set ports or {probe} of its container"


def _asked(container: Mapping[str, Any], probe: str) -> str:
    """Return the request of a probe of a container, "" without one."""
    get = mapping(mapping(container.get(probe)).get("httpGet"))
    return f"GET {text(get.get('path')) or '/'} on port {get.get('port')}" if get else ""


def _stopped(container: Mapping[str, Any], status: Mapping[str, Any]) -> str:
    """Return for which requests a container may have been stopped that waits to be restarted, "" if it was not.

    A kubelet stops a container whose probes fail. Only an event says so: what is left is that it ended by a signal.
    """
    ended = mapping(mapping(status.get("lastState")).get("terminated"))
    waits = mapping(mapping(status.get("state")).get("waiting")).get("reason") == "CrashLoopBackOff"
    if not waits or ended.get("exitCode") not in _BY_SIGNAL or ended.get("reason") != "Error":
        return ""
    requests = dict.fromkeys(filter(None, (_asked(container, probe) for probe in ("startupProbe", "livenessProbe"))))
    if not requests:
        return ""
    return (
        f"it was stopped, perhaps because it does not answer {' or '.join(requests)}; if it answers elsewhere, "
        "set ports, startupProbe or livenessProbe of its container"
    )


def _complaints(pod: Mapping[str, Any]) -> Iterator[str]:
    """Yield the problems of a pod."""
    status = mapping(pod.get("status"))
    for found in mappings(status.get("conditions")):
        if found.get("type") == "PodScheduled" and found.get("status") == "False":
            yield _joined(excerpt(found.get("reason")) or "Unschedulable", excerpt(found.get("message")))
    if status.get("phase") == "Failed":
        yield _joined(excerpt(status.get("reason")) or "Failed", excerpt(status.get("message")))
    for field in ("initContainerStatuses", "containerStatuses"):
        yield from filter(None, map(_of_container, mappings(status.get(field))))
    containers = {each.get("name"): each for each in mappings(mapping(pod.get("spec")).get("containers"))}
    for found in mappings(status.get("containerStatuses")):
        container = containers.get(found.get("name"), {})
        yield from filter(None, (_unanswered(container, found), _stopped(container, found)))


def _has_crashed(pod: Mapping[str, Any]) -> bool:
    """Tell whether a container of a pod has ended with an error, or is restarted again and again.

    A failing probe alone is no crash: the engine may answer again. A LeaderWorkerSet deletes the pods of a gang as soon
    as a container of one is restarted: there the container before counts. Any other pod that is being deleted may have
    served until then, however its containers once ended.
    """
    status, metadata = mapping(pod.get("status")), mapping(pod.get("metadata"))
    if metadata.get("deletionTimestamp"):
        if LABEL_GANG not in mapping(metadata.get("labels")):
            return False
        restarted = (each for each in mappings(status.get("containerStatuses")) if count(each.get("restartCount")))
        return any(_ended_with_error(each, "lastState") for each in restarted)
    for field in ("initContainerStatuses", "containerStatuses"):
        for found in mappings(status.get(field)):
            waiting = mapping(mapping(found.get("state")).get("waiting"))
            if waiting.get("reason") in _CRASHED or _ended_with_error(found, "state"):
                return True
    return False


def _ended_with_error(container: Mapping[str, Any], state: str) -> bool:
    return count(mapping(mapping(container.get(state)).get("terminated")).get("exitCode")) > 0


def crashed_pods(pods: Iterable[Remote], label: str) -> frozenset[str]:
    """Return the values of a label of pods that have crashed."""
    found = set()
    for remote in pods:
        pod = remote.manifest or {}
        metadata = mapping(pod.get("metadata"))
        if _has_crashed(pod):
            found.add(text(mapping(metadata.get("labels")).get(label)))
    return frozenset(found)


def pod_messages(pods: Iterable[Remote], label: str) -> dict[str, str]:
    """Return the messages of pods by the value of their label; equal ones are counted, the most frequent first."""
    counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for remote in pods:
        pod = remote.manifest or {}
        metadata = mapping(pod.get("metadata"))
        complaints = [] if metadata.get("deletionTimestamp") else list(dict.fromkeys(_complaints(pod)))
        if complaints:
            counted[text(mapping(metadata.get("labels")).get(label))][", ".join(complaints)] += 1
    return {
        value: "; ".join(
            f"{pods} pod{'s' if pods > 1 else ''}: {message}"
            for message, pods in sorted(messages.items(), key=lambda entry: (-entry[1], entry[0]))
        )
        for value, messages in counted.items()
    }


def pod_reports(pods: Iterable[Remote], label: str, container: str) -> dict[str, str]:
    """Return the latest termination message of a successful init container, by the value of its pod's label.

    Times are RFC 3339 in UTC, as the kubelet writes them.
    """
    found: dict[str, tuple[str, str]] = {}
    for remote in pods:
        pod = remote.manifest or {}
        value = text(mapping(mapping(pod.get("metadata")).get("labels")).get(label))
        for status in mappings(mapping(pod.get("status")).get("initContainerStatuses")):
            ended = mapping(mapping(status.get("state")).get("terminated"))
            message = text(ended.get("message")).strip()
            if status.get("name") == container and ended.get("exitCode") == 0 and message:
                found[value] = max(found.get(value, ("", "")), (text(ended.get("finishedAt")), message))
    return {value: message for value, (_, message) in found.items()}
