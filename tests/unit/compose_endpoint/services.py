"""ModelServices as test input, and what they say."""

from typing import Any

from modelplane.model.routing import Endpoint, ServiceEntry
from property.routes import address
from property.services import Service

READY = Endpoint("e-1", {"app": "a"}, address("e-1"), ready=True)
CANARY = Endpoint("e-2", {"app": "b"}, address("e-2"), ready=True)
STARTING = Endpoint("e-3", {"app": "a"}, address("e-3"), ready=False)
SPLIT = (ServiceEntry("main", {"app": "a"}, weight=90), ServiceEntry("canary", {"app": "b"}, weight=10))


def conditions(service: Service) -> dict[str, tuple[str, str, str]]:
    found = service.reconcile().conditions
    return {each.type: (each.status.value, str(each.reason), each.message) for each in found}


def accept(service: Service, kind: str, status: str = "True", message: str = "") -> None:
    """Write the status that Envoy Gateway gives to the objects of a kind."""
    condition = {"type": "Accepted", "status": status, "message": message}
    gateway = {"name": "public-gateway", "namespace": "modelplane-system"}
    for body in service.store.values():
        if body["kind"] != kind:
            continue
        body["status"] = {
            "HTTPRoute": {"parents": [{"parentRef": gateway, "conditions": [condition]}]},
            "BackendTrafficPolicy": {"ancestors": [{"ancestorRef": gateway, "conditions": [condition]}]},
        }.get(kind, {"conditions": [condition]})


def settled(**fields: Any) -> Service:
    service = Service(**fields)
    service.settle()
    return service


def states(**by_name: str) -> list[dict[str, str]]:
    """Return endpoints as a status lists them; e1 stands for e-1."""
    return [{"name": f"e-{name[1:]}", "state": state} for name, state in by_name.items()]


def rule(service: Service) -> dict[str, Any]:
    assert service.route is not None
    found: dict[str, Any] = service.route["spec"]["rules"][0]
    return found
