"""Stages a cache on one cluster: its volume, what fills it while it is not filled, and how far that is."""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_cache.filling import fill, kept
from modelplane.compose_cache.place import Place, Stage
from modelplane.compose_cache.site import Site
from modelplane.compose_cache.spec import CacheSpec
from modelplane.kube.object import as_observed
from modelplane.model.staging import Phase
from modelplane.observed.fields import mapping, text
from modelplane.runtime.step import Object, Request


def _namespace(place: Place) -> dict[str, Mapping[str, Any]]:
    """Return the Object of the team's namespace on the cluster."""
    resource = f"namespace-{place.site.cluster}"
    if place.site.config:
        return {resource: place.site.place_namespace()}
    observed = place.request.observed.get(resource)
    return {resource: as_observed(observed.body)} if observed else {}


def stage(request: Request, spec: CacheSpec, cluster: Object, last: Mapping[str, Any]) -> Stage:
    """Return how a selected cluster is staged; `last` is the volume that was published for it before."""
    status = mapping(cluster.body.get("status"))
    config = text(mapping(status.get("providerConfigRef")).get("name"))
    site = Site(request.composite.namespace, cluster.name, config)
    place = Place(request, spec, site, text(mapping(status.get("cache")).get("storageClassName")), last)
    volume = place.volume()
    if isinstance(volume, str):
        return Stage(cluster.name, Phase.PENDING, volume, last)
    objects = {place.resource: volume, **_namespace(place)}
    if place.filled and place.bound:
        return Stage(cluster.name, Phase.READY, place.caveats(), last, objects)
    if place.filled or place.going:
        return Stage(cluster.name, Phase.PENDING, place.unbound(), last, objects)
    if not place.uid:
        return Stage(cluster.name, Phase.PENDING, place.unbound(), last, objects | kept(place))
    return fill(place, objects)
