"""The token for a gated source: its Secret on the control cluster, and the copy of one key beside the Job."""

from dataclasses import dataclass, field

from modelplane.compose_cache.cluster_staging import ClusterStaging, Manifests
from modelplane.compose_cache.spec import CacheSpec
from modelplane.composing import requirements as require
from modelplane.composing.messages import sentences
from modelplane.model.observation import Gap
from modelplane.observed.fields import text
from modelplane.observed.remote import read_remote
from modelplane.step import Object, Request, Requirement


def requirement(request: Request, secret: tuple[str, str]) -> Requirement:
    """Return the requirement of the Secret with the source's token."""
    return require.source("Secret", secret[0], request.composite.namespace)


def resource(cluster: str, volume: str) -> str:
    """Return the composition resource name of the copy on a cluster."""
    return f"token-{cluster}-{volume}"


@dataclass(frozen=True, slots=True)
class DownloadToken:
    """The token of a download. `reference` is the (name, key) of its copy, None for an open repository.

    `version` changes with the content of the Secret; None while the Secret is not known. `copies` are the desired
    Objects. `missing` says that the Secret, or its key, does not exist.
    """

    reference: tuple[str, str] | None = None
    version: str | None = ""
    copies: Manifests = field(default_factory=dict)
    missing: str = ""


def _name(spec: CacheSpec) -> str:
    return f"{spec.volume}-token"


def find(staging: ClusterStaging) -> DownloadToken:
    """Return the token of a cache on one cluster. An existing copy stays while its Secret is missing."""
    if staging.spec.secret is None:
        return DownloadToken()
    name, key = staging.spec.secret
    secret = staging.request.one(requirement(staging.request, staging.spec.secret))
    copy, reference = resource(staging.site.cluster, staging.spec.volume), (_name(staging.spec), key)
    if isinstance(secret, Object):
        copies = staging.keep_copy(copy, staging.site.place_key(secret.body, key, _name(staging.spec)))
        version, missing = text(secret.metadata.get("resourceVersion")), _keyless(staging, copy, name, key)
        return DownloadToken(reference, version, copies, missing)
    called, remedy = f"Secret {staging.site.team}/{name}", f"Create it with the token under key {key}."
    absent = sentences(f"{called} does not exist", remedy)
    return DownloadToken(reference, None, staging.keep_copy(copy, None), absent if secret is Gap.ABSENT else "")


def _keyless(staging: ClusterStaging, copy: str, name: str, key: str) -> str:
    """Return that the token could not be copied although the cluster answers, "" if it could."""
    found = staging.request.observed.get(copy)
    made = read_remote(found) if found else None
    if made and made.sync_failure and not made.manifest and staging.observed and not staging.sync_failure:
        return f"Secret {staging.site.team}/{name} has no token under key {key}: {made.sync_failure}"
    return ""
