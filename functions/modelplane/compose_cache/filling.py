"""Fills a claim: the Job to be, the pods that tell how it goes, and how far that is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.compose_cache import token
from modelplane.compose_cache.job import COMPLETE, complete, describe, failed, idle
from modelplane.compose_cache.place import Manifests, Place, Stage
from modelplane.compose_cache.token import Token
from modelplane.composing.hold import held
from modelplane.composing.pod_messages import CACHE_PODS
from modelplane.kube.hydration import Download, hydration_job
from modelplane.kube.images import Image
from modelplane.model.names import LABEL_FILLS
from modelplane.model.staging import Phase
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.remote import Remote, read_remote

_PODS = "pods-"


@dataclass(frozen=True, slots=True)
class _Job:
    """The Job that fills a claim: its composition resource name, its Object, and how it is observed, if it is."""

    resource: str
    body: Mapping[str, Any]
    seen: Remote | None = None

    @property
    def _manifest(self) -> Mapping[str, Any]:
        return mapping(mapping(mapping(self.body.get("spec")).get("forProvider")).get("manifest"))

    @property
    def name(self) -> str:
        """Return the Job's name."""
        return text(mapping(self._manifest.get("metadata")).get("name"))

    def of_containers(self, field: str) -> list[Any]:
        """Return what its containers have in a field, such as `env`, where they take the token from."""
        pod = mapping(mapping(mapping(self._manifest.get("spec")).get("template")).get("spec"))
        return [each.get(field) for each in mappings(pod.get("containers"))]


def _resource(place: Place, job: str) -> str:
    """Return the composition resource name of a Job, whose name begins with that of the volume and a dash."""
    return f"hydration-{place.site.cluster}-{job}"


def pods_resource(cluster: str) -> str:
    """Return the composition resource name of the collection that observes the download's pods on a cluster."""
    return f"{_PODS}{cluster}"


def is_pods_resource(name: str) -> bool:
    """Tell whether a composition resource is such a collection."""
    return name.startswith(_PODS)


def _jobs(place: Place) -> list[str]:
    """Return the composition resource names of the Jobs that are observed of the volume, sorted."""
    begin = _resource(place, f"{place.spec.volume}-")
    return sorted(resource for resource in place.request.observed if resource.startswith(begin))


def _observed_job(place: Place) -> _Job | None:
    """Return the Job that was made for this very claim."""
    for resource in _jobs(place):
        found = place.request.observed[resource]
        job = read_remote(found)
        if mapping(mapping(job.wanted.get("metadata")).get("labels")).get(LABEL_FILLS) == place.uid:
            return _Job(resource, held(found.body), job)
    return None


def _new_job(place: Place, taken: Token) -> _Job:
    """Return the Job that would be made now."""
    spec = place.spec
    download = Download(spec.repo, spec.revision, spec.size_gib, taken.reference, taken.version or "")
    job = hydration_job(spec.volume, place.uid, place.site.namespace, download, image=Image.MODELPLANE.reference)
    return _Job(_resource(place, job["metadata"]["name"]), place.site.place(job, ready_when=COMPLETE, watch=True))


def _job(place: Place, taken: Token) -> _Job | None:
    """Return the Job to be.

    One that was made runs on as it is. It gives way to another when its token is no longer beside it, when nothing of
    it runs and the image is another one, and when it has failed and what it failed by may have changed: the token, or
    the size of the volume, once that has grown.
    """
    made = _observed_job(place)
    if taken.version is None:
        return made
    new = _new_job(place, taken)
    if made is None or made.of_containers("env") != new.of_containers("env"):
        return new
    if made.seen and idle(made.seen) and made.of_containers("image") != new.of_containers("image"):
        return new
    ended = made.seen is not None and failed(made.seen)
    return new if ended and made.resource != new.resource and not place.grows else made


def fill(place: Place, objects: Manifests) -> Stage:
    """Return how far a claim is that was seen and is not filled, with `objects` and what fills it."""
    taken = token.find(place)
    job = _job(place, taken)
    seen = job.seen if job else None
    objects = {**objects, **taken.copies, **({job.resource: job.body} if job else {})}
    if job and seen and complete(seen) and place.bound:
        filled = {"name": place.spec.volume, "uid": place.uid}
        # Once this is published the Job goes, with its pods: a claim that is deleted waits for finished ones too.
        return Stage(place.site.cluster, Phase.READY, place.caveats(), filled, objects)
    if seen and seen.manifest:
        selector = {"matchLabels": {LABEL_FILLS: place.uid}}
        objects[pods_resource(place.site.cluster)] = CACHE_PODS.observe(place.site, place.request.composite, selector)
    ended = seen is not None and failed(seen)
    lack = taken.lack if ended or not (seen and seen.manifest) else ""
    words = (*_told(place, job, lack), place.caveats() if place.bound else place.unbound())
    unfilled = Phase.HYDRATING if place.bound else Phase.PENDING
    return Stage(
        cluster=place.site.cluster,
        phase=Phase.FAILED if ended else unfilled,
        message="; ".join(filter(None, words)),
        volume=place.last,
        objects=objects,
        lacks_token=bool(lack),
    )


def _told(place: Place, job: _Job | None, lack: str) -> tuple[str, ...]:
    """Return how the Job stands and what its pods say; what it lacks comes first while nothing has begun."""
    seen = job.seen if job else None
    if job is None or seen is None:
        return (lack or "the download is being started",)
    if lack and not failed(seen):
        return (lack,)
    grows = f"goes on once the volume has grown to {place.spec.size_gib} GiB" if failed(seen) and place.grows else ""
    return describe(seen, job.name), CACHE_PODS.messages(place.request).get(place.uid, ""), lack, grows


def kept(place: Place) -> dict[str, Mapping[str, Any]]:
    """Return what fills a volume as it is observed, while the volume itself is out of sight."""
    copy, observed = token.resource(place.site.cluster, place.spec.volume), place.request.observed
    return {resource: held(observed[resource].body) for resource in (*_jobs(place), copy) if resource in observed}
