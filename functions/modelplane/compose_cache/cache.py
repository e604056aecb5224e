"""Composes a ModelCache: stages it where it is selected, and lets go of what nobody may mount any more."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.compose_cache import mounts, pods, report, token
from modelplane.compose_cache.spec import CacheSpec, read_spec
from modelplane.compose_cache.stage import stage
from modelplane.kube.object import as_observed, left_behind
from modelplane.model.names import API_VERSION
from modelplane.model.observation import Gap, Malformed
from modelplane.model.staging import Phase
from modelplane.observed.cluster import abandoned
from modelplane.observed.fields import deleting, mapping, mappings, text
from modelplane.observed.remote import read_remote
from modelplane.runtime.step import AWAITING, SETTLED, Condition, Desired, Object, Request, Requirement, Result

Manifests = dict[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Spare:
    """A volume that was composed and is not wanted: of another source, or on a cluster that is not selected."""

    resource: str
    body: Mapping[str, Any]
    cluster: str
    volume: str


def _clusters(spec: CacheSpec) -> Requirement:
    return Requirement("clusters", API_VERSION, "InferenceCluster", match_labels=spec.selector)


def _result(  # noqa: PLR0913 - what a result is made of
    request: Request,
    objects: Mapping[str, Mapping[str, Any]],
    status: Mapping[str, Any],
    conditions: tuple[Condition, ...],
    requirements: tuple[Requirement, ...],
    *,
    ready: bool | None = None,
    settled: bool = False,
) -> Result:
    def stands(resource: str) -> bool:
        return resource in request.observed and read_remote(request.observed[resource]).ready

    return Result(
        desired={name: Desired.of(body, ready=stands(name)) for name, body in sorted(objects.items())},
        status=status,
        conditions=conditions,
        requirements=requirements,
        ttl=SETTLED if settled else AWAITING,
        ready=ready,
    )


def _hold(request: Request, requirements: tuple[Requirement, ...], *conditions: Condition) -> Result:
    """Return a result that keeps everything as it is observed."""
    objects = {resource: as_observed(found.body) for resource, found in request.observed.items()}
    return _result(request, objects, report.held(request.composite), conditions, requirements)


def _spares(request: Request, objects: Manifests) -> Iterator[_Spare]:
    """Yield the volumes that are not wanted. One whose Object cannot be read has "" for a cluster or a volume."""
    for resource, found in sorted(request.observed.items()):
        if not resource.startswith("volume-") or resource in objects:
            continue
        references = mappings(mapping(found.body.get("spec")).get("references"))
        clusters = [text(mapping(each.get("dependsOn")).get("name")) for each in references]
        name = text(mapping(read_remote(found).wanted.get("metadata")).get("name"))
        yield _Spare(resource, as_observed(found.body), next(filter(None, clusters), ""), name)


def _reason_to_keep(request: Request, spare: _Spare, now: Mapping[str, Any]) -> str | None:
    """Return why a spare volume stays ("" where it is not worth a word), None when it may go.

    What this pass takes out of the published status stays until a later one, which sees every replica that has read
    it there.
    """
    before = report.published(request.composite).get(spare.cluster, {})
    if not spare.cluster or not spare.volume or spare.volume in (now.get("name"), before.get("name")):
        return ""
    replicas = request.all(mounts.requirement(request.composite))
    if isinstance(replicas, Gap):
        return ""
    users = mounts.users(replicas, request.composite.name, spare.cluster, spare.volume)
    return f"{spare.cluster}: {spare.volume} stays for {', '.join(users)}" if users else None


def _leave(clusters: tuple[Object, ...], objects: Manifests) -> Manifests:
    """Return the Objects, those on an abandoned cluster such that what they put there stays when they go."""
    given_up = {cluster.name for cluster in clusters if abandoned(cluster)}
    return {
        resource: left_behind(body) if body["spec"]["providerConfigRef"]["name"] in given_up else body
        for resource, body in objects.items()
    }


def _staged(request: Request, spec: CacheSpec, needs: tuple[Requirement, ...], clusters: tuple[Object, ...]) -> Result:
    published = report.published(request.composite)
    selected = sorted((each for each in clusters if not deleting(each)), key=lambda each: each.name)
    stages = [stage(request, spec, each, published.get(each.name, {})) for each in selected]
    objects: Manifests = {resource: body for each in stages for resource, body in each.objects.items()}
    volumes, notes = {each.cluster: each.volume for each in stages}, []
    spares = list(_spares(request, objects))
    for spare in spares:
        words = _reason_to_keep(request, spare, volumes.get(spare.cluster, {}))
        leaving = _leave(clusters, {spare.resource: spare.body})[spare.resource]
        if words is not None or leaving != spare.body:
            objects[spare.resource] = leaving
        notes += [words] if words else []
    if spares:
        needs = (*needs, mounts.requirement(request.composite))
    if any(map(pods.is_resource, objects)):
        needs = (*needs, pods.requirement(request.composite))
    ready = bool(stages) and all(each.phase is Phase.READY for each in stages)
    return _result(
        request,
        _leave(clusters, objects),
        report.status(stages),
        report.conditions(stages, notes),
        needs,
        ready=ready,
        settled=ready and not spares,
    )


def compose(request: Request) -> Result:
    """Return the Objects of the cache on all clusters; everything as it is observed while these are not known."""
    spec = read_spec(request.composite)
    if isinstance(spec, Malformed):
        return _hold(request, (), report.refused(spec))
    needs = (_clusters(spec), *([token.requirement(request, spec.secret)] if spec.secret else []))
    clusters = request.all(_clusters(spec))
    if isinstance(clusters, Gap):
        return _hold(request, needs)
    return _staged(request, spec, needs, clusters)
