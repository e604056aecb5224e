"""What a ModelService reports: its conditions, and the states of its endpoints."""

from typing import Any

import pytest

from modelplane.model.routing import Endpoint, ServiceEntry
from property.routes import address
from property.services import Service
from unit.compose_endpoint.services import READY, accept, conditions, settled, states

#: What is missing before anything is composed, and what RoutingReady says of it.
WAITING: dict[str, tuple[dict[str, Any], str]] = {
    "the kinds": (
        {"kinds": False},
        "the control cluster has no kind GatewayClass (gateway.networking.k8s.io/v1) and "
        "Backend (gateway.envoyproxy.io/v1alpha1). Install Envoy Gateway and its CRDs.",
    ),
    "the InferenceGateway": ({"gateway": None}, "there is no InferenceGateway default. Create it."),
    "its address": ({"gateway": {}}, "InferenceGateway default has no address yet"),
}


@pytest.mark.parametrize(("missing", "message"), WAITING.values(), ids=WAITING)
def test_before_there_is_a_gateway_nothing_is_composed(missing: dict[str, Any], message: str) -> None:
    service = Service(endpoints=[READY], **missing)
    assert service.desired() == {}
    assert conditions(service)["RoutingReady"] == ("False", "WaitingForGateway", message)
    assert conditions(service)["EndpointsResolved"][:2] == ("True", "Resolved")


@pytest.mark.parametrize(
    ("kind", "status", "reason"),
    [
        ("HTTPRoute", "True", "RouteConfigured"),
        ("HTTPRoute", "False", "BackendRejected"),
        ("Backend", "False", "BackendRejected"),
        ("BackendTrafficPolicy", "False", "PolicyRejected"),
        ("BackendTrafficPolicy", "True", "Configuring"),
    ],
)
def test_routing_is_ready_once_the_gateway_has_accepted_the_route(kind: str, status: str, reason: str) -> None:
    service = settled(endpoints=[READY], spec={"timeouts": {"idle": "5m"}})
    accept(service, kind, status, "because")
    found = conditions(service)["RoutingReady"]
    assert found[:2] == (str(reason == "RouteConfigured"), reason)
    assert ("because" in found[2]) == (status == "False")


def test_routing_is_ready_once_the_gateway_has_accepted_the_last_change_of_the_route() -> None:
    service = settled(endpoints=[READY])
    accept(service, "HTTPRoute")
    route = service.store["route"]
    (seen,) = route["status"]["parents"][0]["conditions"]
    route["metadata"]["generation"], seen["observedGeneration"] = 2, 1
    assert conditions(service)["RoutingReady"] == (
        "False",
        "Configuring",
        "Envoy Gateway has not accepted the last change yet. If this stays, look at the pods of its Deployment "
        "envoy-gateway in namespace envoy-gateway-system.",
    )
    seen["observedGeneration"] = 2
    assert conditions(service)["RoutingReady"][0] == "True"


def test_a_service_says_that_its_endpoints_differ_too_much_in_their_names_of_the_model() -> None:
    def resolved(count: int) -> str:
        names = [f"{'e' * 60}-{number}" for number in range(count)]
        others = [Endpoint(name, {}, address(name), ready=True, model="n") for name in names]
        most = [
            Endpoint(f"m-{number}", {}, address(f"m-{number}"), ready=True, model="m") for number in range(count + 1)
        ]
        return conditions(settled(endpoints=[*others, *most]))["EndpointsResolved"][2]

    assert "different names" not in resolved(60)
    assert "Its endpoints serve under too many different names" in resolved(70)
    assert "different names" not in conditions(settled(endpoints=[READY]))["EndpointsResolved"][2]
    starting = Endpoint("starting", {}, address("starting"), ready=False, model="m")
    assert "different names" not in conditions(settled(endpoints=[starting]))["EndpointsResolved"][2]


def test_a_service_says_which_endpoints_its_backends_cannot_hold() -> None:
    many = [Endpoint(f"e-{n}", {}, address(f"e-{n}"), ready=True) for n in range(16 * 256 + 3)]
    found = conditions(Service(endpoints=many))["EndpointsResolved"]
    assert found[:2] == ("True", "Resolved")
    assert "spec.endpoints[0]: 3 endpoints are left out" in found[2]
    status = Service(endpoints=many).reconcile().status
    assert status is not None
    shown = status["entries"][0]["endpoints"]
    assert (len(shown), [each["state"] for each in shown[:4]]) == (64, ["NoRoom"] * 3 + ["Serving"])


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        ({"app": "c"}, "no ModelEndpoint of namespace ml has the labels of its selector"),
        ({"app": "a"}, "what it selects counts for the entries before it"),
    ],
)
def test_a_service_says_which_entry_has_no_endpoint_and_why(selector: dict[str, str], words: str) -> None:
    entries = (ServiceEntry("main", {"app": "a"}, weight=90), ServiceEntry("canary", selector, weight=10))
    found = conditions(settled(entries=entries, endpoints=[READY]))["EndpointsResolved"]
    assert found == ("True", "Resolved", f"1 of 1 endpoints are ready. spec.endpoints[1] has no endpoint: {words}.")


#: Endpoints of a service whose Backends list e-1 now, and what each of them does.
STATES: dict[str, tuple[list[dict[str, Any]], dict[str, str]]] = {
    "ready": ([{"ready": True}], {"e1": "Serving"}),
    "one of two is not": ([{"ready": True}, {"ready": False}], {"e2": "NotReady", "e1": "Serving"}),
    "one of two leaves": ([{"ready": True}, {"ready": True, "leaving": True}], {"e2": "Leaving", "e1": "Serving"}),
    "the last leaves": ([{"ready": True, "leaving": True}], {"e1": "LastResort"}),
    "none is": ([{"ready": False}, {"ready": False}], {"e2": "NotReady", "e1": "LastResort"}),
    "no address": ([{"ready": True}, {"ready": True, "address": None}], {"e2": "NoAddress", "e1": "Serving"}),
}


@pytest.mark.parametrize(("given", "expected"), STATES.values(), ids=STATES)
def test_a_service_says_of_each_endpoint_what_it_does(given: list[dict[str, Any]], expected: dict[str, str]) -> None:
    service = settled(endpoints=[READY])
    service.endpoints = [
        Endpoint(**{"name": f"e-{n}", "labels": {}, "address": address(f"e-{n}"), **fields})
        for n, fields in enumerate(given, 1)
    ]
    status = service.reconcile().status
    assert status is not None
    assert status["entries"][0]["endpoints"] == states(**expected)
    words = {"NotReady": "not ready", "Leaving": "ending", "NoAddress": "no address yet"}
    out = {state for state in expected.values() if state in words}
    said = conditions(service)["EndpointsResolved"][2]
    assert (said.count("No requests go to e-2: "), said.count("No requests go to")) == (len(out), len(out))
    assert all(f"No requests go to e-2: {words[state]}" in said for state in out)
