"""The objects of the control cluster's gateway, and what is observed of it."""

from typing import Final

from modelplane.api.inferencegateway import InferenceGatewaySpec
from modelplane.composing import requirements as require
from modelplane.composing.hold import held
from modelplane.kube.gateway.access_log import access_log_filter
from modelplane.kube.gateway.filters import direct_response
from modelplane.kube.gateway.listener_filters import filters_limit, filters_policy, filters_route, no_keys
from modelplane.kube.gateway.proxy import envoy_proxy, gateway_class, public_gateway
from modelplane.kube.gateway.route import https_redirect, unknown_paths
from modelplane.kube.gateway.traffic import client_traffic_policy, gateway_traffic_policy
from modelplane.kube.usage import protected
from modelplane.model.names import (
    API_VERSION,
    INFERENCE_GATEWAY,
    LISTENER_HTTP,
    LISTENER_HTTPS,
    LISTENER_INTERNAL,
    PUBLIC_GATEWAY,
    ROUTER,
    SYSTEM_NAMESPACE,
)
from modelplane.observed.endpoint import is_ip
from modelplane.observed.fields import mapping, text, texts
from modelplane.observed.gateway import (
    attached_routes,
    choose_address,
    is_accepted,
    read_certificate,
    read_listeners,
    serves,
)
from modelplane.step import Manifest, Request

#: Composition resource names.
GATEWAY: Final = "gateway"
_CLASS: Final = "gateway-class"
PROXY: Final = "envoy-proxy"
_CALLERS: Final = "client-traffic-policy"
_INTERNAL_CALLERS: Final = "client-traffic-policy-internal"
_LOG: Final = "access-log"
_TRAFFIC: Final = "traffic-policy"
_UNKNOWN: Final = "unknown-paths"
_NOT_FOUND: Final = "answer-404"
_REDIRECT: Final = "https-redirect"
_IN_USE: Final = "gateway-in-use"
_NO_KEYS: Final = "listener-filters-keys"
_FILTERS: Final = "listener-filters-policy"
_FILTERS_LIMIT: Final = "listener-filters-limit"
_FILTERS_ROUTE: Final = "listener-filters-route"

CLASS_NAME: Final = "modelplane"
_REDIRECT_NAME: Final = "https-redirect"
_UNKNOWN_NAME: Final = "unknown-paths"
_INTERNAL_NAME: Final = f"{PUBLIC_GATEWAY}-internal"
_NOT_FOUND_MESSAGE: Final = "No service has this path. The base URL of a ModelService is its status.url."


def bodies(
    request: Request, spec: InferenceGatewaySpec, client_pair: str | None, pair: str | None
) -> dict[str, Manifest]:
    """Return the objects of the gateway; the Gateway itself once the objects that configure it exist.

    `client_pair` is the Secret with its client certificate for clusters' gateways and for itself, `pair` the Secret of
    its internal listener; None while there is none.
    """
    tokens = spec.accessLog is None or spec.accessLog.tokens
    made: dict[str, Manifest] = {
        _CLASS: gateway_class(CLASS_NAME),
        PROXY: envoy_proxy(
            PUBLIC_GATEWAY, SYSTEM_NAMESPACE, replicas=spec.replicas, tokens=tokens, client_pair=client_pair
        ),
        _LOG: access_log_filter(PUBLIC_GATEWAY, SYSTEM_NAMESPACE, PUBLIC_GATEWAY, tokens=tokens),
        _CALLERS: client_traffic_policy(PUBLIC_GATEWAY, SYSTEM_NAMESPACE, PUBLIC_GATEWAY),
        _TRAFFIC: gateway_traffic_policy(PUBLIC_GATEWAY, SYSTEM_NAMESPACE, PUBLIC_GATEWAY),
        _NOT_FOUND: direct_response(
            _UNKNOWN_NAME, SYSTEM_NAMESPACE, status=404, message=_NOT_FOUND_MESSAGE, code="not_found"
        ),
        _NO_KEYS: no_keys(),
        _FILTERS: filters_policy(),
        _FILTERS_LIMIT: filters_limit(),
    }
    if made.keys() <= request.observed.keys() or GATEWAY in request.observed:
        certificate = spec.tls.secretRef.name if spec.tls else _certificate_in_use(request)
        internal = _internal_pair(request, pair if client_pair else None) if certificate else None
        if internal:
            made[_INTERNAL_CALLERS] = client_traffic_policy(
                _INTERNAL_NAME, SYSTEM_NAMESPACE, PUBLIC_GATEWAY, authority=ROUTER, listener=LISTENER_INTERNAL
            )
        made[GATEWAY] = public_gateway(
            PUBLIC_GATEWAY,
            SYSTEM_NAMESPACE,
            class_name=CLASS_NAME,
            proxy=PUBLIC_GATEWAY,
            certificate=certificate,
            internal=internal if _INTERNAL_CALLERS in request.observed else None,
        )
        listeners = (LISTENER_HTTPS, *([LISTENER_INTERNAL] if internal else [])) if certificate else (LISTENER_HTTP,)
        made[_UNKNOWN] = unknown_paths(_UNKNOWN_NAME, listeners, _UNKNOWN_NAME)
        made[_FILTERS_ROUTE] = filters_route(_UNKNOWN_NAME)
        gateway = request.observed.get(GATEWAY)
        if certificate and gateway and serves(gateway.body, LISTENER_HTTPS):
            made[_REDIRECT] = https_redirect(_REDIRECT_NAME)
    return made


def _internal_pair(request: Request, pair: str | None) -> str | None:
    """Return the Secret of the internal listener; once it was used, it stays."""
    gateway = request.observed.get(GATEWAY)
    last = read_certificate(gateway.body, LISTENER_INTERNAL) if gateway else ""
    return last or pair


def _certificate_in_use(request: Request) -> str | None:
    """Return the Secret of an HTTPS listener that stays until no service is attached to it, None without one.

    Services observe the gateway every few seconds: each is served as before until it has switched to HTTP.
    """
    gateway = request.observed.get(GATEWAY)
    certificate = read_certificate(gateway.body, LISTENER_HTTPS) if gateway else ""
    if gateway is None or not certificate:
        return None
    ours = (request.observed.get(name) for name in (_UNKNOWN, _FILTERS_ROUTE))
    attached = sum(1 for each in ours if each and {"", LISTENER_HTTPS} & {*read_listeners(each)})
    return certificate if attached_routes(gateway.body, LISTENER_HTTPS) > attached else None


def protection(request: Request) -> dict[str, Manifest]:
    """Return the ClusterUsage that keeps the InferenceGateway while there is a ModelService; held if not known."""
    services = request.required.get(require.services().name)
    if services is None:
        found = request.observed.get(_IN_USE)
        return {_IN_USE: held(found.body)} if found else {}
    reason = "ModelServices are reached through it; delete them first"
    return {_IN_USE: protected(API_VERSION, "InferenceGateway", INFERENCE_GATEWAY, reason=reason)} if services else {}


def read_address(request: Request) -> str:
    """Return the gateway's address, the last published one until the Gateway is observed, "" while it has none."""
    last = text(mapping(request.composite.body.get("status")).get("address"))
    gateway = request.observed.get(GATEWAY)
    return choose_address(gateway.body, last) if gateway else last


def read_url(request: Request, spec: InferenceGatewaySpec, address: str) -> str:
    """Return the base URL of the fleet, "" while there is none. Services attach to the listener of its scheme.

    With `spec.tls` it becomes HTTPS once the Gateway serves that, and stays unchanged until then; the first URL is
    never HTTP. The first URL is published once the listener has the filter that checks keys.
    """
    gateway, policy = request.observed.get(GATEWAY), request.observed.get(_FILTERS)
    last = text(mapping(request.composite.body.get("status")).get("url"))
    if not address or not (last or (policy and is_accepted(policy))):
        return ""
    if spec.tls:
        return f"https://{spec.tls.hostname}" if gateway and serves(gateway.body, LISTENER_HTTPS) else last
    return f"http://[{address}]" if is_ip(address) and ":" in address else f"http://{address}"


def choose_listeners(request: Request, spec: InferenceGatewaySpec, url: str) -> tuple[str, ...]:
    """Return the listeners that services attach to while `url` is published, "" for none.

    The internal one is included once it is programmed, and then always: a route needs an existing listener.
    """
    if not (url.startswith("https://") if url else spec.tls):
        return (LISTENER_HTTP,)
    gateway, status = request.observed.get(GATEWAY), mapping(request.composite.body.get("status"))
    last = LISTENER_INTERNAL in texts(status.get("listeners"))
    there = gateway is not None and bool(read_certificate(gateway.body, LISTENER_INTERNAL))
    serving = gateway is not None and serves(gateway.body, LISTENER_INTERNAL)
    return (LISTENER_HTTPS, LISTENER_INTERNAL) if there and (last or serving) else (LISTENER_HTTPS,)
