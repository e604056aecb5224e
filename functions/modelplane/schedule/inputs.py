"""What a scheduling pass looks at: stated as requirements, read from the request into a `FleetView`.

Asked for in stages: own replicas are at hand, their clusters come by name, and only what the decision turns on comes
after that. Each stage repeats what the stages before asked for, so the requirements only grow and Crossplane's
requirement loop ends.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

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
from modelplane.scheduling import schedule
from modelplane.step import Object, Request, Requirement

#: Crossplane calls a function at most six times a pass; a decision that is not stable by then fails the reconcile.
MAX_STAGES = 5

_Cache = Footprint | CacheState | Gap | Malformed
#: Every ModelReplica of the fleet: all namespaces, and no label, so that hand-written ones count too.
FLEET = Requirement("fleet", API_VERSION, "ModelReplica")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The requirements of a pass so far, what was fetched of them, and the outcome.

    Both are None while something is not fetched, the outcome alone where nothing more can be. `catalogued` is the
    deployment with the profiles of its ClusterModel, if it names one.
    """

    requirements: tuple[Requirement, ...]
    catalogued: Catalogued
    view: FleetView | None = None
    outcome: Schedule | None = None


def _merge(one: Needs, other: Needs) -> Needs:
    return Needs(**{part.name: getattr(one, part.name) | getattr(other, part.name) for part in fields(Needs)})


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


def _require(deployment: Deployment, needs: Needs, cache: _Cache) -> Iterator[Requirement]:
    """Yield the requirements for the needs, in a stable order."""
    if deployment.model is not None:
        yield require.cluster_model(deployment.model.name)
    yield from (require.cluster(name) for name in sorted(needs.clusters))
    if deployment.cache is not None:
        yield _cache(deployment)
    yield from (require.residents(name) for name in sorted(needs.residents))
    if needs.candidates and cache is not Gap.NOT_FETCHED:
        candidates = _candidates(deployment, cache)
        if candidates is not None:
            yield candidates
    if needs.fleet:
        yield FLEET
    if needs.namespace:
        yield require.namespace(deployment.namespace)


def _view(request: Request, deployment: Deployment, needs: Needs, own: tuple[Replica, ...], cache: _Cache) -> FleetView:
    """Return what was fetched of the needs; what was not asked for is `NOT_FETCHED` even if it is in the request."""
    candidates: tuple[Cluster, ...] | Gap = Gap.NOT_FETCHED
    if needs.candidates:
        wanted = _candidates(deployment, cache)
        listed = request.all(wanted) if wanted is not None else ()
        candidates = listed if isinstance(listed, Gap) else tuple(read_cluster(obj) for obj in listed)
    fleet = request.all(FLEET) if needs.fleet else Gap.NOT_FETCHED
    residents = {name: request.all(require.residents(name)) for name in needs.residents}
    return FleetView(
        own=own,
        clusters={name: _read_one_cluster(request, name) for name in needs.clusters},
        candidates=candidates,
        residents={name: _replicas(found) for name, found in residents.items() if not isinstance(found, Gap)},
        fleet=fleet if isinstance(fleet, Gap) else _replicas(fleet),
        cache=cache,
        listed=listed_replicas(request.composite),
        namespace=require.namespace_labels(request, deployment.namespace) if needs.namespace else Gap.NOT_FETCHED,
    )


def _catalogue(request: Request, deployment: Deployment) -> Catalogued | None:
    """Return the deployment with the profiles of the ClusterModel that it may name, None while that is not fetched."""
    if deployment.model is None:
        return Catalogued(deployment, {}, {})
    model = request.one(require.cluster_model(deployment.model.name))
    return None if model is Gap.NOT_FETCHED else resolve(request.composite, deployment, model)


def _named_clusters(request: Request) -> frozenset[str]:
    """Return the clusters of the own replicas, as the names of the composed resources tell."""
    return frozenset(place[0] for name in request.observed if (place := place_of_resource(name)))


def first_requirements(request: Request, deployment: Deployment) -> tuple[Requirement, ...]:
    """Return what every pass of the deployment asks for. No replica is read for it, so the first call costs little."""
    return tuple(_require(deployment, Needs(clusters=_named_clusters(request)), _read_cache(request, deployment)))


def gather(request: Request, deployment: Deployment, own: tuple[Replica, ...]) -> Inputs:
    """Return the outcome of scheduling with what was fetched, or what has to be fetched before there is one."""
    cache, catalogued = _read_cache(request, deployment), _catalogue(request, deployment)
    needs = Needs(clusters=_named_clusters(request) | {replica.cluster for replica in own if replica.cluster})
    if catalogued is None:
        requirements = tuple(_require(deployment, needs, cache))
        return Inputs(requirements, Catalogued(deployment, {}, {}))
    deployment = catalogued.deployment
    for _ in range(MAX_STAGES):
        requirements = tuple(_require(deployment, needs, cache))
        if any(requirement.name not in request.required for requirement in requirements):
            return Inputs(requirements, catalogued)
        view = _view(request, deployment, needs, own, cache)
        outcome = schedule(deployment, view)
        if isinstance(outcome, Schedule):
            return Inputs(requirements, catalogued, view, outcome)
        needs = _merge(needs, outcome)
    return Inputs(requirements, catalogued, view)
