"""What a ModelService composes, from the first pass on."""

from dataclasses import replace
from typing import Any

import pytest

from modelplane.model.routing import Address, Endpoint, ServiceEntry
from property.routes import address
from property.services import GATEWAY, Service
from unit.compose_endpoint.services import CANARY, READY, SPLIT, STARTING, conditions, rule, settled, states


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
        "traffic-policy",
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


@pytest.mark.proves("P93")
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
