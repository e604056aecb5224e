"""The objects of a ModelService, ordered so that its route never refers to an object that does not exist."""

from collections.abc import Mapping
from typing import Final

from modelplane.api.modelservice import ModelServiceSpec
from modelplane.compose_endpoint.part_names import service_part
from modelplane.compose_endpoint.route_owner import ROUTE, outlive_route
from modelplane.compose_endpoint.service_access import POLICY as CHECKS
from modelplane.compose_endpoint.service_access import SECRET, Access, access_of, compose_access
from modelplane.compose_endpoint.service_inputs import BACKEND, ServiceInputs, observed_backends
from modelplane.composing.hold import held
from modelplane.composing.references import ordered
from modelplane.kube.certificate import authority_config_map
from modelplane.kube.gateway.answers import NO_KEY
from modelplane.kube.gateway.backend import backend
from modelplane.kube.gateway.filters import backend_host, direct_response
from modelplane.kube.gateway.route import ServiceRoute, service_route
from modelplane.kube.gateway.traffic import Traffic, service_traffic_policy
from modelplane.model.names import LISTENER_HTTP
from modelplane.model.routing import BackendReference
from modelplane.observed.gateway import is_accepted, listener_of, read_listeners, read_references
from modelplane.routing.backends import referable
from modelplane.step import Desired, Manifest, Object, Request

#: Composition resource names.
POLICY: Final = "traffic-policy"
_HOST: Final = "endpoint-host"
_AUTHORITY: Final = "authority"
_UNAVAILABLE: Final = "answer-503"
_UNAUTHORIZED: Final = "answer-401"
_NOT_FOUND: Final = "answer-404"
#: The objects that a closed route, which answers 401, refers to.
_CLOSED: Final = frozenset({_UNAUTHORIZED, _NOT_FOUND})
#: The direct responses: status, message and code.
_ANSWERS: Final = {
    _UNAVAILABLE: (503, "No endpoint of this service is ready.", "no_endpoints"),
    _UNAUTHORIZED: (401, f"{NO_KEY} No key of this service is valid now.", "invalid_api_key"),
    _NOT_FOUND: (404, "There is nothing at this path.", "not_found"),
}


def _traffic(spec: ModelServiceSpec, inputs: ServiceInputs) -> Traffic:
    rate = (spec.rateLimit.requests, spec.rateLimit.per) if spec.rateLimit else None
    return Traffic(
        **({"request": spec.timeouts.request, "idle": spec.timeouts.idle} if spec.timeouts else {}),
        affinity=spec.affinity.header if spec.affinity else None,
        rate=rate,
        callers=tuple(key.name for key in spec.keys or ()) if spec.rateLimit and spec.rateLimit.perCaller else (),
        one_endpoint=sum(len(plan.endpoints) for plan in inputs.backends.plans) == 1,
    )


def _fixed(request: Request, spec: ModelServiceSpec, inputs: ServiceInputs) -> dict[str, Manifest]:
    """Return the other objects that the route refers to or depends on, besides Backends."""
    namespace = request.composite.namespace
    answers = {
        part: direct_response(service_part(request, part), namespace, status=status, message=message, code=code)
        for part, (status, message, code) in _ANSWERS.items()
    }
    name, route = service_part(request, POLICY), service_part(request, ROUTE)
    policy = service_traffic_policy(name, namespace, route, _traffic(spec, inputs))
    fixed = {_HOST: backend_host(service_part(request, _HOST), namespace), **answers}
    return fixed | ({POLICY: policy} if policy else {})


def _listeners(inputs: ServiceInputs, route: Object | None) -> tuple[str, ...]:
    """Return the listeners that serve; the route keeps its own while the gateway publishes no URL."""
    gateway = inputs.gateway
    if gateway and gateway.url:
        return gateway.listeners or (listener_of(gateway.url),)
    return (read_listeners(route) if route else ()) or (LISTENER_HTTP,)


def _route(request: Request, inputs: ServiceInputs, access: Access) -> Manifest:
    service, route = request.composite, request.observed.get(ROUTE)
    plans = inputs.backends.plans
    wanted = [BackendReference(service_part(request, f"{BACKEND}{plan.key}"), plan.weight) for plan in plans]
    routed = read_references(route) if route else ()
    exist = {found.name for found in observed_backends(request).values()}
    backends = referable(wanted, routed, exist) if wanted else ()
    refusal = _UNAUTHORIZED if access is Access.CLOSED else None if backends else _UNAVAILABLE
    return service_route(
        ServiceRoute(
            name=service_part(request, ROUTE),
            namespace=service.namespace,
            path=f"/{service.namespace}/{service.name}",
            listeners=_listeners(inputs, route),
            not_found=service_part(request, _NOT_FOUND),
            host=service_part(request, _HOST),
            refusal=service_part(request, refusal) if refusal else None,
            backends=backends,
            served=inputs.served,
        )
    )


def _backends(request: Request, inputs: ServiceInputs) -> dict[str, Manifest]:
    """Return the desired Backends."""
    namespace, wanted = request.composite.namespace, dict[str, Manifest]()
    for plan in inputs.backends.plans:
        part, authority = f"{BACKEND}{plan.key}", service_part(request, _AUTHORITY) if plan.mutual_tls else None
        wanted[part] = backend(
            service_part(request, part), namespace, plan.endpoints, fallback=plan.fallback, authority=authority
        )
    return wanted


def _authority(request: Request, inputs: ServiceInputs) -> dict[str, Manifest]:
    """Return the ConfigMap with the CA that Backends refer to; the observed one while the gateway publishes none."""
    service, last = request.composite, request.observed.get(_AUTHORITY)
    bundle = inputs.gateway.ca_bundle if inputs.gateway else ""
    if bundle:
        return {_AUTHORITY: authority_config_map(service_part(request, _AUTHORITY), service.namespace, bundle)}
    return {_AUTHORITY: held(last.body)} if last else {}


def compose_objects(request: Request, spec: ModelServiceSpec, inputs: ServiceInputs) -> Mapping[str, Desired]:
    """Return the objects of a service in this pass, by composition resource name."""
    observed = request.observed
    fixed, authority = _fixed(request, spec, inputs), _authority(request, inputs)
    access = access_of(request, spec, inputs)
    secured = {_AUTHORITY} if any(plan.mutual_tls for plan in inputs.backends.plans) else set()
    wanted = {**fixed, **authority, **_backends(request, inputs), **compose_access(request, spec, inputs, access)}
    wanted[ROUTE] = _route(request, inputs, access)
    routed = _CLOSED if access is Access.CLOSED else fixed.keys() | authority.keys() | secured
    checking = {SECRET} & wanted.keys()
    bodies = outlive_route(request, ordered(wanted, {ROUTE: routed, CHECKS: checking}, observed))
    ready = {name for name, found in observed.items() if name != ROUTE or is_accepted(found)}
    return {name: Desired.of(body, ready=name in ready) for name, body in bodies.items()}
