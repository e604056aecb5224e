"""Moves a replica's requests from one kind of edge to the other without dropping any."""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_replica.readiness import Readiness
from modelplane.composing.hold import held
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.remote import Remote
from modelplane.step import Object

_ROUTES = ("httproute", "httproute-path")
#: The pool of the route by path. Serving replicas may get it later, so no replica waits for it.
POOL_BY_PATH = "inferencepool-path"
#: The kinds of backends of a route, and what they need to answer.
_BACKENDS = ("service", "inferencepool", "picker")


def belongs_to(resource: str) -> str:
    """Return the kind of backend that a resource belongs to, "" for routes and resources outside the edge."""
    if resource == "service":
        return "Service"
    pool = resource in {"inferencepool", POOL_BY_PATH, "picker"} or resource.startswith("picker-")
    return "InferencePool" if pool else ""


def backends(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return kind and name of each backend of a route; the other fields are defaults of the server."""
    rules = mappings(mapping(manifest.get("spec")).get("rules"))
    found = [ref for rule in rules for ref in mappings(rule.get("backendRefs"))]
    return [(text(ref.get("kind")) or "Service", text(ref.get("name"))) for ref in found]


def _turned(resource: str, objects: Mapping[str, Mapping[str, Any]], remotes: Mapping[str, Remote]) -> bool:
    """Tell whether a route on the cluster has its desired backends."""
    remote = remotes.get(resource)
    wanted = objects[resource]["spec"]["forProvider"]["manifest"]
    return remote is not None and backends(remote.manifest or {}) == backends(wanted)


def _leads_nowhere(route: str, objects: Mapping[str, Mapping[str, Any]], remotes: Mapping[str, Remote]) -> bool:
    """Tell whether a desired backend of a route is not on the cluster yet."""
    there = {
        (text(found.get("kind")), text(mapping(found.get("metadata")).get("name")))
        for remote in remotes.values()
        if (found := remote.manifest)
    }
    return not there.issuperset(backends(objects[route]["spec"]["forProvider"]["manifest"]))


def keep_answering(
    objects: Mapping[str, Mapping[str, Any]],
    observed: Mapping[str, Object],
    remotes: Mapping[str, Remote],
    states: Mapping[str, Readiness],
) -> dict[str, dict[str, Any]]:
    """Return the observed objects of the edge that stay unchanged although they are not in the desired `objects`.

    A route is changed once its new backends exist and answer, and its old backends go once it has changed.
    """
    leaving = sorted(resource for resource in observed.keys() - objects.keys() if belongs_to(resource))
    coming = [resource for resource in _BACKENDS if resource in objects]
    answers = all(resource in states and states[resource].complete for resource in coming)
    routes = [route for route in _ROUTES if route in observed and _leads_nowhere(route, objects, remotes)]
    if not leaving or (answers and all(_turned(route, objects, remotes) for route in _ROUTES)):
        return {route: held(observed[route].body) for route in routes}
    if not answers:
        routes = [route for route in _ROUTES if route in observed]
    return {resource: held(observed[resource].body) for resource in (*leaving, *routes)}
