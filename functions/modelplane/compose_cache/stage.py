"""Stages a cache on one cluster: its volume, what fills it while it is not filled, and how far that is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from modelplane.compose_cache.image import hydrate_image
from modelplane.compose_cache.job import COMPLETE, complete, describe, failed
from modelplane.compose_cache.site import Site
from modelplane.compose_cache.spec import CacheSpec
from modelplane.kube.hydration import Download, hydration_job
from modelplane.kube.object import as_observed
from modelplane.kube.volume import BOUND, volume_claim
from modelplane.model.names import LABEL_FILLS
from modelplane.model.observation import Gap
from modelplane.model.staging import Phase
from modelplane.observed.fields import mapping, text
from modelplane.observed.remote import Remote, read_remote
from modelplane.runtime.step import Object, Request, Requirement

Manifests = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Stage:
    """A cache on one cluster.

    `volume` is what is published as staged there (name and uid of a claim), empty while nothing is. `objects` are the
    Objects to be by composition resource name. `lacks_token`: the Secret with the token, or its key, does not exist.
    """

    cluster: str
    phase: Phase
    message: str = ""
    volume: Mapping[str, Any] = field(default_factory=dict)
    objects: Manifests = field(default_factory=dict)
    lacks_token: bool = False


def token_requirement(request: Request, secret: tuple[str, str]) -> Requirement:
    """Return the requirement of the Secret with the source's token."""
    return Requirement("token", "v1", "Secret", match_name=secret[0], namespace=request.composite.namespace)


def volume_resource(cluster: str, volume: str) -> str:
    """Return the composition resource name of a volume."""
    return f"volume-{cluster}-{volume}"


def _asked_gib(seen: Remote) -> int:
    """Return the size that a volume was composed with, 0 when it cannot be read."""
    requests = mapping(mapping(mapping(seen.wanted.get("spec")).get("resources")).get("requests"))
    size = text(requests.get("storage")).removesuffix("Gi")
    return int(size) if size.isascii() and size.isdigit() else 0


@dataclass(frozen=True, slots=True)
class _Place:
    """What one pass knows of a cache on one cluster. `last` is the volume that was published before."""

    request: Request
    spec: CacheSpec
    site: Site
    storage_class: str
    last: Mapping[str, Any]

    @property
    def resource(self) -> str:
        """Return the composition resource name of the volume."""
        return volume_resource(self.site.cluster, self.spec.volume)

    @property
    def seen(self) -> Remote | None:
        """Return the volume as it is observed."""
        found = self.request.observed.get(self.resource)
        return read_remote(found) if found else None

    @property
    def uid(self) -> str:
        """Return the uid of the claim on the cluster, "" while it was not seen or is being deleted."""
        metadata = mapping(mapping(self.seen.manifest if self.seen else None).get("metadata"))
        return "" if metadata.get("deletionTimestamp") else text(metadata.get("uid"))

    @property
    def bound(self) -> bool:
        """Tell whether the claim is there and has its volume."""
        manifest = mapping(self.seen.manifest if self.seen else None)
        return bool(self.uid) and mapping(manifest.get("status")).get("phase") == "Bound"

    @property
    def filled(self) -> bool:
        """Tell whether this very claim was published as staged before."""
        return bool(self.uid) and self.last == {"name": self.spec.volume, "uid": self.uid}

    def volume(self) -> Mapping[str, Any] | str:
        """Return the Object of the volume, or why there cannot be one. What it was made with it keeps, but grows."""
        seen = self.seen
        made_with = text(mapping(seen.wanted.get("spec")).get("storageClassName")) if seen else ""
        storage_class, size = made_with or self.storage_class, max(self.spec.size_gib, _asked_gib(seen) if seen else 0)
        if seen and not (storage_class and self.site.config):
            return as_observed(self.request.observed[self.resource].body)
        if not self.site.config:
            return "the cluster has not published how it is reached (status.providerConfigRef)"
        if not storage_class:
            return (
                "no storage class for caches: name one that many nodes can mount (ReadWriteMany) in the "
                "InferenceCluster's spec.cluster.existing.cache.storageClassName"
            )
        claim = volume_claim(self.spec.volume, self.site.namespace, size_gib=size, storage_class=storage_class)
        return self.site.place(claim, ready_when=BOUND)

    def refused_size(self) -> str:
        """Return in words that the volume is larger than it is asked to be."""
        asked = _asked_gib(self.seen) if self.seen else 0
        if asked <= self.spec.size_gib:
            return ""
        return f"the volume stays at {asked} GiB: it cannot shrink to spec.huggingFace.sizeGiB {self.spec.size_gib}"


def _token(place: _Place) -> tuple[Object | Gap | None, Manifests]:
    """Return the Secret with the token (None: the repository is open) and the Object of its copy."""
    if place.spec.secret is None:
        return None, {}
    secret, key = place.request.one(token_requirement(place.request, place.spec.secret)), place.spec.secret[1]
    resource = f"token-{place.site.cluster}-{place.spec.volume}"
    if isinstance(secret, Object):
        return secret, {resource: place.site.place_key(secret.body, key, _token_name(place.spec))}
    observed = place.request.observed.get(resource)
    return secret, {resource: as_observed(observed.body)} if observed else {}


def _token_name(spec: CacheSpec) -> str:
    return f"{spec.volume}-token"


@dataclass(frozen=True, slots=True)
class _Job:
    """The Job that fills a claim: its composition resource name, its Object, and how it is observed, if it is."""

    resource: str
    body: Mapping[str, Any]
    seen: Remote | None = None

    @property
    def name(self) -> str:
        """Return the Job's name."""
        return text(self.body["spec"]["forProvider"]["manifest"]["metadata"]["name"])


def _observed_job(place: _Place) -> _Job | None:
    """Return the Job that was made for this very claim."""
    for resource, found in sorted(place.request.observed.items()):
        job = read_remote(found)
        fills = mapping(mapping(job.wanted.get("metadata")).get("labels")).get(LABEL_FILLS)
        if resource.startswith(f"hydration-{place.site.cluster}-") and fills == place.uid:
            return _Job(resource, as_observed(found.body), job)
    return None


def _new_job(place: _Place, secret: Object | None) -> _Job:
    """Return the Job that would be made now."""
    spec = place.spec
    token = (_token_name(spec), spec.secret[1]) if spec.secret else None
    version = text(secret.metadata.get("resourceVersion")) if secret else ""
    download = Download(spec.repo, spec.revision, spec.size_gib, token, version)
    job = hydration_job(spec.volume, place.uid, place.site.namespace, download, image=hydrate_image())
    resource = f"hydration-{place.site.cluster}-{job['metadata']['name']}"
    return _Job(resource, place.site.start(job, ready_when=COMPLETE))


def _job(place: _Place, secret: Object | Gap | None) -> _Job | None:
    """Return the Job to be. One that was made runs on as it is; only a failed one gives way to another."""
    made = _observed_job(place)
    if isinstance(secret, Gap) or (made and made.seen and not failed(made.seen)) or not place.site.config:
        return made
    new = _new_job(place, secret)
    return made if made and made.resource == new.resource else new


def _hydrate(place: _Place, objects: Manifests) -> Stage:
    """Fill a claim that was seen, and say how far that is."""
    secret, copies = _token(place)
    job = _job(place, secret)
    seen = job.seen if job else None
    objects = {**objects, **copies, **({job.resource: job.body} if job else {})}

    def at(phase: Phase, words: str, *, lacks_token: bool = False) -> Stage:
        return Stage(place.site.cluster, phase, words, place.last, objects, lacks_token)

    if seen and complete(seen) and place.bound:
        filled = {"name": place.spec.volume, "uid": place.uid}
        return Stage(place.site.cluster, Phase.READY, place.refused_size(), filled, objects)
    lack = _lack(place, secret, copies)
    if lack and (job is None or (seen and not seen.manifest)):
        return at(Phase.PENDING, lack, lacks_token=True)
    words = describe(seen, job.name) if job and seen else "the download is being started"
    if seen and failed(seen):
        return at(Phase.FAILED, "; ".join(filter(None, (words, lack))), lacks_token=bool(lack))
    if not place.bound:
        return at(Phase.PENDING, f"{_unbound(place)}; {words}")
    return at(Phase.HYDRATING, words)


def _lack(place: _Place, secret: Object | Gap | None, copies: Manifests) -> str:
    """Return in words that the token, or its Secret, is not there; "" when it is, or none is asked for."""
    if place.spec.secret is None or secret is None:
        return ""
    if secret is Gap.ABSENT:
        return f"Secret {place.spec.secret[0]} does not exist in namespace {place.site.team}"
    return _keyless(place, copies)


def _keyless(place: _Place, copies: Manifests) -> str:
    """Return in the provider's words that the token could not be copied though the cluster answers, "" if it could."""
    for resource in copies:
        found = place.request.observed.get(resource)
        copy = read_remote(found) if found else None
        if copy and copy.stale and not copy.manifest and place.seen and not place.seen.stale:
            return f"Secret {place.spec.secret[0] if place.spec.secret else ''} {copy.stale}"
    return ""


def _unbound(place: _Place) -> str:
    """Return in words what a volume waits for that is not bound."""
    seen, called = place.seen, f"PersistentVolumeClaim {place.spec.volume}"
    if seen is None or seen.manifest is None:
        return f"{called} {seen.stale if seen and seen.stale else 'is being applied'}"
    if not place.uid:
        return f"{called} is being deleted"
    phase = text(mapping(seen.manifest.get("status")).get("phase")) or "Pending"
    return f"{called} is {phase}" + (f"; {seen.stale}" if seen.stale else "")


def stage(request: Request, spec: CacheSpec, cluster: Object, last: Mapping[str, Any]) -> Stage:
    """Return how a selected cluster is staged; `last` is the volume that was published for it before."""
    status = mapping(cluster.body.get("status"))
    config = text(mapping(status.get("providerConfigRef")).get("name"))
    site = Site(request.composite.namespace, cluster.name, config)
    place = _Place(request, spec, site, text(mapping(status.get("cache")).get("storageClassName")), last)
    volume = place.volume()
    if isinstance(volume, str):
        return Stage(cluster.name, Phase.PENDING, volume, last)
    objects: dict[str, Mapping[str, Any]] = {place.resource: volume}
    namespace = f"namespace-{cluster.name}"
    if config:
        objects[namespace] = site.place_namespace()
    elif namespace in request.observed:
        objects[namespace] = as_observed(request.observed[namespace].body)
    if place.filled:
        words = "; ".join(filter(None, (place.refused_size(), place.seen.stale if place.seen else "")))
        return (
            Stage(cluster.name, Phase.READY, words, last, objects)
            if place.bound
            else Stage(cluster.name, Phase.PENDING, _unbound(place), last, objects)
        )
    if not place.uid:
        return Stage(cluster.name, Phase.PENDING, _unbound(place), last, objects | _kept(request, spec, cluster.name))
    return _hydrate(place, objects)


def _kept(request: Request, spec: CacheSpec, cluster: str) -> dict[str, Mapping[str, Any]]:
    """Return what fills the volume as it is observed, while the volume itself is out of sight."""
    jobs, token = f"hydration-{cluster}-{spec.volume}-", f"token-{cluster}-{spec.volume}"
    return {
        resource: as_observed(found.body)
        for resource, found in request.observed.items()
        if resource.startswith(jobs) or resource == token
    }
