"""What keeps the filters of keys, origins and limits in the public gateway's listeners, also while no service has any.

Envoy has such a filter in a listener only where some route asks for it. A connection that was opened before the first
such route keeps the filters that it began with, for as long as the listener drains, and new routes: what a caller sends
on it would be let in without a key, and not be limited. So one route asks for all of them from the beginning, on every
listener from its own beginning: services go over from one to another with TLS. Nothing is behind it. Its path is
matched exactly, which comes first in Envoy Gateway's order: the filter of keys is made of it, and does not change with
the keys of services. The filter of the fleet URL names this route too.
"""

from typing import Any, Final

from modelplane.kube.gateway.filters import filter_reference
from modelplane.kube.gateway.kinds import gateway_object
from modelplane.kube.gateway.route import KIND, parent
from modelplane.kube.gateway.security import caller_keys, security_policy
from modelplane.kube.gateway.traffic import Traffic, service_traffic_policy
from modelplane.model.names import SYSTEM_NAMESPACE

#: Name of the route, and of what belongs to it.
LISTENER_FILTERS: Final = "listener-filters"
_PATH: Final = "/.filters"
#: An origin that no page has.
_ORIGIN: Final = "https://origin.invalid"
#: Requests that nobody sends.
_RATE: Final = (1_000_000, "Second")


def no_keys() -> dict[str, Any]:
    """Return the Secret with the keys of that route: it has none."""
    return caller_keys(LISTENER_FILTERS, SYSTEM_NAMESPACE, {})


def filters_policy() -> dict[str, Any]:
    """Return the policy by which the route asks for a key, and names an origin."""
    policy = security_policy(
        LISTENER_FILTERS, SYSTEM_NAMESPACE, LISTENER_FILTERS, keys=LISTENER_FILTERS, origins=[_ORIGIN]
    )
    return policy or {}


def filters_limit() -> dict[str, Any]:
    """Return the policy by which the route has a limit."""
    return service_traffic_policy(LISTENER_FILTERS, SYSTEM_NAMESPACE, LISTENER_FILTERS, Traffic(rate=_RATE)) or {}


def filters_route(not_found: str) -> dict[str, Any]:
    """Return the HTTPRoute, which an HTTPRouteFilter answers."""
    matches = [{"path": {"type": "Exact", "value": _PATH}}]
    rules = [{"matches": matches, "filters": [filter_reference(not_found)]}]
    return gateway_object(KIND, LISTENER_FILTERS, SYSTEM_NAMESPACE, {"parentRefs": [parent(None)], "rules": rules})
