"""Who may call a service: whether its route lets requests through, and the policy that checks the keys of callers.

Until the gateway has accepted the policy that checks keys, a route is closed: it answers 401 itself. A policy that is
only composed could take effect after the route.
"""

from enum import StrEnum
from typing import Final

from modelplane.api.modelservice import ModelServiceSpec
from modelplane.compose_endpoint.part_names import service_part
from modelplane.compose_endpoint.route_owner import ROUTE
from modelplane.compose_endpoint.service_inputs import ServiceInputs
from modelplane.composing.hold import held
from modelplane.kube.gateway.security import caller_keys, security_policy
from modelplane.observed.fields import mapping
from modelplane.observed.gateway import checks_keys, is_current, read_references, rejection
from modelplane.observed.service import OPEN, OPENED, has_lost_keys, needs_no_key
from modelplane.step import Manifest, Request

#: Composition resource names.
POLICY: Final = "security-policy"
SECRET: Final = "caller-keys"  # noqa: S105 - a name


class Access(StrEnum):
    """Which requests a route lets through: all, those with a key, or none."""

    OPEN = "Open"
    CHECKED = "Checked"
    CLOSED = "Closed"


def access_of(request: Request, spec: ModelServiceSpec, inputs: ServiceInputs) -> Access:
    """Return the access of the route in this pass.

    An open route whose service is given keys stays open until the keys are checked: otherwise it would refuse callers
    with a key for a while. `status.keys` distinguishes it from a route that has lost its policy, which is closed at
    once.
    """
    if not (spec.keys or (inputs.gateway and inputs.gateway.requires_keys)):
        return Access.OPEN
    route, policy = request.observed.get(ROUTE), request.observed.get(POLICY)
    if not inputs.keys.usable or route is None or (policy and rejection(policy)):
        return Access.CLOSED
    forwards, was_open = bool(read_references(route)), needs_no_key(request.composite)
    published = bool(mapping(request.composite.body.get("status")).get("keys"))
    if policy and checks_keys(policy) and (is_current(policy) or (forwards and published and not was_open)):
        return Access.CHECKED
    return Access.OPEN if forwards and was_open else Access.CLOSED


def published_keys(request: Request, spec: ModelServiceSpec, inputs: ServiceInputs) -> str:
    """Return `status.keys`."""
    if access_of(request, spec, inputs) is not Access.OPEN:
        return str(len(inputs.keys.usable))
    return OPENED if not spec.keys and has_lost_keys(request.composite) else OPEN


def compose_access(
    request: Request, spec: ModelServiceSpec, inputs: ServiceInputs, access: Access
) -> dict[str, Manifest]:
    """Return the policy, and the Secret with the keys that it checks.

    The policy stays while a route that should be closed still lets requests through.
    """
    made = {SECRET: _secret(request, inputs), POLICY: _policy(request, spec, inputs, access)}
    return {name: body for name, body in made.items() if body}


def _secret(request: Request, inputs: ServiceInputs) -> Manifest | None:
    service = request.composite
    if not inputs.keys.usable:
        return None
    return caller_keys(service_part(request, SECRET), service.namespace, inputs.keys.usable)


def _policy(request: Request, spec: ModelServiceSpec, inputs: ServiceInputs, access: Access) -> Manifest | None:
    service, policy, route = request.composite, request.observed.get(POLICY), request.observed.get(ROUTE)
    wanted, closing = bool(inputs.keys.usable), access is Access.CLOSED and route and read_references(route)
    if not wanted and closing:
        return held(policy.body) if policy else None
    return security_policy(
        service_part(request, POLICY),
        service.namespace,
        service_part(request, ROUTE),
        keys=service_part(request, SECRET) if wanted else None,
        origins=spec.cors.allowOrigins if spec.cors else (),
    )
