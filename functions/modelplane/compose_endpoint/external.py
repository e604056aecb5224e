"""Composes a hand-written ModelEndpoint: the route from the router to an external provider."""

from modelplane.api.modelendpoint import ModelEndpointSpec
from modelplane.compose_endpoint.external_inputs import ExternalInputs, read_inputs, requirements
from modelplane.compose_endpoint.external_objects import compose_objects, hold_objects
from modelplane.compose_endpoint.route_owner import ROUTE
from modelplane.composing.hold import held_result
from modelplane.composing.messages import sentences
from modelplane.composing.requirements import GATEWAY_KINDS, missing_kinds
from modelplane.model.conditions import Condition, EndpointCondition, Reason, Status
from modelplane.model.names import ROUTER, SYSTEM_NAMESPACE, endpoint_hostname
from modelplane.model.observation import Malformed
from modelplane.observed.endpoint import NoAddress, may_serve
from modelplane.observed.gateway import is_accepted, rejection, unaccepted_change
from modelplane.observed.strict import read_strictly
from modelplane.step import AWAITING, Desired, Manifest, Object, Request, Requirement, Result

_KIND = EndpointCondition.ROUTING_READY
#: The port of the router.
_PORT = 443
_OFF = "spec.ready is false: no service sends requests here."
_NO_ROUTER = f"Gateway {SYSTEM_NAMESPACE}/{ROUTER} does not serve yet. Look at its conditions."


def _condition(reason: Reason, message: str = "") -> Condition:
    status = Status.TRUE if reason is Reason.BACKEND_CONFIGURED else Status.FALSE
    return Condition(_KIND, status, reason, message)


def _held(request: Request, needs: tuple[Requirement, ...], *conditions: Condition, status: Manifest) -> Result:
    """Return a result that holds all observed objects, except what would block the gateway's configuration."""
    kept = hold_objects(request)
    return held_result(request, *conditions, needs=needs, schemas=GATEWAY_KINDS, status=status, objects=kept)


def _routing(endpoint: Object, inputs: ExternalInputs, *, ready: bool) -> Manifest:
    """Return `status`, empty while there is no router."""
    router = inputs.gateway.router if inputs.gateway else ""
    if not router:
        return {}
    hostname = endpoint_hostname(endpoint.name, endpoint.namespace)
    return {"routing": {"hostname": hostname, "fqdn": router, "port": _PORT, "ready": ready, "mutualTLS": True}}


def _obstacle(missing: str, inputs: ExternalInputs) -> Condition | None:
    if isinstance(inputs.provider, NoAddress):
        return _condition(inputs.provider.reason, inputs.provider.message)
    if inputs.missing:
        return _condition(Reason.CREDENTIAL_MISSING, sentences(*inputs.missing))
    if missing:
        return _condition(Reason.WAITING_FOR_GATEWAY, missing)
    if inputs.gateway is None:
        return _condition(Reason.WAITING_FOR_GATEWAY, "there is no InferenceGateway default. Create it.")
    if not inputs.gateway.router:
        return _condition(Reason.WAITING_FOR_GATEWAY, _NO_ROUTER)
    return None


def _taken(request: Request) -> Condition:
    """Return RoutingReady: whether the router has accepted the composed objects."""
    route = request.observed.get(ROUTE)
    named = (
        f"{each.kind} {each.name}: {why}" for each in request.observed.values() if (why := rejection(each, ROUTER))
    )
    refused = sorted(named)
    if refused:
        return _condition(Reason.BACKEND_REJECTED, f"Envoy Gateway does not accept {'; '.join(refused)}")
    if route is None or not is_accepted(route, ROUTER):
        return _condition(Reason.WAITING_FOR_GATEWAY, "the router has not accepted the HTTPRoute yet")
    return _condition(Reason.BACKEND_CONFIGURED)


def _shown(route: Object, inputs: ExternalInputs, *, off: bool) -> Condition:
    """Return RoutingReady for an endpoint whose route is accepted: True once its last change is accepted too."""
    unaccepted = unaccepted_change(route, ROUTER)
    if unaccepted:
        return _condition(Reason.WAITING_FOR_GATEWAY, unaccepted)
    return _condition(Reason.BACKEND_CONFIGURED, " ".join(filter(None, (_OFF if off else "", inputs.notes))))


def compose(request: Request) -> Result:
    """Return the provider's objects on the router; hold the observed ones while an input is missing or refused."""
    endpoint, spec = request.composite, read_strictly(ModelEndpointSpec, request.composite)
    if isinstance(spec, Malformed):
        return _held(request, (), _condition(Reason.INVALID_URL, str(spec)), status={})
    needs = requirements(request, spec)
    inputs, missing = read_inputs(request, spec, needs), missing_kinds(request)
    if inputs is None or missing is None:
        return _held(request, needs, status={})
    obstacle = _obstacle(missing, inputs)
    if obstacle or isinstance(inputs.provider, NoAddress):
        found = (obstacle,) if obstacle else ()
        # An endpoint with a route stays a last resort for services, unless its host is no longer allowed or its
        # credential is missing, which may have been removed in order to stop it.
        refused = obstacle is not None and obstacle.reason is Reason.INVALID_HOST
        revoked = spec.credential is not None and inputs.credential is None
        known = ROUTE in request.observed and not refused and not revoked
        status = _routing(endpoint, inputs, ready=False) if known else {}
        return _held(request, needs, *found, status=status)
    taken = _taken(request)
    # The accepted route keeps working while a change waits.
    accepted = taken.status is Status.TRUE
    ready = _shown(request.observed[ROUTE], inputs, off=not may_serve(endpoint)) if accepted else taken
    desired = compose_objects(request, spec, inputs.provider, inputs)
    return Result(
        desired={name: Desired.of(body, ready=name in request.observed) for name, body in desired.items()},
        status=_routing(endpoint, inputs, ready=accepted and may_serve(endpoint)),
        conditions=(ready,),
        requirements=needs,
        schemas=GATEWAY_KINDS,
        ttl=AWAITING,
        ready=ready.status is Status.TRUE,
    )
