"""Composes a ModelCache: stages it on the selected clusters, and removes volumes that no replica may mount."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from modelplane.compose_cache import commit, pull_secrets, report, token
from modelplane.compose_cache.download import is_pods_resource
from modelplane.compose_cache.spare_volumes import cluster_of, keep_mounted, spare_volumes
from modelplane.compose_cache.spec import CacheSpec, read_spec
from modelplane.compose_cache.stage import observe, stage
from modelplane.composing import requirements as require
from modelplane.composing.hold import hold_all, last_status
from modelplane.composing.orphan import Policy, is_orphaning, policy_of, waits, with_policy
from modelplane.composing.pod_messages import CACHE_PODS
from modelplane.model.conditions import Condition
from modelplane.model.names import provider_config
from modelplane.model.observation import Gap, Malformed
from modelplane.model.staging import StagingPhase
from modelplane.observed.cluster import read_cluster
from modelplane.observed.fields import deleting, mapping, text, texts
from modelplane.observed.remote import read_remote
from modelplane.step import AWAITING, SETTLED, Desired, Object, Request, Requirement, Result

Manifests = dict[str, Mapping[str, Any]]


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
    def is_ready(resource: str) -> bool:
        return resource in request.observed and read_remote(request.observed[resource]).ready

    return Result(
        desired={name: Desired.of(body, ready=is_ready(name)) for name, body in sorted(objects.items())},
        status=status,
        conditions=conditions,
        requirements=requirements,
        ttl=SETTLED if settled else AWAITING,
        ready=ready,
        cacheable=True,
    )


def _hold(request: Request, requirements: tuple[Requirement, ...], *conditions: Condition) -> Result:
    """Return a result that holds all observed resources."""
    return _result(request, hold_all(request), last_status(request.composite), conditions, requirements)


def _elsewhere(request: Request, clusters: tuple[Object, ...]) -> tuple[Requirement, ...]:
    """Return the requirements of the clusters that have objects and are no longer selected."""
    names = {cluster_of(found.body) for found in request.observed.values()}
    unknown = sorted(names - {"", *(each.name for each in clusters)})
    return tuple(map(require.cluster, unknown))


def _config(body: Mapping[str, Any]) -> str:
    """Return the ClusterProviderConfig of a resource."""
    return text(mapping(mapping(body.get("spec")).get("providerConfigRef")).get("name"))


def _with_policies(
    request: Request, policies: Mapping[str, Policy | None], objects: Manifests, staying: Collection[str]
) -> Manifests:
    """Return the Objects with the policies of their clusters; `policies` are by ClusterProviderConfig.

    An Object that is no longer desired has the policy of its cluster first and is removed in a later pass: otherwise
    the provider would wait for a cluster that does not answer. On the configs `staying` it is not removed.
    """

    def with_its(body: Mapping[str, Any]) -> Mapping[str, Any]:
        return with_policy(body, cluster_of(body), policies.get(_config(body)))

    leaving = {name: body for name, body in hold_all(request).items() if name not in objects}
    first = {
        name: with_its(body) for name, body in leaving.items() if with_its(body) != body or _config(body) in staying
    }
    return {name: with_its(body) for name, body in objects.items()} | first


def _policy(cluster: Object, selected: Collection[str]) -> Policy | None:
    """Return the policy of the Objects of a cluster.

    They leave what they represent there if it is abandoned, and if another selected InferenceCluster of the same
    cluster has the same volume: of those that are selected the first by name deletes it.
    """
    sharing = {cluster.name, *texts(mapping(cluster.body.get("status")).get("sharedWith"))}
    first = min(sharing & set(selected), default=cluster.name)
    return policy_of(cluster, leaves=is_orphaning(cluster) or first != cluster.name)


def _staged(request: Request, spec: CacheSpec, needs: tuple[Requirement, ...], clusters: tuple[Object, ...]) -> Result:
    published, elsewhere = report.published(request.composite), _elsewhere(request, clusters)
    there = [each for each in (*clusters, *map(request.one, elsewhere)) if isinstance(each, Object)]
    selected = sorted((each for each in clusters if not deleting(each)), key=lambda each: each.name)
    policies = {provider_config(each.name): _policy(each, [one.name for one in selected]) for each in there}
    staying = {provider_config(each.name) for each in there if waits(each)}
    stagings = [observe(request, spec, each, published.get(each.name, {})) for each in selected]
    reports = commit.reported(request)
    resolved = commit.resolve(request.composite, spec, stagings, reports)
    known = (replace(each, commit=resolved, reported=reports.get(each.uid, "")) for each in stagings)
    results = [stage(each) for each in known]
    wanted: Manifests = {resource: body for each in results for resource, body in each.objects.items()}
    spares = list(spare_volumes(request, wanted))
    kept, notes = keep_mounted(request, spares, results)
    objects = _with_policies(request, policies, {**wanted, **kept}, staying)
    needs = (*needs, *elsewhere)
    if spares:
        needs = (*needs, require.team_replicas(request.composite.namespace))
    # Even in the pass that removes the collection, because that decision is based on what its pods report.
    if any(map(is_pods_resource, (*objects, *request.observed))):
        needs = (*needs, CACHE_PODS.requirement(request.composite))
    ready = bool(results) and all(each.phase is StagingPhase.READY for each in results)
    return _result(
        request,
        objects,
        report.status(results, resolved, commit.source_of(spec)),
        report.conditions(results, notes),
        needs,
        ready=ready,
        settled=ready and not spares,
    )


def _secrets(request: Request, spec: CacheSpec) -> tuple[Requirement, ...]:
    """Return the requirements of the Secrets that downloads need."""
    named = [token.requirement(request, spec.secret)] if spec.secret else []
    named += [pull_secrets.requirement(request.composite.namespace, name) for name in spec.pull_secrets]
    return tuple({each.name: each for each in named}.values())


def compose(request: Request) -> Result:
    """Return the Objects of the cache on all clusters; hold the observed ones while the clusters are not known."""
    spec = read_spec(request.composite)
    if isinstance(spec, Malformed):
        return _hold(request, (), report.refused(spec))
    needs = (require.clusters(spec.selector), *_secrets(request, spec))
    clusters = request.all(require.clusters(spec.selector))
    if isinstance(clusters, Gap):
        return _hold(request, needs)
    if any(read_cluster(each).allowed is not None for each in clusters):
        needs = (*needs, require.namespace(request.composite.namespace))
        if isinstance(require.namespace_labels(request, request.composite.namespace), Gap):
            return _hold(request, needs)
    return _staged(request, spec, needs, clusters)
