"""Stages a cache on one cluster: its volume, what fills it while it is not filled, and how far that is."""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_cache.filling import fill, kept
from modelplane.compose_cache.place import Place, Stage, volume_resource
from modelplane.compose_cache.spec import CacheSpec
from modelplane.composing.site import Site
from modelplane.model.staging import Phase
from modelplane.observed.fields import mapping, text
from modelplane.observed.remote import read_remote
from modelplane.step import Object, Request


def _site(request: Request, spec: CacheSpec, cluster: Object) -> Site:
    """Return where the cache is staged: what was put there stays reached as it was though nothing is published now."""
    published = text(mapping(mapping(cluster.body.get("status")).get("providerConfigRef")).get("name"))
    made = request.observed.get(volume_resource(cluster.name, spec.volume))
    return Site(request.composite.namespace, cluster.name, published or (read_remote(made).config if made else ""))


def stage(request: Request, spec: CacheSpec, cluster: Object, last: Mapping[str, Any]) -> Stage:
    """Return how a selected cluster is staged; `last` is the volume that was published for it before."""
    site = _site(request, spec, cluster)
    storage = mapping(mapping(cluster.body.get("status")).get("cache"))
    place = Place(request, spec, site, text(storage.get("storageClassName")), last)
    volume = place.volume()
    if isinstance(volume, str):
        return Stage(cluster.name, Phase.PENDING, volume, last)
    namespace = {f"namespace-{cluster.name}": site.place_namespace()}
    if words := place.misplaced():
        return Stage(cluster.name, Phase.PENDING, words, last, namespace)
    objects = {place.resource: volume, **namespace}
    if place.filled and place.bound:
        return Stage(cluster.name, Phase.READY, place.caveats(), last, objects)
    if place.filled or place.going:
        return Stage(cluster.name, Phase.PENDING, place.unbound(), last, objects)
    if not place.uid:
        return Stage(cluster.name, Phase.PENDING, place.unbound(), last, objects | kept(place))
    return fill(place, objects)
