"""Which listeners of the public gateway services attach to, and how they switch to HTTPS and back.

Services observe the gateway every few seconds, each by itself, and the fleet URL leads to all of them by one listener:
that of HTTP, or the internal one. So what is in use stays until all services are attached to what comes instead.

- To HTTPS: services attach to the internal listener beside that of HTTP. Once all have, HTTPS is published, the fleet
  URL leads to the internal one, and services leave HTTP for HTTPS.
- Back: HTTP is published, and services leave HTTPS. Once none is left there, the fleet URL leads to the listener of
  HTTP, and services leave the internal one.
"""

from typing import Final

from modelplane.api.inferencegateway import InferenceGatewaySpec
from modelplane.composing import requirements as require
from modelplane.model.conditions import ServiceCondition
from modelplane.model.names import LISTENER_HTTPS, LISTENER_INTERNAL, ROUTER_PAIR
from modelplane.observed.endpoint import is_ip
from modelplane.observed.fields import deleting, is_true, mapping, text, texts
from modelplane.observed.gateway import (
    attached_routes,
    is_accepted,
    listener_of,
    read_certificate,
    read_listeners,
    serves,
)
from modelplane.observed.memo import once_per_version
from modelplane.step import Object, Request

#: Composition resource names.
GATEWAY: Final = "gateway"
REDIRECT: Final = "https-redirect"
FILTERS: Final = "listener-filters-policy"
_HTTPS: Final = "https://"
_PAUSED: Final = "crossplane.io/paused"
_NO_INTERNAL: Final = (
    f"HTTP is served in spite of spec.tls until there is the listener {LISTENER_INTERNAL}, which comes once "
    f"cert-manager has issued Secret {ROUTER_PAIR}"
)
_UNATTACHED: Final = (
    f"HTTP is served in spite of spec.tls until all ModelServices are attached to the listener {LISTENER_INTERNAL}"
)


def certificate_in_use(request: Request) -> str | None:
    """Return the Secret of an HTTPS listener that stays until no service is attached to it, None without one.

    The internal listener is removed with it.
    """
    gateway = request.observed.get(GATEWAY)
    certificate = read_certificate(gateway.body, LISTENER_HTTPS) if gateway else ""
    in_use = any(_attached_services(request, each) for each in (LISTENER_HTTPS, LISTENER_INTERNAL))
    return certificate if certificate and in_use else None


def _attached_services(request: Request, listener: str) -> int:
    """Return how many routes of services are attached to a listener: all but those that are composed here."""
    gateway = request.observed.get(GATEWAY)
    if gateway is None:
        return 0
    ours = sum(1 for each in request.observed.values() if {"", listener} & {*read_listeners(each)})
    return max(0, attached_routes(gateway.body, listener) - ours)


def _routed_services(request: Request) -> int | None:
    """Return how many services have a route and follow the gateway, None where they are not fetched.

    One that is paused, or that Crossplane cannot reconcile, attaches to nothing new: the others do not wait for it.
    """
    services = request.required.get(require.services().name)
    return None if services is None else sum(map(_follows, services))


@once_per_version
def _follows(service: Object) -> bool:
    paused = mapping(service.metadata.get("annotations")).get(_PAUSED) == "true"
    routed = is_true(service, ServiceCondition.ROUTING_READY) and is_true(service, "Synced")
    return routed and not paused and not deleting(service)


def _unattached(request: Request) -> int | None:
    """Return how many services the internal listener waits for, None while that is not known."""
    expected = _routed_services(request)
    return None if expected is None else max(0, expected - _attached_services(request, LISTENER_INTERNAL))


def read_url(request: Request, spec: InferenceGatewaySpec, address: str) -> str:
    """Return the base URL of the fleet, "" while there is none. Services attach to the listener of its scheme.

    With `spec.tls` it becomes HTTPS once the Gateway serves that with every service, and stays unchanged until then;
    the first URL is never HTTP. The first URL is published once the listener has the filter that checks keys.
    """
    policy, status = request.observed.get(FILTERS), mapping(request.composite.body.get("status"))
    last = text(status.get("url"))
    if not address or not (last or (policy and is_accepted(policy))):
        return ""
    if spec.tls:
        return f"{_HTTPS}{spec.tls.hostname}" if _serves_https(request, last) else last
    return f"http://[{address}]" if is_ip(address) and ":" in address else f"http://{address}"


def _serves_https(request: Request, last: str) -> bool:
    """Tell whether HTTPS serves, with all that was served by HTTP where that was the last URL."""
    gateway = request.observed.get(GATEWAY)
    if gateway is None or not serves(gateway.body, LISTENER_HTTPS):
        return False
    if not last or last.startswith(_HTTPS) or not _leads_the_fleet(request):
        return True
    ready = REDIRECT in request.observed and serves(gateway.body, LISTENER_INTERNAL)
    return ready and _unattached(request) == 0


def _leads_the_fleet(request: Request) -> bool:
    """Tell whether the fleet URL is published."""
    return bool(mapping(request.composite.body.get("status")).get("fleetUrl"))


def waiting(request: Request, spec: InferenceGatewaySpec, url: str) -> str:
    """Return what HTTPS waits for while HTTP is published and serves, "" where it does not wait."""
    gateway = request.observed.get(GATEWAY)
    if not spec.tls or not url or url.startswith(_HTTPS) or gateway is None:
        return ""
    if not serves(gateway.body, LISTENER_INTERNAL):
        return _NO_INTERNAL
    missing = _unattached(request)
    return f"{_UNATTACHED}; {missing} are not yet" if missing else ""


def choose_listeners(request: Request, spec: InferenceGatewaySpec, url: str) -> tuple[str, ...]:
    """Return the listeners that services attach to while `url` is published, "" for none; the public one first.

    The internal one is included once it is programmed, until HTTPS is neither wanted nor used: a route needs an
    existing listener.
    """
    public = listener_of(url or (_HTTPS if spec.tls else ""))
    gateway, status = request.observed.get(GATEWAY), mapping(request.composite.body.get("status"))
    last = LISTENER_INTERNAL in texts(status.get("listeners"))
    there = gateway is not None and bool(read_certificate(gateway.body, LISTENER_INTERNAL))
    serving = gateway is not None and serves(gateway.body, LISTENER_INTERNAL)
    wanted = spec.tls is not None or (last and _attached_services(request, LISTENER_HTTPS) > 0)
    return (public, LISTENER_INTERNAL) if wanted and there and (last or serving) else (public,)
