"""Stages a cache on one cluster: its volume, the download into it, and the progress."""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_cache.cluster_staging import ClusterStaging, StagingResult, volume_resource
from modelplane.compose_cache.download import download, held_download
from modelplane.compose_cache.spec import CacheSpec
from modelplane.composing import requirements as require
from modelplane.composing.messages import sentences
from modelplane.composing.namespace import find_unclaimed
from modelplane.composing.site import Site
from modelplane.model.observation import Gap
from modelplane.model.staging import StagingPhase
from modelplane.observed.cluster import mistaken, read_cluster, read_team_isolation
from modelplane.observed.fields import count, mapping, mappings, text
from modelplane.observed.remote import Remote, read_remote
from modelplane.observed.tolerations import read_tolerations
from modelplane.scheduling.matching import find_not_allowed
from modelplane.scheduling.words import remedy_of, word
from modelplane.step import Object, Request


def _site(request: Request, spec: CacheSpec, cluster: Object) -> Site:
    """Return the site on the cluster; existing objects keep their provider config even if none is published now."""
    published = text(mapping(mapping(cluster.body.get("status")).get("providerConfigRef")).get("name"))
    made = request.observed.get(volume_resource(cluster.name, spec.volume))
    config = published or (read_remote(made).config if made else "")
    return Site(request.composite.namespace, cluster.name, config, read_team_isolation(cluster))


def _tolerations(cluster: Object) -> tuple[Mapping[str, Any], ...]:
    """Return the tolerations of a cluster's pools, in their order and each once."""
    pools = mappings(mapping(cluster.body.get("spec")).get("nodePools"))
    found = (each for pool in pools for each in read_tolerations(pool.get("tolerations")))
    return tuple(each.manifest() for each in dict.fromkeys(found))


def _closed(request: Request, cluster: Object) -> str:
    """Return that a cluster does not accept the cache's namespace, "" if it does."""
    namespace = request.composite.namespace
    labels = require.namespace_labels(request, namespace)
    refusal = find_not_allowed(namespace, read_cluster(cluster), {} if isinstance(labels, Gap) else labels)
    return sentences(f"the cluster is {word(refusal)}", remedy_of([refusal.reason])) if refusal else ""


def observe(request: Request, spec: CacheSpec, cluster: Object, last: Mapping[str, Any]) -> ClusterStaging:
    """Return the inputs for a selected cluster; `last` is the volume that was published for it before."""
    storage = mapping(mapping(cluster.body.get("status")).get("cache"))
    site = _site(request, spec, cluster)
    barred = mistaken(cluster) or _closed(request, cluster)
    user = count(storage.get("runAsUser")) or None
    storage_class, tolerations = text(storage.get("storageClassName")), _tolerations(cluster)
    return ClusterStaging(request, spec, site, storage_class, last, tolerations, user, barred)


def _find_unclaimed(staging: ClusterStaging, seen: Remote | None) -> str:
    """Return why nothing may be created yet in the team's namespace; a download that has begun is exempt."""
    return "" if staging.observed else find_unclaimed(staging.site.team, seen)


def stage(staging: ClusterStaging) -> StagingResult:
    """Return the result for a selected cluster."""
    cluster, last, volume = staging.site.cluster, staging.last, staging.volume()
    if staging.mistaken and not staging.observed:
        volume = staging.mistaken
    if isinstance(volume, str):
        return StagingResult(cluster, StagingPhase.PENDING, volume, last)
    resource, site = f"namespace-{cluster}", staging.site
    found = staging.request.observed.get(resource)
    seen = read_remote(found) if found else None
    unclaimed = _find_unclaimed(staging, seen)
    namespace = {resource: site.claim_namespace(seen) if unclaimed else site.place_namespace(seen)}
    if message := unclaimed or staging.wrong_storage_class() or staging.wrong_commit():
        return StagingResult(cluster, StagingPhase.PENDING, message, last, namespace)
    objects = {staging.resource: volume, **namespace}
    if staging.filled and staging.bound:
        return StagingResult(cluster, StagingPhase.READY, staging.caveats(), last, objects)
    if staging.filled or staging.deleting:
        return StagingResult(cluster, StagingPhase.PENDING, staging.unbound(), last, objects)
    if staging.mistaken or not staging.uid:
        waits = staging.mistaken or staging.unbound()
        return StagingResult(cluster, StagingPhase.PENDING, waits, last, objects | held_download(staging))
    return download(staging, objects)
