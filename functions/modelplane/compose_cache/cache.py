"""Composes a ModelCache: stages it where it is selected, and lets go of what nobody may mount any more."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.compose_cache import mounts, report, token
from modelplane.compose_cache.filling import is_pods_resource
from modelplane.compose_cache.place import Stage
from modelplane.compose_cache.spec import CacheSpec, read_spec
from modelplane.compose_cache.stage import stage
from modelplane.composing import requirements as require
from modelplane.composing.hold import held, hold_all
from modelplane.composing.orphan import is_orphaning, orphaned, with_orphan_policy
from modelplane.composing.pod_messages import CACHE_PODS
from modelplane.model.conditions import Condition
from modelplane.model.observation import Gap, Malformed
from modelplane.model.staging import Phase
from modelplane.observed.fields import deleting, mapping, mappings, text
from modelplane.observed.remote import read_remote
from modelplane.step import AWAITING, SETTLED, Desired, Object, Request, Requirement, Result

Manifests = dict[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Spare:
    """A volume that was composed and is not wanted: of another source, or on a cluster that is not selected."""

    resource: str
    body: Mapping[str, Any]
    cluster: str
    volume: str


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
    return _result(request, hold_all(request), report.held(request.composite), conditions, requirements)


def _cluster_of(body: Mapping[str, Any]) -> str:
    """Return the cluster that an Object is put on, "" for one that outlives it or cannot be read."""
    references = mappings(mapping(body.get("spec")).get("references"))
    clusters = [text(mapping(each.get("dependsOn")).get("name")) for each in references]
    return next(filter(None, clusters), "")


def _elsewhere(request: Request, clusters: tuple[Object, ...]) -> tuple[Requirement, ...]:
    """Return the requirements of the clusters that something was put on and that are not selected any more."""
    names = {_cluster_of(found.body) for found in request.observed.values()}
    unknown = sorted(names - {"", *(each.name for each in clusters)})
    return tuple(map(require.cluster, unknown))


def _spares(request: Request, objects: Manifests) -> Iterator[_Spare]:
    """Yield the volumes that are not wanted. One whose Object cannot be read has "" for a cluster or a volume."""
    for resource, found in sorted(request.observed.items()):
        if not resource.startswith("volume-") or resource in objects:
            continue
        name = text(mapping(read_remote(found).wanted.get("metadata")).get("name"))
        yield _Spare(resource, held(found.body), _cluster_of(found.body), name)


def _reason_to_keep(request: Request, spare: _Spare, now: Mapping[str, Any]) -> str | None:
    """Return why a spare volume stays ("" where it is not worth a word), None when it may go.

    What this pass takes out of the published status stays until a later one, which sees every replica that has read
    it there.
    """
    before = report.published(request.composite).get(spare.cluster, {})
    if not spare.cluster or not spare.volume or spare.volume in (now.get("name"), before.get("name")):
        return ""
    replicas = request.all(require.team_replicas(request.composite.namespace))
    if isinstance(replicas, Gap):
        return ""
    users = mounts.users(replicas, request.composite.name, spare.cluster, spare.volume)
    return f"{spare.cluster}: {spare.volume} stays for {', '.join(users)}" if users else None


def _keep(request: Request, spares: list[_Spare], stages: list[Stage]) -> tuple[Manifests, list[str]]:
    """Return the Objects of the spare volumes that stay, and in words for whom."""
    now, objects, notes = {each.cluster: each.volume for each in stages}, {}, []
    for spare in spares:
        words = _reason_to_keep(request, spare, now.get(spare.cluster, {}))
        if words is not None:
            objects[spare.resource] = spare.body
        notes += [words] if words else []
    return objects, notes


def _with_orphan_policies(request: Request, policies: Mapping[str, bool | None], objects: Manifests) -> Manifests:
    """Return the Objects with the orphan policy of their clusters (`policies`, by name).

    One that would go is orphaned first and goes in a later pass: the provider would wait for a cluster that does not
    answer.
    """
    going = {name: body for name, body in hold_all(request).items() if name not in objects}
    left = {name: orphaned(body) for name, body in going.items() if policies.get(_cluster_of(body))}
    first = {name: body for name, body in left.items() if body != going[name]}
    at = {name: _cluster_of(body) for name, body in objects.items()}
    kept = {name: with_orphan_policy(body, at[name], orphan=policies.get(at[name])) for name, body in objects.items()}
    return kept | first


def _staged(request: Request, spec: CacheSpec, needs: tuple[Requirement, ...], clusters: tuple[Object, ...]) -> Result:
    published, elsewhere = report.published(request.composite), _elsewhere(request, clusters)
    there = [each for each in (*clusters, *map(request.one, elsewhere)) if isinstance(each, Object)]
    policies = {each.name: is_orphaning(each) for each in there}
    selected = sorted((each for each in clusters if not deleting(each)), key=lambda each: each.name)
    stages = [stage(request, spec, each, published.get(each.name, {})) for each in selected]
    wanted: Manifests = {resource: body for each in stages for resource, body in each.objects.items()}
    spares = list(_spares(request, wanted))
    kept, notes = _keep(request, spares, stages)
    objects = _with_orphan_policies(request, policies, wanted | kept)
    needs = (*needs, *elsewhere)
    if spares:
        needs = (*needs, require.team_replicas(request.composite.namespace))
    if any(map(is_pods_resource, objects)):
        needs = (*needs, CACHE_PODS.requirement(request.composite))
    ready = bool(stages) and all(each.phase is Phase.READY for each in stages)
    return _result(
        request,
        objects,
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
    needs = (require.clusters(spec.selector), *([token.requirement(request, spec.secret)] if spec.secret else []))
    clusters = request.all(require.clusters(spec.selector))
    if isinstance(clusters, Gap):
        return _hold(request, needs)
    return _staged(request, spec, needs, clusters)
