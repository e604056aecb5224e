"""Reads a provider-kubernetes Object: what it wants on its cluster, what is there, and whether that is in sync."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from modelplane.model.names import OBSERVE_ONLY
from modelplane.observed.fields import condition, excerpt, is_true, mapping, number, text
from modelplane.observed.memo import once_per_version
from modelplane.step import Object

#: The local address in Go's network errors: its port differs on every try. It begins a word: tried from each character
#: of a long one, it would take time quadratic in its length.
_NEAR_END = re.compile(r"(?<!\S)\S+:\d+->")
#: What the provider says of an observed object that is not on the cluster (crossplane-runtime's words).
_ABSENT = "external resource does not exist"


@dataclass(frozen=True, slots=True)
class Remote:
    """An Object and the object on a cluster that it represents.

    `name` is the Object's own. `wanted` is the manifest the Object carries, `config` its ClusterProviderConfig.
    `manifest` is what the cluster held when it was last seen, None while it never was. `synced` is None until the
    provider has acted on this version of the Object; False says that its last try failed, `why` in the provider's words
    (equal for equal causes, and cut where they are long), `since` when (RFC 3339): an unreachable cluster keeps its
    last manifest and its Ready, and only this tells. `ours` is False for an object that is only observed.
    """

    name: str = ""
    wanted: Mapping[str, Any] = field(default_factory=dict)
    config: str = ""
    manifest: Mapping[str, Any] | None = None
    ready: bool = False
    synced: bool | None = None
    since: str = ""
    why: str = ""
    ours: bool = True

    @property
    def kind(self) -> str:
        """Return the kind of the manifest that the Object carries."""
        return text(self.wanted.get("kind"))

    @property
    def absent(self) -> bool:
        """Tell whether the cluster answered that there is no such object; one that is not there is only observed."""
        return self.synced is False and _ABSENT in self.why

    @property
    def sync_failure(self) -> str:
        """Return since when and why the object is not in sync, "" when it is."""
        if self.synced is not False:
            return ""
        since = f" since {self.since}" if self.since else ""
        return f"not in sync{since}: {self.why or 'no reason given'}"


def _synced(obj: Object) -> bool | None:
    """Return whether the provider brought this generation in sync, None while it has not acted on it."""
    found = condition(obj, "Synced")
    generation = number(obj.metadata.get("generation"), 0)
    if number(found.get("observedGeneration"), generation) < generation:
        return None
    return {"True": True, "False": False}.get(text(found.get("status")))


@once_per_version
def read_remote(obj: Object) -> Remote:
    """Return what an observed Object says; a field that cannot be read reads as missing."""
    spec, status = mapping(obj.body.get("spec")), mapping(obj.body.get("status"))
    synced = condition(obj, "Synced")
    return Remote(
        name=obj.name,
        wanted=mapping(mapping(spec.get("forProvider")).get("manifest")),
        config=text(mapping(spec.get("providerConfigRef")).get("name")),
        manifest=mapping(mapping(status.get("atProvider")).get("manifest")) or None,
        ready=is_true(obj, "Ready"),
        synced=_synced(obj),
        since=text(synced.get("lastTransitionTime")),
        why=_NEAR_END.sub("", excerpt(synced.get("message"))),
        ours=spec.get("managementPolicies") != list(OBSERVE_ONLY),
    )
