"""The objects of the control cluster's gateway, and what is observed of it."""

from typing import Final

from modelplane.api.inferencegateway import InferenceGatewaySpec
from modelplane.compose_cluster.public.listeners import FILTERS, GATEWAY, REDIRECT, certificate_in_use
from modelplane.composing import requirements as require
from modelplane.composing.hold import held
from modelplane.composing.references import arrange
from modelplane.kube.gateway.access_log import access_log_filter
from modelplane.kube.gateway.filters import direct_response
from modelplane.kube.gateway.listener_filters import filters_limit, filters_policy, filters_route, no_keys
from modelplane.kube.gateway.proxy import envoy_proxy, gateway_class, public_gateway
from modelplane.kube.gateway.route import UNKNOWN_PATHS, https_redirect, unknown_paths
from modelplane.kube.gateway.traffic import CALLERS_BUFFER, LARGE_BUFFER, client_traffic_policy, gateway_traffic_policy
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
    passed_name,
)
from modelplane.observed.fields import mapping, text
from modelplane.observed.gateway import choose_address, read_certificate, serves
from modelplane.step import Manifest, Request

#: Composition resource names.
_CLASS: Final = "gateway-class"
PROXY: Final = "envoy-proxy"
_CALLERS: Final = "client-traffic-policy"
_INTERNAL_CALLERS: Final = "client-traffic-policy-internal"
_LOG: Final = "access-log"
_TRAFFIC: Final = "traffic-policy"
_UNKNOWN: Final = UNKNOWN_PATHS
_NOT_FOUND: Final = "answer-404"
_IN_USE: Final = "gateway-in-use"
_NO_KEYS: Final = "listener-filters-keys"
_FILTERS_LIMIT: Final = "listener-filters-limit"
_FILTERS_ROUTE: Final = "listener-filters-route"

CLASS_NAME: Final = "modelplane"
_REDIRECT_NAME: Final = "https-redirect"
_INTERNAL_NAME: Final = f"{PUBLIC_GATEWAY}-internal"
_NOT_FOUND_MESSAGE: Final = "No service has this path. The base URL of a ModelService is its status.url."


def bodies(
    request: Request, spec: InferenceGatewaySpec, client_pair: str | None, pair: str | None
) -> dict[str, Manifest]:
    """Return the objects of the gateway; the Gateway itself once the objects that configure it exist.

    `client_pair` is the Secret with its client certificate for clusters' gateways and for itself, `pair` the Secret of
    its internal listener; None while there is none.
    """
    around, gateway = _surroundings(request, spec, client_pair), _gateway(request, spec, pair if client_pair else None)
    needs = {} if GATEWAY in request.observed else dict.fromkeys(gateway, around)
    return arrange({**around, **gateway}, needs, dict.fromkeys(request.observed, ()), {})


def _surroundings(request: Request, spec: InferenceGatewaySpec, client_pair: str | None) -> dict[str, Manifest]:
    """Return the objects that configure the Gateway, and so must exist before it."""
    passed = passed_name(text(request.composite.metadata.get("uid")))
    tokens = spec.accessLog is None or spec.accessLog.tokens
    return {
        _CLASS: gateway_class(CLASS_NAME),
        PROXY: envoy_proxy(
            PUBLIC_GATEWAY, SYSTEM_NAMESPACE, replicas=spec.replicas, tokens=tokens, client_pair=client_pair
        ),
        _LOG: access_log_filter(PUBLIC_GATEWAY, SYSTEM_NAMESPACE, PUBLIC_GATEWAY, tokens=tokens, passed=passed),
        _CALLERS: client_traffic_policy(PUBLIC_GATEWAY, SYSTEM_NAMESPACE, PUBLIC_GATEWAY, buffer=_buffer(spec)),
        _TRAFFIC: gateway_traffic_policy(PUBLIC_GATEWAY, SYSTEM_NAMESPACE, PUBLIC_GATEWAY),
        _NOT_FOUND: direct_response(
            UNKNOWN_PATHS, SYSTEM_NAMESPACE, status=404, message=_NOT_FOUND_MESSAGE, code="not_found"
        ),
        _NO_KEYS: no_keys(),
        FILTERS: filters_policy(),
        _FILTERS_LIMIT: filters_limit(),
    }


def _buffer(spec: InferenceGatewaySpec) -> int:
    """Return the bytes of a request that a listener holds, few while there may be services without keys."""
    return LARGE_BUFFER if spec.requireKeys else CALLERS_BUFFER


def _gateway(request: Request, spec: InferenceGatewaySpec, pair: str | None) -> dict[str, Manifest]:
    """Return the Gateway and the objects of its listeners; `pair` is the Secret of the internal one, if any."""
    certificate = spec.tls.secretRef.name if spec.tls else certificate_in_use(request)
    internal = _internal_pair(request, pair) if certificate else None
    made: dict[str, Manifest] = {}
    if internal:
        made[_INTERNAL_CALLERS] = client_traffic_policy(
            _INTERNAL_NAME,
            SYSTEM_NAMESPACE,
            PUBLIC_GATEWAY,
            authority=ROUTER,
            listener=LISTENER_INTERNAL,
            buffer=_buffer(spec),
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
    made[_UNKNOWN] = unknown_paths(UNKNOWN_PATHS, listeners, UNKNOWN_PATHS)
    made[_FILTERS_ROUTE] = filters_route(UNKNOWN_PATHS)
    gateway = request.observed.get(GATEWAY)
    if certificate and gateway and serves(gateway.body, LISTENER_HTTPS):
        made[REDIRECT] = https_redirect(_REDIRECT_NAME)
    return made


def _internal_pair(request: Request, pair: str | None) -> str | None:
    """Return the Secret of the internal listener; once it was used, it stays."""
    gateway = request.observed.get(GATEWAY)
    last = read_certificate(gateway.body, LISTENER_INTERNAL) if gateway else ""
    return last or pair


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
