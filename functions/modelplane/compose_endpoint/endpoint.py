"""Reports how services reach a ModelEndpoint, and whether they can."""

from modelplane.compose_endpoint import external
from modelplane.model.conditions import Condition, EndpointCondition, Reason, Status
from modelplane.observed.endpoint import NoAddress, address_of, is_composed, may_serve
from modelplane.step import ALONE, Request, Result


def compose(request: Request) -> Result:
    """Return `status.routing` and RoutingReady; only a hand-written endpoint composes objects."""
    endpoint = request.composite
    if not is_composed(endpoint):
        return external.compose(request)
    address, kind = address_of(endpoint), EndpointCondition.ROUTING_READY
    if isinstance(address, NoAddress):
        refused = Condition(kind, Status.FALSE, address.reason, address.message)
        return Result(status={}, conditions=(refused,), ready=False, ttl=ALONE, cacheable=True)
    routing = {
        "hostname": address.hostname,
        "fqdn": address.fqdn,
        "port": address.port,
        "ready": may_serve(endpoint),
        **({"mutualTLS": True} if address.mutual_tls else {}),
    }
    reached = Condition(kind, Status.TRUE, Reason.BACKEND_CONFIGURED)
    return Result(status={"routing": routing}, conditions=(reached,), ready=True, ttl=ALONE, cacheable=True)
