"""The Secrets and ConfigMaps that the pods of a replica's engines name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.memo import once_per_version
from modelplane.step import Object

_KINDS = {"secretKeyRef": "Secret", "configMapKeyRef": "ConfigMap"}


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """A Secret or ConfigMap of the team, by kind and name."""

    kind: str
    name: str

    def __str__(self) -> str:
        """Return the source in words."""
        return f"{self.kind} {self.name}"


def _mentions(pod: Mapping[str, Any]) -> Iterator[tuple[Source, bool]]:
    """Yield each source that a pod names, and whether the pod can do without it."""
    for secret in mappings(pod.get("imagePullSecrets")):
        yield Source("Secret", text(secret.get("name"))), False
    for container in mappings(pod.get("containers")):
        for row in mappings(container.get("env")):
            for key, kind in _KINDS.items():
                named = mapping(mapping(row.get("valueFrom")).get(key))
                yield Source(kind, text(named.get("name"))), named.get("optional") is True


@once_per_version
def read_sources(replica: Object) -> Mapping[Source, bool]:
    """Return the sources that a ModelReplica names, sorted, each with whether all that name it can do without it."""
    found: dict[Source, bool] = {}
    for engine in mappings(mapping(replica.body.get("spec")).get("engines")):
        for member in mappings(engine.get("members")):
            pod = mapping(mapping(member.get("template")).get("spec"))
            for source, optional in _mentions(pod):
                if source.name:
                    found[source] = optional and found.get(source, True)
    return dict(sorted(found.items()))
