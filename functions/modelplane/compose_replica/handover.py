"""Moves a replica's requests from one kind of edge to the other without dropping any."""

from collections.abc import Mapping
from typing import Any, Final

from modelplane.compose_replica.readiness import Readiness
from modelplane.composing.hold import held
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.remote import Remote
from modelplane.step import Object

_ROUTE: Final = "httproute"
#: Of version 0.1: a second route by a path on any host, and the pool of that route. They go, the route first.
_EARLIER_ROUTE: Final = "httproute-path"
_EARLIER_POOL: Final = "inferencepool-path"
EARLIER: Final = frozenset({_EARLIER_ROUTE, _EARLIER_POOL})
#: The kinds of backends of a route, and what they need to answer.
_BACKENDS: Final = ("service", "inferencepool", "picker")


def belongs_to(resource: str) -> str:
    """Return the kind of backend that a resource belongs to, "" for routes and resources outside the edge."""
    if resource == "service":
        return "Service"
    pool = resource in {"inferencepool", "picker"} or resource.startswith("picker-")
    return "InferencePool" if pool else ""


def backends(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return kind and name of each backend of a route; the other fields are defaults of the server."""
    rules = mappings(mapping(manifest.get("spec")).get("rules"))
    found = [ref for rule in rules for ref in mappings(rule.get("backendRefs"))]
    return [(text(ref.get("kind")) or "Service", text(ref.get("name"))) for ref in found]


def _turned(objects: Mapping[str, Mapping[str, Any]], remotes: Mapping[str, Remote]) -> bool:
    """Tell whether the route on the cluster has its desired backends."""
    remote = remotes.get(_ROUTE)
    wanted = objects[_ROUTE]["spec"]["forProvider"]["manifest"]
    return remote is not None and backends(remote.manifest or {}) == backends(wanted)


def _leads_nowhere(objects: Mapping[str, Mapping[str, Any]], remotes: Mapping[str, Remote]) -> bool:
    """Tell whether a desired backend of the route is not on the cluster yet."""
    there = {
        (text(found.get("kind")), text(mapping(found.get("metadata")).get("name")))
        for remote in remotes.values()
        if (found := remote.manifest)
    }
    return not there.issuperset(backends(objects[_ROUTE]["spec"]["forProvider"]["manifest"]))


def keep_answering(
    objects: Mapping[str, Mapping[str, Any]],
    observed: Mapping[str, Object],
    remotes: Mapping[str, Remote],
    states: Mapping[str, Readiness],
) -> dict[str, dict[str, Any]]:
    """Return the observed objects of the edge that stay unchanged although they are not in the desired `objects`.

    The route is changed once its new backends exist and answer, and its old backends go once it has changed.
    """
    leaving = {resource for resource in observed.keys() - objects.keys() if belongs_to(resource)}
    coming = [resource for resource in _BACKENDS if resource in objects]
    answers = all(resource in states and states[resource].complete for resource in coming)
    stays = _leads_nowhere(objects, remotes)
    if answers and _turned(objects, remotes):
        leaving = set()
    kept = {*leaving, *([_ROUTE] if stays or (leaving and not answers) else [])}
    if _EARLIER_ROUTE in observed:
        kept.add(_EARLIER_POOL)
    return {resource: held(observed[resource].body) for resource in sorted(kept & observed.keys())}
