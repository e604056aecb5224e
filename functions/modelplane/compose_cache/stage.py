"""Stages a cache on one cluster: its volume, what fills it while it is not filled, and how far that is."""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_cache.cluster_staging import ClusterStaging, StagingResult, volume_resource
from modelplane.compose_cache.download import download, held_download
from modelplane.compose_cache.spec import CacheSpec
from modelplane.composing.site import Site
from modelplane.model.staging import StagingPhase
from modelplane.observed.cluster import read_walls
from modelplane.observed.fields import mapping, text
from modelplane.observed.remote import read_remote
from modelplane.step import Object, Request


def _site(request: Request, spec: CacheSpec, cluster: Object) -> Site:
    """Return where the cache is staged: what was put there stays reached as it was though nothing is published now."""
    published = text(mapping(mapping(cluster.body.get("status")).get("providerConfigRef")).get("name"))
    made = request.observed.get(volume_resource(cluster.name, spec.volume))
    config = published or (read_remote(made).config if made else "")
    return Site(request.composite.namespace, cluster.name, config, read_walls(cluster))


def stage(request: Request, spec: CacheSpec, cluster: Object, last: Mapping[str, Any]) -> StagingResult:
    """Return how a selected cluster is staged; `last` is the volume that was published for it before."""
    site = _site(request, spec, cluster)
    storage = mapping(mapping(cluster.body.get("status")).get("cache"))
    staging = ClusterStaging(request, spec, site, text(storage.get("storageClassName")), last)
    volume = staging.volume()
    if isinstance(volume, str):
        return StagingResult(cluster.name, StagingPhase.PENDING, volume, last)
    namespace = {f"namespace-{cluster.name}": site.place_namespace()}
    if message := staging.wrong_storage_class():
        return StagingResult(cluster.name, StagingPhase.PENDING, message, last, namespace)
    objects = {staging.resource: volume, **namespace}
    if staging.filled and staging.bound:
        return StagingResult(cluster.name, StagingPhase.READY, staging.caveats(), last, objects)
    if staging.filled or staging.deleting:
        return StagingResult(cluster.name, StagingPhase.PENDING, staging.unbound(), last, objects)
    if not staging.uid:
        return StagingResult(
            cluster.name, StagingPhase.PENDING, staging.unbound(), last, objects | held_download(staging)
        )
    return download(staging, objects)
