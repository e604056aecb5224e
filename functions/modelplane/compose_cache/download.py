"""Downloads into a claim: the desired Job, the collection that observes its pods, and the progress."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.compose_cache import pull_secrets, token
from modelplane.compose_cache.cluster_staging import ClusterStaging, Manifests, StagingResult
from modelplane.compose_cache.job import COMPLETE, complete, describe, failed, idle
from modelplane.compose_cache.pull_secrets import PullSecrets
from modelplane.compose_cache.token import DownloadToken
from modelplane.composing.hold import held
from modelplane.composing.messages import sentences
from modelplane.composing.pod_messages import CACHE_PODS
from modelplane.kube.hydration import COMMIT, Download, DownloadPod, hydration_job
from modelplane.kube.images import Image, architectures, unnamed_image
from modelplane.model.names import LABEL_FILLS
from modelplane.model.staging import StagingPhase
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.remote import Remote, read_remote

_PODS: Final = "pods-"


@dataclass(frozen=True, slots=True)
class _Job:
    """The Job that fills a claim: its composition resource name, its Object, and the observed Object, if any."""

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

    @property
    def pod(self) -> Mapping[str, Any]:
        """Return the spec of its pods."""
        return mapping(mapping(mapping(self._manifest.get("spec")).get("template")).get("spec"))

    @property
    def commit(self) -> str:
        """Return the commit in its arguments, "" if it resolves the revision itself."""
        args = (arg for each in mappings(self.pod.get("containers")) for arg in each.get("args") or ())
        return next((arg.removeprefix(COMMIT) for arg in args if arg.startswith(COMMIT)), "")

    @property
    def reports(self) -> bool:
        """Tell whether its pods report the commit that they resolve; a Job of an earlier version does not."""
        return bool(self.pod.get("initContainers"))

    @property
    def placed(self) -> tuple[Any, ...]:
        """Return its image, pull secrets and tolerations."""
        return (
            self.of_containers("image"),
            self.pod.get("imagePullSecrets"),
            list(mappings(self.pod.get("tolerations"))),
        )

    def of_containers(self, field: str) -> list[Any]:
        """Return the values of a field of its containers, such as `env`, which refers to the token."""
        return [each.get(field) for each in mappings(self.pod.get("containers"))]


def _resource(staging: ClusterStaging, job: str) -> str:
    """Return the composition resource name of a Job: the volume's, a dash, and the rest of the Job's name."""
    return f"hydration-{staging.site.cluster}-{job}"


def pods_resource(cluster: str) -> str:
    """Return the composition resource name of the collection that observes the download's pods on a cluster."""
    return f"{_PODS}{cluster}"


def is_pods_resource(name: str) -> bool:
    """Tell whether a composition resource is such a collection."""
    return name.startswith(_PODS)


def _jobs(staging: ClusterStaging) -> list[str]:
    """Return the composition resource names of the volume's observed Jobs, sorted."""
    begin = _resource(staging, f"{staging.spec.volume}-")
    return sorted(resource for resource in staging.request.observed if resource.startswith(begin))


def _observed_job(staging: ClusterStaging) -> _Job | None:
    """Return the observed Job of this claim, None without one."""
    for resource in _jobs(staging):
        found = staging.request.observed[resource]
        job = read_remote(found)
        if mapping(mapping(job.wanted.get("metadata")).get("labels")).get(LABEL_FILLS) == staging.uid:
            return _Job(resource, held(found.body), job)
    return None


def _new_job(staging: ClusterStaging, found: DownloadToken, pulls: PullSecrets, made: _Job | None) -> _Job:
    """Return the Job that would be created now, instead of the one that was `made`.

    If the running Job resolves the revision itself, so does the new one: it finds the pinned commit.
    """
    spec, resolving = staging.spec, made and not made.commit and not (made.seen and failed(made.seen))
    commit = "" if resolving else staging.commit
    source = Download(spec.repo, spec.revision, spec.size_gib, found.reference, found.version or "", commit)
    runs = DownloadPod(Image.MODELPLANE.reference, architectures(), pulls.names, staging.user, staging.tolerations)
    job = hydration_job(spec.volume, staging.uid, staging.site.namespace, source, runs)
    body = staging.site.place_keeping_cluster(job, ready_when=COMPLETE, watch=True)
    return _Job(_resource(staging, job["metadata"]["name"]), body)


def _job(staging: ClusterStaging, found: DownloadToken, pulls: PullSecrets) -> _Job | None:
    """Return the desired Job.

    An existing Job is kept unchanged. It is replaced when its token is no longer copied, when none of its pods runs and
    its image, pull secrets or tolerations have changed, and when it has failed and the cause may be gone: another
    token, or a volume that has grown.
    """
    made = _observed_job(staging)
    if found.version is None or not pulls.complete or unnamed_image():
        return made
    new = _new_job(staging, found, pulls, made)
    if made is None or made.of_containers("env") != new.of_containers("env"):
        return new
    if made.seen and idle(made.seen) and made.placed != new.placed:
        return new
    ended = made.seen is not None and failed(made.seen)
    return new if ended and made.resource != new.resource and not staging.grows else made


def download(staging: ClusterStaging, objects: Manifests) -> StagingResult:
    """Return the result for an observed claim that is not filled: `objects`, and the download into it.

    The copies of Secrets are removed when a download has failed, and created again for the next try.
    """
    found, pulls = token.find(staging), pull_secrets.find(staging)
    job = _job(staging, found, pulls)
    seen = job.seen if job else None
    ended = seen is not None and failed(seen)
    copies = {} if ended else {**found.copies, **pulls.copies}
    objects = {**objects, **copies, **({job.resource: job.body} if job else {})}
    cluster = staging.site.cluster
    done = job is not None and seen is not None and complete(seen)
    if job and done and staging.bound and (brought := _brought(staging, job)) is not None:
        filled = {"name": staging.spec.volume, "uid": staging.uid} | ({"commit": brought} if brought else {})
        # Once this is published the Job is removed with its pods: a claim's deletion waits even for finished pods.
        return StagingResult(cluster, StagingPhase.READY, staging.caveats(), filled, objects)
    if seen and seen.manifest:
        selector = {"matchLabels": {LABEL_FILLS: staging.uid}}
        objects[pods_resource(cluster)] = CACHE_PODS.observe(staging.site, staging.request.composite, selector)
    missing = sentences(found.missing, pulls.missing) if ended or not (seen and seen.manifest) else ""
    messages = (*_messages(staging, job, missing), staging.caveats() if staging.bound else staging.unbound())
    unfilled = StagingPhase.HYDRATING if staging.bound else StagingPhase.PENDING
    return StagingResult(
        cluster=cluster,
        phase=StagingPhase.FAILED if ended else unfilled,
        message=sentences(*messages),
        volume=staging.last,
        objects=objects,
        lacks_secret=bool(missing),
    )


def _brought(staging: ClusterStaging, job: _Job) -> str | None:
    """Return the commit that a Job has downloaded, "" if it cannot be known, None until its report is observed."""
    return job.commit or staging.reported or (None if job.reports else "")


def _messages(staging: ClusterStaging, job: _Job | None, missing: str) -> tuple[str, ...]:
    """Return the state of the Job and its pods' messages; a missing token comes first while there is no Job."""
    seen = job.seen if job else None
    if job is None or seen is None:
        return (sentences(missing, "" if job else unnamed_image()) or "the download is starting",)
    if missing and not failed(seen):
        return (missing,)
    size = staging.spec.size_gib
    grows = f"continues once the volume has grown to {size} GiB" if failed(seen) and staging.grows else ""
    return describe(seen, job.name), CACHE_PODS.messages(staging.request).get(staging.uid, ""), missing, grows


def held_download(staging: ClusterStaging) -> dict[str, Mapping[str, Any]]:
    """Return the held objects of a download while its volume is not observed."""
    observed = staging.request.observed
    copies = [token.resource(staging.site.cluster, staging.spec.volume)]
    copies += [pull_secrets.resource(staging, name) for name in staging.spec.pull_secrets]
    return {resource: held(observed[resource].body) for resource in (*_jobs(staging), *copies) if resource in observed}
