"""What a ModelService composes and says, from the first pass on."""

import re
from dataclasses import replace
from typing import Any

import pytest

from modelplane.model.routing import Address, Endpoint, ServiceEntry
from property.routes import address
from property.services import GATEWAY, Service

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


def test_whatever_selectors_a_team_writes_no_endpoint_is_fetched_more_than_twice() -> None:
    shared = {f"l{number}": "same" for number in range(16)} | {"app": "a"}
    ready = Endpoint("e-1", shared, address("e-1"), ready=True)
    other = Endpoint("e-2", {"app": "a"}, address("e-2"), ready=True)
    foreign = Endpoint("e-3", {"app": "b"}, address("e-3"), ready=True)
    for count, fetched in ((1, 1), (2, 2), (3, 1), (16, 1)):
        entries = tuple(ServiceEntry(f"e{at}", {"app": "a", f"l{at}": "same"}, weight=1) for at in range(count))
        service = settled(endpoints=[ready, other, foreign], entries=entries)
        result = service.reconcile()
        wanted = [each for each in result.requirements if each.kind == "ModelEndpoint"]
        assert len(wanted) == fetched
        assert all(each.match_labels["app"] == "a" for each in wanted)
        # What is fetched for all entries is still selected by each: `other` and `foreign` belong to none.
        assert result.status is not None
        assert [entry["total"] for entry in result.status["entries"]] == [1, *[0] * (count - 1)]


def test_entries_with_nothing_in_common_are_selected_from_the_endpoints_of_the_namespace() -> None:
    third = Endpoint("e-3", {"app": "c"}, address("e-3"), ready=True)
    entries = (*SPLIT, ServiceEntry("third", {"app": "c"}, weight=1))
    service = settled(endpoints=[READY, CANARY, third], entries=entries)
    result = service.reconcile()
    (wanted,) = (each for each in result.requirements if each.kind == "ModelEndpoint")
    assert (dict(wanted.match_labels), wanted.namespace) == ({}, service.namespace)
    assert result.status is not None
    assert [entry["total"] for entry in result.status["entries"]] == [1, 1, 1]


def test_the_first_pass_composes_all_but_the_route_that_refers_to_it() -> None:
    service = Service(endpoints=[READY])
    first = service.desired()
    assert sorted(first) == [
        "answer-401",
        "answer-404",
        "answer-503",
        "authority",
        "backend-entry-all-0",
        "endpoint-host",
    ]
    service.store = first
    assert set(service.desired()) - set(first) == {"route"}


def test_a_route_takes_its_path_to_v1_without_the_caller_s_key_and_for_as_long_as_it_lasts() -> None:
    found = rule(settled(endpoints=[READY]))
    assert found["matches"] == [{"path": {"type": "PathPrefix", "value": "/ml/chat/v1"}}]
    assert found["timeouts"] == {"request": "0s"}
    assert [each["type"] for each in found["filters"]] == ["URLRewrite", "RequestHeaderModifier", "ExtensionRef"]
    assert found["filters"][1]["requestHeaderModifier"] == {
        "remove": ["Authorization", "x-api-key", "x-modelplane-caller", "modelplane-served-model"]
    }
    assert all(set(each) == {"group", "kind", "name", "weight"} for each in found["backendRefs"])


def test_a_route_tells_by_which_names_the_engines_that_it_leads_to_serve() -> None:
    idle = replace(STARTING, model="not/listed")
    service = settled(endpoints=[replace(READY, model="m"), replace(CANARY, model="n"), idle])
    assert rule(service)["filters"][1]["requestHeaderModifier"] == {
        "set": [{"name": "modelplane-served-model", "value": "m n=e-2"}],
        "remove": ["Authorization", "x-api-key", "x-modelplane-caller"],
    }


def test_entries_share_the_traffic_by_weight() -> None:
    service = settled(entries=SPLIT, endpoints=[READY, CANARY, STARTING])
    assert [each["weight"] for each in rule(service)["backendRefs"]] == [90, 10]
    hosts = [e["hostname"] for e in service.store["backend-entry-main-0"]["spec"]["endpoints"]]
    assert hosts == ["e-1.ml.eu-1.replicas.modelplane.internal"]
    assert service.reconcile().status == {
        "url": "http://gw.example.org/ml/chat/v1",
        "address": "http://gw.example.org/ml/chat",
        "model": "ml/chat",
        "keys": "open",
        "endpoints": {"total": 3, "ready": 2},
        "entries": [
            {
                "name": "main",
                "weight": 90,
                "priority": 0,
                "total": 2,
                "ready": 1,
                "endpoints": states(e3="NotReady", e1="Serving"),
            },
            {"name": "canary", "weight": 10, "priority": 0, "total": 1, "ready": 1, "endpoints": states(e2="Serving")},
        ],
    }


def test_an_entry_without_a_name_keeps_its_backend_when_its_place_changes() -> None:
    service = settled(entries=SPLIT, endpoints=[READY, CANARY], named=False)
    before = set(service.store)
    service.entries = SPLIT[::-1]
    assert set(service.desired()) == before


def test_endpoints_by_mutual_tls_have_a_backend_of_their_own_which_trusts_the_published_ca() -> None:
    secured = Endpoint("e-9", {"app": "a"}, address("e-9", mutual_tls=True), ready=True)
    service = settled(endpoints=[READY, secured])
    assert [each["weight"] for each in rule(service)["backendRefs"]] == [1, 1]
    plain, backend = (service.store[f"backend-{key}"]["spec"] for key in ("entry-all-0", "tls-entry-all-0"))
    trusted = service.store["authority"]
    assert backend["tls"] == {
        "sni": "inference-gateway.modelplane.internal",
        "caCertificateRefs": [{"group": "", "kind": "ConfigMap", "name": trusted["metadata"]["name"]}],
    }
    assert "tls" not in plain
    assert trusted["data"] == {"ca.crt": "ca"}


def test_no_route_refers_to_a_backend_by_mutual_tls_before_a_ca_is_published() -> None:
    secured = Endpoint("e-9", {"app": "a"}, address("e-9", mutual_tls=True), ready=True)
    service = Service(endpoints=[secured], gateway={"url": "http://gw.example.org"})
    service.settle()
    assert service.route is None
    assert conditions(service)["RoutingReady"] == (
        "False",
        "WaitingForGateway",
        "InferenceGateway default has published no CA in status.caBundle, and endpoints are reached by mutual TLS. "
        "Look at its condition ControllerReady.",
    )
    service.gateway = dict(GATEWAY)
    service.settle()
    assert len(rule(service)["backendRefs"]) == 1


def test_without_an_endpoint_the_route_stays_and_answers_503() -> None:
    service = settled(endpoints=[READY])
    service.endpoints = []
    service.settle()
    (answer,) = rule(service)["filters"]
    assert answer["extensionRef"]["name"] == service.store["answer-503"]["metadata"]["name"]
    assert not [name for name in service.store if name.startswith("backend-")]


def test_an_endpoint_that_a_person_switches_off_gets_nothing_even_where_a_service_has_no_other() -> None:
    way = Address("e-1.ml.endpoints.modelplane.internal", "router.example.org", 443, mutual_tls=True)
    service = settled(endpoints=[Endpoint("e-1", {"app": "a"}, way, ready=True)])
    assert len(rule(service)["backendRefs"]) == 1
    service.endpoints = [Endpoint("e-1", {"app": "a"}, way, ready=False, is_off=True)]
    assert conditions(service)["EndpointsResolved"] == (
        "False",
        "NoEndpoints",
        "0 of 1 endpoints are ready. No requests go to e-1: not ready, see the conditions of the "
        "ModelReplica or ModelEndpoint. Requests are answered with 503.",
    )
    service.settle()
    (answer,) = rule(service)["filters"]
    assert answer["extensionRef"]["name"] == service.store["answer-503"]["metadata"]["name"]


def test_endpoints_that_are_all_not_ready_stay_as_they_were_listed() -> None:
    service = settled(endpoints=[READY])
    was = service.store["backend-entry-all-0"]
    service.endpoints = [Endpoint("e-1", {"app": "a"}, address("e-1"), ready=False), STARTING]
    assert service.desired()["backend-entry-all-0"] == was
    assert conditions(service)["EndpointsResolved"] == (
        "False",
        "NoEndpoints",
        "0 of 2 endpoints are ready. No requests go to e-3: not ready, see the conditions of the "
        "ModelReplica or ModelEndpoint. Requests go on to the 1 that were last in use.",
    )


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


@pytest.mark.parametrize("missing", [{"kinds": False}, {"gateway": None}, {"gateway": {}}])
def test_what_was_composed_once_is_composed_for_ever(missing: dict[str, Any]) -> None:
    service = settled(endpoints=[READY])
    for field, value in missing.items():
        setattr(service, field, value)
    assert service.desired() == service.store


#: What the gateway publishes, and the listeners that a route attaches to.
LISTENERS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "all that are published": (
        {"url": "https://gw", "listeners": ["https", "internal"]},
        ["https", "internal"],
    ),
    "that of the URL, of an earlier version": ({"url": "http://gw"}, ["http"]),
    "that of the URL with TLS, of an earlier version": ({"url": "https://gw"}, ["https"]),
}


@pytest.mark.parametrize(("gateway", "listeners"), LISTENERS.values(), ids=LISTENERS)
def test_a_route_attaches_to_the_listeners_of_the_gateway(gateway: dict[str, Any], listeners: list[str]) -> None:
    service = settled(endpoints=[READY], gateway=gateway)
    assert service.route is not None
    parents = service.route["spec"]["parentRefs"]
    assert [(each["name"], each["sectionName"]) for each in parents] == [
        ("public-gateway", listener) for listener in listeners
    ]
    service.gateway = {}
    assert service.desired()["route"]["spec"]["parentRefs"] == parents, "they stay while it publishes no URL"


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


def test_only_a_service_with_limits_of_its_own_has_a_policy() -> None:
    service = settled(endpoints=[READY], spec={"timeouts": {"request": "30s", "idle": "1h"}})
    assert "traffic-policy" not in service.store
    service.spec = {"affinity": {"header": "x-session"}}
    service.settle()
    assert "traffic-policy" in service.store
    service.spec = {}
    service.settle()
    assert "traffic-policy" not in service.store


def test_a_service_s_limits_are_those_of_its_policy() -> None:
    spec = {
        "timeouts": {"request": "30s", "idle": "5m"},
        "affinity": {"header": "x-session"},
        "rateLimit": {"requests": 9, "per": "Minute"},
    }
    service = settled(endpoints=[READY], spec=spec)
    policy = service.store["traffic-policy"]["spec"]
    assert rule(service)["timeouts"] == {"request": "30s"}
    assert policy["mergeType"] == "StrategicMerge"
    assert policy["timeout"] == {"http": {"streamIdleTimeout": "5m"}}
    assert policy["loadBalancer"]["consistentHash"]["headers"] == [{"name": "x-session"}]
    assert policy["rateLimit"]["local"]["rules"] == [{"limit": {"requests": 9, "unit": "Minute"}}]


def test_callers_are_counted_in_groups_that_each_has_room_for() -> None:
    names = [f"c.{number}" for number in range(64)]
    keys = [{"name": name, "secretRef": {"name": "s", "key": name}} for name in names]
    service = settled(
        endpoints=[READY], spec={"keys": keys, "rateLimit": {"requests": 9, "per": "Hour", "perCaller": True}}
    )
    rules = service.store["traffic-policy"]["spec"]["rateLimit"]["local"]["rules"]
    assert all(rule["limit"] == {"requests": 9, "unit": "Hour"} for rule in rules)
    counted = []
    for rule in rules:
        ((distinct, group),) = (each["headers"] for each in rule["clientSelectors"])
        assert distinct == {"name": "x-modelplane-caller", "type": "Distinct"}
        assert (group["name"], group["type"]) == ("x-modelplane-caller", "RegularExpression")
        counted.append([name for name in names if re.fullmatch(group["value"], name)])
    assert sorted(name for group in counted for name in group) == sorted(names)
    assert max(map(len, counted)) <= 20


def test_a_service_whose_spec_cannot_be_read_keeps_what_it_has() -> None:
    service = settled(endpoints=[READY])
    service.spec = {"timeouts": {"idle": 5}}
    assert service.desired() == service.store
    assert service.reconcile().status == service.status
    assert conditions(service)["RoutingReady"][1] == "Configuring"


def test_a_service_keeps_its_status_while_there_is_no_inference_gateway() -> None:
    service = settled(endpoints=[READY])
    service.gateway = None
    assert service.status["address"] == "http://gw.example.org/ml/chat"
    assert service.reconcile().status == service.status


def test_a_service_of_an_earlier_version_has_a_url_while_there_is_no_inference_gateway() -> None:
    service = settled(endpoints=[READY])
    service.gateway = None
    del service.status["url"]
    assert (service.reconcile().status or {})["url"] == "http://gw.example.org/ml/chat/v1"
