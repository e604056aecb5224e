"""The inputs of a scheduling pass: stated as requirements, and read from the request into a `FleetView`.

They are required in stages. The own replicas are observed; their clusters are required by name. Further inputs are
required only if the decision depends on them: candidates are ranked by what they publish, and the replicas of the
chosen ones are read before anything is placed there (see `rounds`). No pass reads the replicas of the whole fleet.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from modelplane.composing import requirements as require
from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.names import API_VERSION, place_of_resource
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import CacheState, FleetView, Footprint, Needs, Schedule
from modelplane.model.replica import Replica
from modelplane.observed.cache import read_cache
from modelplane.observed.catalogue import Catalogued, resolve
from modelplane.observed.cluster import read_cluster
from modelplane.observed.deployment import listed_replicas
from modelplane.observed.replica import read_replica
from modelplane.schedule.found_full import reading_order
from modelplane.schedule.rounds import Rounds, read_rounds, write_rounds
from modelplane.scheduling import schedule
from modelplane.step import Object, Request, Requirement

#: Most stages of one call; the needs of each stage were fetched by an earlier call.
MAX_STAGES = 5

_Cache = Footprint | CacheState | Gap | Malformed


@dataclass(frozen=True, slots=True)
class Inputs:
    """The requirements of a pass so far, what was fetched, and the outcome.

    View and outcome are None while something is not fetched, and the outcome alone if nothing more can be fetched.
    `catalogued` is the deployment with the profiles of its ClusterModel, if it names one. `context` is the state of the
    pass for the next call.
    """

    requirements: tuple[Requirement, ...]
    catalogued: Catalogued
    view: FleetView | None = None
    outcome: Schedule | None = None
    context: Mapping[str, Any] = field(default_factory=dict)


def _cache(deployment: Deployment) -> Requirement:
    return require.cache(deployment.cache or "", deployment.namespace)


def _candidates(deployment: Deployment, cache: _Cache) -> Requirement | None:
    """Return the requirement for the candidate clusters, None when the selectors contradict each other."""
    wanted = dict(deployment.cluster_selector)
    also = [deployment.resolution.selector, cache.selector if isinstance(cache, Footprint) else {}]
    for key, value in [label for selector in also for label in selector.items()]:
        if wanted.setdefault(key, value) != value:
            return None
    return Requirement("candidates", API_VERSION, "InferenceCluster", match_labels=wanted)


def _read_cache(request: Request, deployment: Deployment) -> _Cache:
    if deployment.cache is None:
        return CacheState.NOT_REQUIRED
    found = request.one(_cache(deployment))
    return read_cache(found) if isinstance(found, Object) else found


def _read_one_cluster(request: Request, name: str) -> Cluster | Gap:
    found = request.one(require.cluster(name))
    return read_cluster(found) if isinstance(found, Object) else found


def _replicas(objects: Iterable[Object]) -> tuple[Replica, ...]:
    return tuple(read_replica(obj) for obj in objects)


def _require(deployment: Deployment, needs: Needs, cache: _Cache, *, narrow: bool = False) -> Iterator[Requirement]:
    """Yield the requirements for the needs, in a stable order; `narrow`: a shortlist replaces the candidates."""
    if deployment.model is not None:
        yield require.cluster_model(deployment.model.name)
    yield from (require.cluster(name) for name in sorted(needs.clusters))
    if deployment.cache is not None:
        yield _cache(deployment)
    yield from (require.residents(name) for name in sorted(needs.residents))
    if needs.candidates and cache is not Gap.NOT_FETCHED and not narrow:
        candidates = _candidates(deployment, cache)
        if candidates is not None:
            yield candidates
    if needs.siblings:
        yield require.siblings(deployment.name, deployment.namespace)
    if needs.namespace:
        yield require.namespace(deployment.namespace)


def _read_candidates(request: Request, deployment: Deployment, cache: _Cache) -> tuple[Cluster, ...] | Gap:
    wanted = _candidates(deployment, cache)
    listed = request.all(wanted) if wanted is not None else ()
    return listed if isinstance(listed, Gap) else tuple(read_cluster(obj) for obj in listed)


def _view(
    request: Request, deployment: Deployment, needs: Needs, own: tuple[Replica, ...], rounds: Rounds
) -> FleetView:
    """Return the view of what was fetched for the needs; everything else is `NOT_FETCHED`, even if it was fetched."""
    cache = _read_cache(request, deployment)
    clusters = {name: _read_one_cluster(request, name) for name in needs.clusters}
    candidates: tuple[Cluster, ...] | Gap = Gap.NOT_FETCHED
    if needs.candidates and rounds.shortlist:
        candidates = tuple(found for name in rounds.shortlist if isinstance(found := clusters[name], Cluster))
    elif needs.candidates:
        candidates = _read_candidates(request, deployment, cache)
    siblings = request.all(require.siblings(deployment.name, deployment.namespace)) if needs.siblings else None
    residents = {name: request.all(require.residents(name)) for name in needs.residents}
    return FleetView(
        own=own,
        clusters=clusters,
        candidates=candidates,
        residents={name: _replicas(found) for name, found in residents.items() if not isinstance(found, Gap)},
        siblings=Gap.NOT_FETCHED if siblings is None or isinstance(siblings, Gap) else _replicas(siblings),
        cache=cache,
        listed=listed_replicas(request.composite),
        namespace=require.namespace_labels(request, deployment.namespace) if needs.namespace else Gap.NOT_FETCHED,
        shortlisted=rounds.guess if rounds.shortlist and needs.candidates else None,
        final=rounds.final,
        found_full=reading_order(deployment) if needs.candidates else {},
    )


def _catalogue(request: Request, deployment: Deployment) -> Catalogued | None:
    """Return the deployment with the profiles of its ClusterModel, if it names one; None while that is not fetched."""
    if deployment.model is None:
        return Catalogued(deployment, {}, {})
    model = request.one(require.cluster_model(deployment.model.name))
    return None if model is Gap.NOT_FETCHED else resolve(request.composite, deployment, model)


def _named_clusters(request: Request) -> frozenset[str]:
    """Return the clusters of the own replicas, by the names of the composed resources."""
    return frozenset(place[0] for name in request.observed if (place := place_of_resource(name)))


def first_requirements(request: Request, deployment: Deployment) -> tuple[Requirement, ...]:
    """Return the requirements of every pass of the deployment, without reading a replica: the first call is cheap."""
    return tuple(_require(deployment, Needs(clusters=_named_clusters(request)), _read_cache(request, deployment)))


def gather(request: Request, deployment: Deployment, own: tuple[Replica, ...]) -> Inputs:
    """Return the outcome of scheduling with the inputs fetched so far, or what has to be fetched for one."""
    cache, catalogued, rounds = _read_cache(request, deployment), _catalogue(request, deployment), read_rounds(request)
    named = _named_clusters(request) | {replica.cluster for replica in own if replica.cluster}
    if catalogued is None:
        requirements = tuple(_require(deployment, Needs(clusters=named), cache))
        return Inputs(requirements, Catalogued(deployment, {}, {}), context=write_rounds(rounds))
    deployment = catalogued.deployment
    needs = Needs(clusters=named | rounds.shortlist) | (_fetched(request, deployment) if rounds.calls else Needs())
    fetched: tuple[Requirement, ...] = ()
    view: FleetView | None = None
    for _ in range(MAX_STAGES):
        requirements = tuple(_require(deployment, needs, cache, narrow=bool(rounds.shortlist)))
        if any(requirement.name not in request.required for requirement in requirements):
            if rounds.final:
                break
            return Inputs(requirements, catalogued, context=write_rounds(rounds))
        fetched, view = requirements, _view(request, deployment, needs, own, rounds)
        outcome = schedule(deployment, view)
        if isinstance(outcome, Schedule):
            return Inputs(requirements, catalogued, view, outcome)
        if view.shortlisted is not None and outcome.candidates:
            needs = replace(needs, clusters=needs.clusters - rounds.shortlist | named)
            rounds = replace(rounds, shortlist=frozenset())
        elif outcome.shortlist is not None and rounds.may_narrow:
            rounds = replace(rounds, shortlist=_shortlist(view, outcome), guess=outcome.shortlist)
            needs |= Needs(clusters=rounds.shortlist)
        needs |= outcome
    return Inputs(fetched, catalogued, view)


def _fetched(request: Request, deployment: Deployment) -> Needs:
    """Return what earlier calls of the pass have fetched: no longer requiring it would cost another call."""
    return Needs(
        clusters=require.fetched_clusters(request),
        residents=require.fetched_residents(request),
        namespace=require.namespace(deployment.namespace).name in request.required,
    )


def _shortlist(view: FleetView, outcome: Needs) -> frozenset[str]:
    """Return the candidates whose replicas are or will be read, so that a choice among them is exact."""
    candidates = view.candidates if isinstance(view.candidates, tuple) else ()
    return frozenset(each.name for each in candidates) & (outcome.residents | view.residents.keys())
