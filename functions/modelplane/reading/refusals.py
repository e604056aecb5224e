"""Why no cluster takes another replica of a deployment: the scheduler is asked, and every cluster and pool is named."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from modelplane.model.deployment import Deployment
from modelplane.model.names import GROUP
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import CacheState, FleetView, Footprint, Schedule
from modelplane.model.refusal import SelectorMismatch
from modelplane.model.replica import Replica
from modelplane.observed.cache import read_cache
from modelplane.observed.catalogue import resolve
from modelplane.observed.cluster import read_cluster
from modelplane.observed.deployment import read_deployment
from modelplane.observed.replica import read_replica
from modelplane.reading.reader import Reader, as_object, list_residents
from modelplane.reading.tree import Manifest, mapping
from modelplane.scheduling import schedule
from modelplane.scheduling.matching import lacking
from modelplane.scheduling.words import find_remedy, word, word_holders

_CLUSTER: Final = f"InferenceCluster.{GROUP}"


@dataclass(frozen=True, slots=True)
class ClusterRefusal:
    """Why a cluster takes no other replica: the profile ("" for all), the pool ("" for the cluster), and what helps.

    `help` is "" where the message says it.
    """

    cluster: str
    profile: str
    pool: str
    reason: str
    message: str
    help: str


def find_refusals(reader: Reader, obj: Manifest) -> tuple[tuple[ClusterRefusal, ...], str]:
    """Return why each cluster takes no other replica of a ModelDeployment, or the cluster that takes one now.

    All clusters are asked, also those that its selectors leave out. Nothing is returned of a deployment that cannot be
    read: its conditions say why.
    """
    deployment = find_probe(reader, obj)
    if deployment is None:
        return (), ""
    view, several = find_view(reader, obj), _has_several_engines(deployment)
    outcome = schedule(deployment, view)
    if not isinstance(outcome, Schedule):
        return (), ""
    if not outcome.unplaced:
        return (), ", ".join(each.cluster for each in outcome.placements)
    found = {*_rows(outcome, several=several), *_left_out(deployment, view)}
    # A cluster's refusal is that of its nearest pool; asked alone, each pool has one. Engines may need several pools.
    for alone in () if several else _pools_alone(view):
        of_pools = schedule(deployment, alone)
        if isinstance(of_pools, Schedule):
            found |= {row for row in _rows(of_pools, several=several) if row.pool}
    return tuple(sorted(found, key=lambda row: (row.profile, row.cluster, row.pool))), ""


def _left_out(deployment: Deployment, view: FleetView) -> Iterator[ClusterRefusal]:
    """Yield the clusters that a selector leaves out, which are no candidates of the scheduler."""
    wanted = {**deployment.resolution.selector, **deployment.cluster_selector}
    for cluster in view.candidates if isinstance(view.candidates, tuple) else ():
        if label := lacking(cluster, wanted):
            refusal = SelectorMismatch(*label)
            yield ClusterRefusal(cluster.name, "", "", refusal.reason, word(refusal), find_remedy(refusal))


def _pools_alone(view: FleetView) -> Iterator[FleetView]:
    """Yield views in which each cluster has one of its pools, so that each pool is in one of them."""
    candidates = view.candidates if isinstance(view.candidates, tuple) else ()
    pools = {each.name: each.pools or () for each in candidates}
    for position in range(max(map(len, pools.values()), default=0)):
        some = (each for each in candidates if position < len(pools[each.name]) > 1)
        yield replace(view, candidates=tuple(replace(each, pools=(pools[each.name][position],)) for each in some))


def find_probe(reader: Reader, obj: Manifest) -> Deployment | None:
    """Return a deployment of one replica more, with the profiles of its ClusterModel; None if it cannot be read."""
    read = as_object(reader, obj)
    deployment = read_deployment(read)
    if isinstance(deployment, Malformed):
        return None
    model = reader.get(f"ClusterModel.{GROUP}", None, deployment.model.name) if deployment.model else None
    resolved = resolve(read, deployment, Gap.ABSENT if model is None else as_object(reader, model)).deployment
    # Its own replicas are residents like all others: it has another identity.
    return replace(resolved, replicas=1, uid="")


def find_view(reader: Reader, obj: Manifest) -> FleetView:
    """Return the view of a pass that places a ModelDeployment, with all clusters and replicas of a reader."""
    residents: dict[str, list[Replica]] = {}
    for replica in map(read_replica, list_residents(reader)):
        residents.setdefault(replica.cluster, []).append(replica)
    clusters = tuple(read_cluster(as_object(reader, each)) for each in reader.list(_CLUSTER))
    return FleetView(
        candidates=clusters,
        residents={each.name: tuple(residents.get(each.name, ())) for each in clusters},
        siblings=(),
        cache=_cache(reader, obj),
        namespace=_namespace(reader, obj["metadata"]["namespace"]),
        final=True,
    )


def _cache(reader: Reader, obj: Manifest) -> Footprint | CacheState | Gap | Malformed:
    name = mapping(obj, "spec", "modelCacheRef").get("name")
    if not isinstance(name, str):
        return CacheState.NOT_REQUIRED
    found = reader.get(f"ModelCache.{GROUP}", obj["metadata"]["namespace"], name)
    return Gap.ABSENT if found is None else read_cache(as_object(reader, found))


def _namespace(reader: Reader, name: str) -> Mapping[str, str] | Gap:
    found = reader.get("Namespace", None, name)
    return Gap.NOT_FETCHED if found is None else dict(mapping(found, "metadata", "labels"))


def _has_several_engines(deployment: Deployment) -> bool:
    return any(len(profile.engines) > 1 for profile in deployment.profiles)


def _rows(outcome: Schedule, *, several: bool) -> Iterator[ClusterRefusal]:
    """Yield the reason of each cluster, and of its other pools as far as they are named."""
    for profile, refusals in (outcome.profile_refusals or {"": outcome.refusals}).items():
        for cluster, refusal in sorted(refusals.items()):
            for each in (refusal, *refusal.others):
                holders = outcome.holders.get((cluster, each.pool))
                holding = word_holders(cluster, each.pool, holders) if holders else ""
                text = word(each, name_engine=several, holding=holding)
                yield ClusterRefusal(cluster, profile, each.pool, each.reason, text, find_remedy(each))
