"""Downloads into a claim: the Job to be, what observes its pods, and how far it is."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.compose_cache import token
from modelplane.compose_cache.cluster_staging import ClusterStaging, Manifests, StagingResult
from modelplane.compose_cache.job import COMPLETE, complete, describe, failed, idle
from modelplane.compose_cache.token import DownloadToken
from modelplane.composing.hold import held
from modelplane.composing.messages import sentences
from modelplane.composing.pod_messages import CACHE_PODS
from modelplane.kube.hydration import Download, hydration_job
from modelplane.kube.images import Image
from modelplane.model.names import LABEL_FILLS
from modelplane.model.staging import StagingPhase
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.remote import Remote, read_remote

_PODS: Final = "pods-"


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


def _resource(staging: ClusterStaging, job: str) -> str:
    """Return the composition resource name of a Job, whose name begins with that of the volume and a dash."""
    return f"hydration-{staging.site.cluster}-{job}"


def pods_resource(cluster: str) -> str:
    """Return the composition resource name of the collection that observes the download's pods on a cluster."""
    return f"{_PODS}{cluster}"


def is_pods_resource(name: str) -> bool:
    """Tell whether a composition resource is such a collection."""
    return name.startswith(_PODS)


def _jobs(staging: ClusterStaging) -> list[str]:
    """Return the composition resource names of the Jobs that are observed of the volume, sorted."""
    begin = _resource(staging, f"{staging.spec.volume}-")
    return sorted(resource for resource in staging.request.observed if resource.startswith(begin))


def _observed_job(staging: ClusterStaging) -> _Job | None:
    """Return the Job that was made for this very claim."""
    for resource in _jobs(staging):
        found = staging.request.observed[resource]
        job = read_remote(found)
        if mapping(mapping(job.wanted.get("metadata")).get("labels")).get(LABEL_FILLS) == staging.uid:
            return _Job(resource, held(found.body), job)
    return None


def _new_job(staging: ClusterStaging, found: DownloadToken) -> _Job:
    """Return the Job that would be made now."""
    spec = staging.spec
    source = Download(spec.repo, spec.revision, spec.size_gib, found.reference, found.version or "")
    job = hydration_job(spec.volume, staging.uid, staging.site.namespace, source, image=Image.MODELPLANE.reference)
    return _Job(_resource(staging, job["metadata"]["name"]), staging.site.place(job, ready_when=COMPLETE, watch=True))


def _job(staging: ClusterStaging, found: DownloadToken) -> _Job | None:
    """Return the Job to be.

    One that was made runs on as it is. It is replaced when its token is no longer copied, when nothing of it runs and
    the image is another one, and when it has failed and the cause may have changed: the token, or the size of the
    volume, once that has grown.
    """
    made = _observed_job(staging)
    if found.version is None:
        return made
    new = _new_job(staging, found)
    if made is None or made.of_containers("env") != new.of_containers("env"):
        return new
    if made.seen and idle(made.seen) and made.of_containers("image") != new.of_containers("image"):
        return new
    ended = made.seen is not None and failed(made.seen)
    return new if ended and made.resource != new.resource and not staging.grows else made


def download(staging: ClusterStaging, objects: Manifests) -> StagingResult:
    """Return the result of a claim that was observed and is not filled: `objects` and what downloads into it.

    The copy of the token goes with a download that has failed, and comes back with its next try.
    """
    found = token.find(staging)
    job = _job(staging, found)
    seen = job.seen if job else None
    ended = seen is not None and failed(seen)
    objects = {**objects, **({} if ended else found.copies), **({job.resource: job.body} if job else {})}
    cluster = staging.site.cluster
    if job and seen and complete(seen) and staging.bound:
        filled = {"name": staging.spec.volume, "uid": staging.uid}
        # Once this is published the Job goes, with its pods: a claim that is deleted waits for finished ones too.
        return StagingResult(cluster, StagingPhase.READY, staging.caveats(), filled, objects)
    if seen and seen.manifest:
        selector = {"matchLabels": {LABEL_FILLS: staging.uid}}
        objects[pods_resource(cluster)] = CACHE_PODS.observe(staging.site, staging.request.composite, selector)
    missing = found.missing if ended or not (seen and seen.manifest) else ""
    messages = (*_messages(staging, job, missing), staging.caveats() if staging.bound else staging.unbound())
    unfilled = StagingPhase.HYDRATING if staging.bound else StagingPhase.PENDING
    return StagingResult(
        cluster=cluster,
        phase=StagingPhase.FAILED if ended else unfilled,
        message=sentences(*messages),
        volume=staging.last,
        objects=objects,
        lacks_token=bool(missing),
    )


def _messages(staging: ClusterStaging, job: _Job | None, missing: str) -> tuple[str, ...]:
    """Return the state of the Job and what its pods say; a missing token comes first while nothing has begun."""
    seen = job.seen if job else None
    if job is None or seen is None:
        return (missing or "the download is starting",)
    if missing and not failed(seen):
        return (missing,)
    size = staging.spec.size_gib
    grows = f"continues once the volume has grown to {size} GiB" if failed(seen) and staging.grows else ""
    return describe(seen, job.name), CACHE_PODS.messages(staging.request).get(staging.uid, ""), missing, grows


def held_download(staging: ClusterStaging) -> dict[str, Mapping[str, Any]]:
    """Return what downloads into a volume held, while the volume itself is not observed."""
    copy, observed = token.resource(staging.site.cluster, staging.spec.volume), staging.request.observed
    return {resource: held(observed[resource].body) for resource in (*_jobs(staging), copy) if resource in observed}
