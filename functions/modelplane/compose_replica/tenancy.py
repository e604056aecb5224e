"""Copies the Secrets and ConfigMaps that a replica names from its team's namespace to its cluster, by reference.

A copy has the name that the engine uses, so all replicas of a team on a cluster share it. One of them, whichever came
first, composes its Object; the others are further owners of that Object, so that Kubernetes deletes it (and with it
the copy) when the last of them is gone, and not before. Whoever finds it without a controller takes it over.
"""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_replica.obstacle import Obstacle
from modelplane.compose_replica.sources import Source, read_sources
from modelplane.composing import requirements as require
from modelplane.composing.hold import held
from modelplane.composing.site import Site
from modelplane.kube.object import PROVIDER_API
from modelplane.model.conditions import Reason
from modelplane.model.names import API_VERSION, composed_name
from modelplane.model.observation import Gap
from modelplane.observed.fields import controller, deleting, mapping, text
from modelplane.step import Object, Request, Requirement


def _resource(source: Source) -> str:
    return f"copy-{source.kind.lower()}-{source.name}"


def _original(source: Source, team: str) -> Requirement:
    return require.source(source.kind, source.name, team)


def _shared(source: Source, team: str, cluster: str) -> Requirement:
    """Return the requirement of the Object that copies a source to the cluster, whoever composed it."""
    name = composed_name(f"{source.kind.lower()}-{source.name}", "copy", team, cluster, source.kind, source.name)
    return Requirement(_resource(source), PROVIDER_API, "Object", name, namespace=team)


def _composed(request: Request) -> set[Source]:
    """Return the sources of the copies that this replica composes already."""
    manifests = {
        resource: mapping(mapping(mapping(found.body.get("spec")).get("forProvider")).get("manifest"))
        for resource, found in request.observed.items()
        if resource.startswith("copy-")
    }
    return {
        Source(text(found.get("kind")), text(mapping(found.get("metadata")).get("name")))
        for found in manifests.values()
    }


def _missing(request: Request, team: str, wanted: Mapping[Source, bool], composed: set[Source]) -> list[str]:
    """Return in words the sources that are not there, though an engine cannot do without them."""
    found = {source: request.one(_original(source, team)) for source in sorted({*wanted, *composed})}
    return [
        f"{source} {'is not fetched yet' if there is Gap.NOT_FETCHED else 'does not exist'} in namespace {team}"
        for source, there in found.items()
        if there is Gap.NOT_FETCHED or (there is Gap.ABSENT and not wanted.get(source, True))
    ]


def _others(request: Request, source: Source, cluster: str) -> list[Object]:
    """Return the other replicas that use a source's copy on the cluster, by name."""
    mine = request.composite.metadata.get("uid")
    fetched = request.all(require.team_replicas(request.composite.namespace))
    there = [
        each
        for each in (() if isinstance(fetched, Gap) else fetched)
        if each.metadata.get("uid") != mine and not deleting(each)
        if mapping(each.body.get("spec")).get("clusterName") == cluster
    ]
    return sorted((each for each in there if source in read_sources(each)), key=lambda each: each.name)


def _is_mine(request: Request, source: Source, cluster: str) -> bool:
    """Tell whether the copy is this replica's to compose: no other one does, and nobody deletes it just now."""
    if source in _composed(request):
        return True
    there = request.one(_shared(source, request.composite.namespace, cluster))
    if not isinstance(there, Object):
        return there is Gap.ABSENT
    return not deleting(there) and controller(there) in ("", text(request.composite.metadata.get("uid")))


def _mine(request: Request, cluster: str) -> list[Source]:
    """Return the sources whose copies are this replica's to compose, though perhaps no engine names them any more."""
    sources = sorted({*read_sources(request.composite), *_composed(request)})
    return [source for source in sources if _is_mine(request, source, cluster)]


def _owner(replica: Object) -> dict[str, Any]:
    uid = replica.metadata.get("uid")
    return {"apiVersion": API_VERSION, "kind": "ModelReplica", "name": replica.name, "uid": uid}


def needs(request: Request, cluster: str) -> tuple[Requirement, ...]:
    """Return what must be looked at for the copies: nothing where no engine names a source.

    Who else uses a copy is asked only by the replica that composes it.
    """
    wanted, composed, team = read_sources(request.composite), _composed(request), request.composite.namespace
    if not wanted and not composed:
        return ()
    originals = [_original(source, team) for source in sorted({*wanted, *composed})]
    shared = [_shared(source, team, cluster) for source in wanted]
    return *originals, *shared, *([require.team_replicas(team)] if _mine(request, cluster) else [])


def lacking(request: Request, cluster: str) -> Obstacle | None:
    """Return what keeps the replica from being composed anew: a source that is not there, or not fetched yet."""
    wanted, composed, team = read_sources(request.composite), _composed(request), request.composite.namespace
    missing = _missing(request, team, wanted, composed)
    if not missing and _mine(request, cluster) and isinstance(request.all(require.team_replicas(team)), Gap):
        missing = [f"ModelReplicas are not fetched yet in namespace {team}"]
    if not missing:
        return None
    return Obstacle(Reason.DEPLOYING, f"{', '.join(missing)}; an engine names it, and waits until it is there")


def copy_sources(request: Request, site: Site) -> dict[str, dict[str, Any]]:
    """Return the Objects of the copies that are this replica's to compose, by resource name, while nothing is lacking.

    They are of what its engines name, and of what it copied and other replicas still use.
    """
    wanted, composed, objects = read_sources(request.composite), _composed(request), {}
    for source in _mine(request, site.cluster):
        resource, original = _resource(source), request.one(_original(source, site.team))
        others = _others(request, source, site.cluster)
        if source not in wanted and not others:
            continue
        if isinstance(original, Object):
            name = _shared(source, site.team, site.cluster).match_name or ""
            objects[resource] = site.place_copy(original.body, name, [_owner(other) for other in others])
        elif source in composed:
            objects[resource] = held(request.observed[resource].body)
    return objects
