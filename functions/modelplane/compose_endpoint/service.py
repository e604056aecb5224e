"""Composes a ModelService: one URL of the public gateway over the endpoints that it selects."""

from modelplane.api.modelservice import ModelServiceSpec
from modelplane.compose_endpoint import service_keys
from modelplane.compose_endpoint import service_report as report
from modelplane.compose_endpoint.service_inputs import ServiceInputs, read_inputs, requirements
from modelplane.compose_endpoint.service_objects import compose_objects
from modelplane.composing.hold import held_result
from modelplane.composing.messages import sentences
from modelplane.composing.requirements import GATEWAY_KINDS, missing_kinds
from modelplane.model.conditions import Condition, Reason, ServiceCondition, Status
from modelplane.model.observation import Malformed
from modelplane.observed.strict import read_strictly
from modelplane.step import Request, Result


def _obstacle(missing: str, inputs: ServiceInputs) -> str:
    """Return which prerequisite of a service is missing, "" if none is."""
    if missing:
        return missing
    if inputs.gateway is None:
        return sentences("there is no InferenceGateway default", "Create it")
    return "" if inputs.gateway.url else "InferenceGateway default has no address yet"


def compose(request: Request) -> Result:
    """Return the service's Backends and route."""
    spec, last = read_strictly(ModelServiceSpec, request.composite), report.last_status(request.composite)
    if isinstance(spec, Malformed):
        malformed = Condition(ServiceCondition.ROUTING_READY, Status.FALSE, Reason.CONFIGURING, str(spec))
        return held_result(request, malformed, status=last, schemas=GATEWAY_KINDS)
    needs = requirements(request, spec)
    inputs, missing = read_inputs(request, spec, needs), missing_kinds(request)
    if inputs is None or missing is None:
        return held_result(request, needs=needs, status=last, schemas=GATEWAY_KINDS)
    resolved = report.endpoints_resolved(request.composite, inputs)
    obstacle = _obstacle(missing, inputs)
    if obstacle and (inputs.gateway is None or not request.observed):
        # Without the InferenceGateway it is not known whether callers need a key, so the route stays open or closed.
        waiting = report.waiting(obstacle)
        return held_result(request, resolved, waiting, needs=needs, status=last, schemas=GATEWAY_KINDS)
    routed = report.routing_ready(request, spec, inputs)
    return Result(
        desired=compose_objects(request, spec, inputs),
        status=report.status(request, spec, inputs),
        conditions=(resolved, routed),
        requirements=needs,
        schemas=GATEWAY_KINDS,
        ttl=service_keys.ttl(request, spec),
        ready=resolved.status is Status.TRUE and routed.status is Status.TRUE,
    )
