"""The pull secrets of a download: Secrets on the control cluster, and their copies beside the Job."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from modelplane.compose_cache.cluster_staging import ClusterStaging, Manifests
from modelplane.composing import requirements as require
from modelplane.composing.messages import sentences
from modelplane.model.names import digest
from modelplane.model.observation import Gap
from modelplane.observed.fields import text
from modelplane.step import Object, Requirement

#: The key with the content of a pull secret, by its type.
_KEYS: Final[Mapping[str, str]] = MappingProxyType(
    {"kubernetes.io/dockerconfigjson": ".dockerconfigjson", "kubernetes.io/dockercfg": ".dockercfg"}
)


@dataclass(frozen=True, slots=True)
class PullSecrets:
    """The pull secrets of a download on one cluster.

    `names` are the names of the copies. `copies` are the desired Objects. `missing` says which ones cannot be copied.
    `complete`: all are copied, or can be.
    """

    names: tuple[str, ...] = ()
    copies: Manifests = field(default_factory=dict)
    missing: str = ""
    complete: bool = True


def requirement(namespace: str, name: str) -> Requirement:
    """Return the requirement of a pull secret of a cache in this namespace."""
    return require.source("Secret", name, namespace)


def resource(staging: ClusterStaging, name: str) -> str:
    """Return the composition resource name of the copy of a pull secret."""
    return f"pull-{staging.site.cluster}-{_copied(staging, name)}"


def _copied(staging: ClusterStaging, name: str) -> str:
    """Return the name of the copy; it differs from the Secret's, because engines may have a copy of that name."""
    return f"{staging.spec.volume}-{digest('pull', name)}"


def _missing(staging: ClusterStaging, name: str, found: Object | Gap) -> str:
    """Return why a Secret cannot be a pull secret, "" if it can or is not fetched yet."""
    called = f"Secret {staging.site.team}/{name} of spec.imagePullSecrets"
    if found is Gap.ABSENT:
        return sentences(f"{called} does not exist", "Create it.")
    kind = text(found.body.get("type")) if isinstance(found, Object) else ""
    if isinstance(found, Object) and kind not in _KEYS:
        return sentences(f"{called} is of type {kind or 'Opaque'}", "Give it the type kubernetes.io/dockerconfigjson.")
    return ""


def find(staging: ClusterStaging) -> PullSecrets:
    """Return the pull secrets of a cache on one cluster. An existing copy stays while its Secret is missing."""
    copies: dict[str, Mapping[str, Any]] = {}
    missing, complete = [], True
    for name in staging.spec.pull_secrets:
        found, copy = staging.request.one(requirement(staging.site.team, name)), resource(staging, name)
        wrong, made = _missing(staging, name, found), None
        if isinstance(found, Object) and not wrong:
            typed = text(found.body.get("type"))
            made = staging.site.place_key(found.body, _KEYS[typed], _copied(staging, name), typed)
        copies |= staging.keep_copy(copy, made)
        complete = complete and copy in copies
        missing += [wrong] if wrong else []
    names = tuple(_copied(staging, name) for name in staging.spec.pull_secrets)
    return PullSecrets(names, copies, sentences(*missing), complete)
