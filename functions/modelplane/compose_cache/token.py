"""The token for a source that is not open: its Secret here, and the copy of one key beside the Job."""

from dataclasses import dataclass, field

from modelplane.compose_cache.place import Manifests, Place
from modelplane.compose_cache.spec import CacheSpec
from modelplane.composing import requirements as require
from modelplane.composing.hold import held
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
class Token:
    """What a download gets in at: nothing where `reference`, the (name, key) of the copy, is None.

    `version` tells one content of the Secret from the next; None while the Secret is not known. `copies` are the
    Objects to be. `lack` says in words that the Secret, or its key, does not exist.
    """

    reference: tuple[str, str] | None = None
    version: str | None = ""
    copies: Manifests = field(default_factory=dict)
    lack: str = ""


def _name(spec: CacheSpec) -> str:
    return f"{spec.volume}-token"


def find(place: Place) -> Token:
    """Return the token of a cache on one cluster. A copy that was made stays while its Secret is not there."""
    if place.spec.secret is None:
        return Token()
    name, key = place.spec.secret
    secret = place.request.one(requirement(place.request, place.spec.secret))
    copy, reference = resource(place.site.cluster, place.spec.volume), (_name(place.spec), key)
    if isinstance(secret, Object):
        copies = {copy: place.site.place_key(secret.body, key, _name(place.spec))}
        return Token(reference, text(secret.metadata.get("resourceVersion")), copies, _keyless(place, copy, name, key))
    observed = place.request.observed.get(copy)
    kept = {copy: held(observed.body)} if observed else {}
    absent = f"Secret {name} does not exist in namespace {place.site.team}: create it, with the token under key {key}"
    return Token(reference, None, kept, absent if secret is Gap.ABSENT else "")


def _keyless(place: Place, copy: str, name: str, key: str) -> str:
    """Return in words that the token could not be copied though the cluster answers, "" if it could."""
    found = place.request.observed.get(copy)
    made = read_remote(found) if found else None
    if made and made.sync_failure and not made.manifest and place.seen and not place.seen.sync_failure:
        return f"Secret {name} must hold the token under key {key}: {made.sync_failure}"
    return ""
