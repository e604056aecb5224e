"""Reads the spec of a ModelCache strictly: an invalid field must not be ignored."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from modelplane.api.modelcache import ModelCacheSpec
from modelplane.model.names import volume_name
from modelplane.model.observation import Malformed
from modelplane.observed.bounds import find_over_bound
from modelplane.observed.strict import read_strictly
from modelplane.step import Object


@dataclass(frozen=True, slots=True)
class CacheSpec:
    """A ModelCache's spec. `revision` is "" for the default branch, `secret` the token's (Secret, key), if any.

    `volume` is the name of the claims with this source. `pull_secrets` are for the image of the downloads.
    """

    repo: str
    revision: str
    size_gib: int
    volume: str
    secret: tuple[str, str] | None = None
    selector: Mapping[str, str] = field(default_factory=dict)
    pull_secrets: tuple[str, ...] = ()


def read_spec(cache: Object) -> CacheSpec | Malformed:
    """Return the spec of a ModelCache, Malformed with the field if its XRD would refuse it."""
    spec = find_over_bound(cache) or read_strictly(ModelCacheSpec, cache)
    if isinstance(spec, Malformed):
        return spec
    source = spec.huggingFace
    if source is None:
        return Malformed("ModelCache", cache.name, "spec.huggingFace", "is required by source HuggingFace")
    revision, secret = source.revision or "", source.authSecret
    return CacheSpec(
        repo=source.repo,
        revision=revision,
        size_gib=source.sizeGiB,
        volume=volume_name(cache.namespace, cache.name, source.repo, revision),
        secret=(secret.name, secret.key) if secret else None,
        pull_secrets=tuple(each.name for each in spec.imagePullSecrets or ()),
        selector=(spec.clusterSelector.matchLabels if spec.clusterSelector else None) or {},
    )
