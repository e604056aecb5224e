"""Reads from pods what a container of theirs left as its message when it ended well."""

from collections.abc import Iterable

from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.remote import Remote


def pod_reports(pods: Iterable[Remote], label: str, container: str) -> dict[str, str]:
    """Return the message of an init container that succeeded, by the value of its pod's label; of several the latest.

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
