"""The HTTPRoutes from a cluster's gateway to a replica, for `/v1` only."""

from collections.abc import Mapping
from typing import Any

from modelplane.model.names import CLUSTER_GATEWAY, SYSTEM_NAMESPACE

_GATEWAY = {
    "group": "gateway.networking.k8s.io",
    "kind": "Gateway",
    "name": CLUSTER_GATEWAY,
    "namespace": SYSTEM_NAMESPACE,
}


def _rule(path: str, backend: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rule for a path prefix, without timeout (0s): the gateway's default of 15 s would cut streams."""
    return {
        "matches": [{"path": {"type": "PathPrefix", "value": path}}],
        "timeouts": {"request": "0s"},
        "backendRefs": [dict(backend)],
    }


def _route(name: str, namespace: str, labels: Mapping[str, str], spec: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(labels)},
        "spec": {"parentRefs": [dict(_GATEWAY)], **spec},
    }


def host_route(
    name: str, namespace: str, labels: Mapping[str, str], *, hostname: str, backend: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the route for `/v1` of the replica's own host; `backend` is what it refers to (a backendRef)."""
    return _route(name, namespace, labels, {"hostnames": [hostname], "rules": [_rule("/v1", backend)]})


def path_route(
    name: str, namespace: str, labels: Mapping[str, str], *, path: str, backend: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the route for older manifests: `<path>/v1` on any host, rewritten to `/v1`.

    It is a separate route, because a route's hostnames apply to all of its rules.
    """
    rewrite = {
        "type": "URLRewrite",
        "urlRewrite": {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/v1"}},
    }
    rule = _rule(f"{path}/v1", backend) | {"filters": [rewrite]}
    return _route(name, namespace, labels, {"rules": [rule]})
