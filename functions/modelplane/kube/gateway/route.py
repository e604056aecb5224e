"""HTTPRoutes: of a ModelService (composed by `compose_endpoint.service_objects`), and to a replica on its cluster.

That of a replica is composed by `compose_replica.edge`, those of a gateway itself by `compose_cluster`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from modelplane.kube.gateway.backend import backend_reference
from modelplane.kube.gateway.filters import filter_reference
from modelplane.kube.gateway.kinds import GATEWAY_GROUP, gateway_object
from modelplane.kube.gateway.security import KEY_HEADERS
from modelplane.model.names import (
    CLUSTER_GATEWAY,
    HEADER_CALLER,
    HEADER_SERVED,
    LISTENER_HTTP,
    PUBLIC_GATEWAY,
    SYSTEM_NAMESPACE,
)
from modelplane.model.routing import BackendReference

KIND = "HTTPRoute"
#: Name of the route of the public gateway for all paths that no other takes.
UNKNOWN_PATHS: Final = "unknown-paths"
#: Paths of an engine that change it; they are not called from outside its cluster.
_ADMIN_PATHS: Final = ("/v1/load_lora_adapter", "/v1/unload_lora_adapter")
#: Headers with a caller's key, and the caller's name: they are for the gateway alone.
_CALLER_HEADERS: Final = (*KEY_HEADERS, HEADER_CALLER)
#: Where engines serve their API.
_API: Final = "/v1"


@dataclass(frozen=True, slots=True)
class ServiceRoute:
    """What the route of a ModelService is made of.

    `listeners` are the sections of the public Gateway. `not_found`, `host` and `refusal` name HTTPRouteFilters: the one
    that answers 404, the one that sets the endpoint's hostname, and the one that answers all requests, None while they
    go to `backends`. `served` says by which names the endpoints' engines
    serve, "" where that is not known.
    """

    name: str
    namespace: str
    path: str
    listeners: Sequence[str]
    not_found: str
    host: str
    refusal: str | None
    backends: Sequence[BackendReference]
    served: str = ""


def parent(listener: str | None, gateway: str = PUBLIC_GATEWAY) -> dict[str, str]:
    """Return the reference of a route to a listener of our Gateway; None attaches to all of them."""
    named = {"group": GATEWAY_GROUP, "kind": "Gateway", "name": gateway, "namespace": SYSTEM_NAMESPACE}
    return {**named, "sectionName": listener} if listener else named


def rule(paths: Sequence[str], filters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the rule of a route for all that begins with one of the paths, answered by filters."""
    matches = [{"path": {"type": "PathPrefix", "value": path}} for path in paths]
    return {"matches": matches, **({"filters": list(filters)} if filters else {})}


def forwarding(
    path: str,
    backends: Sequence[Mapping[str, Any]],
    filters: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the rule that sends whatever begins with a path to backends.

    It says that there is no timeout (0s): the gateway's default of 15 s would cut streams.
    """
    return {**rule([path], filters), "timeouts": {"request": "0s"}, "backendRefs": list(map(dict, backends))}


def rewrite_path(to: str, **more: str) -> dict[str, Any]:
    """Return the filter that replaces the path by which a rule matches."""
    return {
        "type": "URLRewrite",
        "urlRewrite": {**more, "path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": to}},
    }


def _headers(served: str) -> dict[str, Any]:
    if not served:
        return {"remove": [*_CALLER_HEADERS, HEADER_SERVED]}
    return {"set": [{"name": HEADER_SERVED, "value": served}], "remove": list(_CALLER_HEADERS)}


def _forwarding(route: ServiceRoute) -> dict[str, Any]:
    """Return the rule that takes `<path>/v1` to `/v1` of the endpoints, without the caller's key."""
    filters = [
        rewrite_path(_API),
        {"type": "RequestHeaderModifier", "requestHeaderModifier": _headers(route.served)},
        filter_reference(route.host),
    ]
    backends = [backend_reference(each) for each in route.backends]
    return forwarding(f"{route.path}{_API}", backends, filters)


def service_route(route: ServiceRoute) -> dict[str, Any]:
    """Return the HTTPRoute of a ModelService."""
    refused = [filter_reference(route.refusal)] if route.refusal else []
    serving = rule([f"{route.path}{_API}"], refused) if refused else _forwarding(route)
    admin = rule([f"{route.path}{path}" for path in _ADMIN_PATHS], [filter_reference(route.not_found)])
    spec = {"parentRefs": list(map(parent, route.listeners)), "rules": [serving, admin]}
    return gateway_object(KIND, route.name, route.namespace, spec)


def https_redirect(name: str) -> dict[str, Any]:
    """Return the HTTPRoute that redirects whatever comes by plain HTTP to HTTPS.

    After 308 a client repeats its request as it was; after 301, which is more common, most send a GET without the body.
    """
    redirect = {"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 308}}
    spec = {"parentRefs": [parent(LISTENER_HTTP)], "rules": [rule(["/"], [redirect])]}
    return gateway_object(KIND, name, SYSTEM_NAMESPACE, spec)


def unknown_paths(name: str, listeners: Sequence[str], refusal: str, gateway: str = PUBLIC_GATEWAY) -> dict[str, Any]:
    """Return the HTTPRoute of a Gateway that answers whatever no other takes, by an HTTPRouteFilter."""
    parents = [parent(each, gateway) for each in listeners]
    spec = {"parentRefs": parents, "rules": [rule(["/"], [filter_reference(refusal)])]}
    return gateway_object(KIND, name, SYSTEM_NAMESPACE, spec)


def replica_route(
    name: str, namespace: str, labels: Mapping[str, str], *, hostname: str, backend: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the route of a cluster's gateway for `/v1` of a replica's own host; `backend` is a backendRef."""
    parents = [parent(None, CLUSTER_GATEWAY)]
    spec = {"parentRefs": parents, "hostnames": [hostname], "rules": [forwarding(_API, [backend])]}
    made = gateway_object(KIND, name, namespace, spec)
    return {**made, "metadata": {**made["metadata"], "labels": dict(labels)}}
