"""Composes the InferenceGateway: the Gateway on the control cluster that every ModelService is reached through."""

from collections.abc import Sequence
from dataclasses import replace

from modelplane.api.inferencegateway import InferenceGatewaySpec
from modelplane.compose_cluster.public import authority, control_stack, fleet_url, router
from modelplane.compose_cluster.public import gateway as public_gateway
from modelplane.compose_cluster.public import listeners as public_listeners
from modelplane.compose_cluster.stack import RESOURCE as STACK
from modelplane.composing import requirements as require
from modelplane.composing.hold import held_result
from modelplane.composing.messages import NO_LOAD_BALANCER, sentences
from modelplane.model.conditions import Condition, GatewayCondition, Reason, Status
from modelplane.model.names import PUBLIC_GATEWAY, SYSTEM_NAMESPACE
from modelplane.model.observation import Malformed
from modelplane.observed.gateway import gateway_obstacles, lacks_address
from modelplane.observed.strict import read_strictly
from modelplane.step import AWAITING, SETTLED, Desired, Manifest, Request, Requirement, Result

_KINDS = (*require.GATEWAY_KINDS, *require.CERTIFICATE_KINDS)


def _requirements(request: Request, spec: InferenceGatewaySpec | None = None) -> tuple[Requirement, ...]:
    needs = (require.services(), require.authorities(), require.pairs(), *require.definitions(request, _KINDS))
    return (*needs, *control_stack.requirements(request, spec)) if spec else needs


def _installing(message: str) -> Condition:
    return Condition(GatewayCondition.CONTROLLER_READY, Status.FALSE, Reason.INSTALLING, message)


def _held(request: Request, *conditions: Condition) -> Result:
    """Return a result that keeps everything as it is observed."""
    return held_result(request, *conditions, needs=_requirements(request), schemas=_KINDS)


def _controller_ready(
    request: Request, spec: InferenceGatewaySpec, address: str, url: str, listeners: Sequence[str]
) -> Condition:
    """Return ControllerReady: whether the Gateway is programmed and has an address, and the router is programmed."""
    gateway = request.observed.get(public_listeners.GATEWAY)
    named = f"Gateway {SYSTEM_NAMESPACE}/{PUBLIC_GATEWAY}"
    if gateway is None:
        return _installing(f"{named} is not composed yet")
    failures = gateway_obstacles(gateway.body)
    if failures:
        remedy = NO_LOAD_BALANCER if lacks_address(gateway.body) else ""
        said = f"{named}: {'; '.join(failures)}"
        return _installing(sentences(said, remedy) if remedy else said)
    if not address:
        metallb = spec.address is not None and spec.address.source == "MetalLB"
        install = (
            "Install MetalLB with the pool of spec.address: this version of Modelplane does not" if metallb else ""
        )
        return _installing(sentences(f"{named} has no address yet", install))
    unissued = authority.obstacles(request)
    if unissued:
        return _installing("; ".join(unissued))
    unserved = router.obstacle(request)
    if unserved:
        return _installing(unserved)
    waiting = public_listeners.waiting(request, spec, url)
    notes = sentences(waiting, fleet_url.obstacle(request, listeners), fleet_url.unlisted(request, listeners))
    return Condition(GatewayCondition.CONTROLLER_READY, Status.TRUE, Reason.CONTROLLER_HEALTHY, notes)


def _status(request: Request, address: str, url: str, listeners: Sequence[str]) -> Manifest:
    name = router.read_name(request)
    services = {"public": fleet_url.SERVICE_NAME} if public_listeners.GATEWAY in request.observed else {}
    services |= {"router": name} if name else {}
    fleet = fleet_url.read_url(request, listeners, url)
    found = {
        "address": address,
        "url": url,
        "listeners": list(listeners) if url else [],
        "fleetUrl": fleet,
        "caBundle": authority.read_bundle(request),
        "services": services,
    }
    return {field: value for field, value in found.items() if value}


def compose(request: Request) -> Result:
    """Return the gateway's objects; nothing before its kinds exist; as observed while the spec is malformed."""
    spec = read_strictly(InferenceGatewaySpec, request.composite)
    if isinstance(spec, Malformed):
        return _held(request, _installing(str(spec)))
    missing, stack = require.missing_kinds(request, _KINDS), control_stack.read(request, spec)
    if missing is None:
        return _held(request)
    installs = control_stack.bodies(request, spec)
    protection = public_gateway.protection(request)
    # What has been composed once is always composed again.
    composed = request.observed.keys() - protection.keys() - {STACK}
    address = public_gateway.read_address(request)
    url = public_listeners.read_url(request, spec, address)
    listeners = public_listeners.choose_listeners(request, spec, url)
    bodies: dict[str, Manifest] = {}
    if composed or (not missing and (stack is None or control_stack.is_usable(stack))):
        client_pair = authority.client_pair(request)
        bodies = {
            **authority.bodies(request),
            **public_gateway.bodies(request, spec, client_pair, router.read_pair(request)),
            **router.bodies(request, public_gateway.CLASS_NAME, spec.replicas),
            **fleet_url.bodies(request, listeners),
        }
    ready = _controller_ready(request, spec, address, url, listeners)
    if missing or not bodies:
        ready = _installing(control_stack.words(request, stack) if stack else missing)
    elif stack and not control_stack.is_usable(stack):
        # What serves serves on, whatever happens to a part.
        ready = replace(ready, message=sentences(ready.message, control_stack.words(request, stack)))
    return Result(
        desired={
            name: Desired.of(body, ready=name in request.observed)
            for name, body in {**bodies, **installs, **protection}.items()
        },
        status=_status(request, address, url, listeners),
        conditions=(ready,),
        requirements=_requirements(request, spec),
        schemas=_KINDS,
        # A first ModelService wakes nothing here: until there is one, it is looked for often.
        ttl=SETTLED if ready.status is Status.TRUE and protection else AWAITING,
        ready=ready.status is Status.TRUE,
    )
