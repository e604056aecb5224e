"""Reads a provider-kubernetes Object: its manifest, the object on the cluster, and whether they are in sync."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from modelplane.model.names import ANNOTATION_POLICIES, CREATE_ONLY, OBSERVE_ONLY
from modelplane.observed.fields import condition, excerpt, is_true, mapping, number, text, texts
from modelplane.observed.memo import once_per_version
from modelplane.step import Object

#: The local address in Go's network errors: its port differs on every try. It begins a word: tried from each character
#: of a long one, it would take time quadratic in its length.
_NEAR_END = re.compile(r"(?<!\S)\S+:\d+->")
#: The provider's message for an observed object that does not exist on the cluster (crossplane-runtime).
_ABSENT = "external resource does not exist"
#: The managementPolicies of an Object whose object the provider updates; without any it does too.
_UPDATING = frozenset({"*", "Update"})


@dataclass(frozen=True, slots=True)
class Remote:
    """An Object and the object on a cluster that it represents.

    `name` is the Object's own. `wanted` is the Object's manifest, `config` its ClusterProviderConfig. `manifest` is the
    last observed state on the cluster, None before the first. `synced` is None until the provider has acted on this
    version of the Object, and False if its last try failed, with the provider's message in `why` (equal for equal
    causes, and cut if it is long) and the time in `since` (RFC 3339). For an unreachable cluster, only `synced`
    changes: the last manifest and Ready stay. `ours` is False for an object that is only observed, `updates` for one
    that the provider does not change. `claims`: it is created if it is absent (`kube.object.CLAIMED`).
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
    updates: bool = True
    claims: bool = False

    @property
    def kind(self) -> str:
        """Return the kind of the Object's manifest."""
        return text(self.wanted.get("kind"))

    @property
    def absent(self) -> bool:
        """Tell whether the cluster reported that an observed object does not exist."""
        return self.synced is False and reports_absence(self.why)

    @property
    def sync_failure(self) -> str:
        """Return since when and why the object is not in sync, "" if it is."""
        if self.synced is not False:
            return ""
        since = f" since {self.since}" if self.since else ""
        return f"not in sync{since}: {self.why or 'no reason given'}"


def reports_absence(why: str) -> bool:
    """Tell whether a provider's message says that what it only observes does not exist: it says so nowhere else."""
    return _ABSENT in why


def read_synced(obj: Object) -> bool | None:
    """Return whether a provider has synced this generation of an object, None while it has not acted on it."""
    found = condition(obj, "Synced")
    generation = number(obj.metadata.get("generation"), 0)
    if number(found.get("observedGeneration"), generation) < generation:
        return None
    return {"True": True, "False": False}.get(text(found.get("status")))


def _observes_for_now(obj: Object) -> bool:
    return ANNOTATION_POLICIES in mapping(obj.metadata.get("annotations"))


def read_error(obj: Object) -> str:
    """Return why a provider's last try failed, equal for equal causes, "" if it did not."""
    return _NEAR_END.sub("", excerpt(condition(obj, "Synced").get("message")))


@once_per_version
def read_remote(obj: Object) -> Remote:
    """Return an observed Object; an unreadable field reads as missing."""
    spec, status = mapping(obj.body.get("spec")), mapping(obj.body.get("status"))
    synced, policies = condition(obj, "Synced"), frozenset(texts(spec.get("managementPolicies")))
    return Remote(
        name=obj.name,
        wanted=mapping(mapping(spec.get("forProvider")).get("manifest")),
        config=text(mapping(spec.get("providerConfigRef")).get("name")),
        manifest=mapping(mapping(status.get("atProvider")).get("manifest")) or None,
        ready=is_true(obj, "Ready"),
        synced=read_synced(obj),
        since=text(synced.get("lastTransitionTime")),
        why=read_error(obj),
        ours=spec.get("managementPolicies") != list(OBSERVE_ONLY) or _observes_for_now(obj),
        updates=not policies or not _UPDATING.isdisjoint(policies),
        # One of `kube.object.KEPT` has the same policies, and a query.
        claims=policies == frozenset(CREATE_ONLY) and not mapping(spec.get("readiness")).get("celQuery"),
    )
