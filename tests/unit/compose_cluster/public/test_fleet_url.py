"""The fleet URL: its objects in order, the models that it lists, and when it is published."""

import json
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unit.compose_cluster.public.gateways import TLS, bodies, decided, serving

ROUTES = {"fleet-route", "fleet-route-sent", "fleet-route-models"}
_AROUND = ("gateway", "path", "answer-503", "answer-404", "models", "model", "filter", "traffic-policy")
PARTS = {f"fleet-{what}" for what in _AROUND}
_GATEWAY = {"name": "public-gateway", "namespace": "modelplane-system"}


def service(name: str, keys: str = "open", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "ml", "creationTimestamp": "2026-01-02T03:04:05Z"}
    status = {"keys": keys, "address": f"http://gw.example.org/ml/{name}"}
    return {"kind": "ModelService", "metadata": metadata, "status": status, **fields}


def conditions(verdict: str) -> list[dict[str, str]]:
    return [{"type": "Accepted", "status": verdict, "message": "" if verdict == "True" else "Lua is disabled"}]


def accepted(**verdicts: str) -> dict[str, Any]:
    """Return all objects, of which the gateway has accepted what the URL takes; `verdicts` says else."""
    store = serving("http", services=[])
    for name in ("fleet-filter", "fleet-route", "fleet-route-sent"):
        field, reference = ("ancestors", "ancestorRef") if name == "fleet-filter" else ("parents", "parentRef")
        verdict = verdicts.get(name.removeprefix("fleet-").replace("-", "_"), "True")
        store[name]["status"] = {field: [{reference: _GATEWAY, "conditions": conditions(verdict)}]}
    return store


def listed(services: list[dict[str, Any]]) -> list[dict[str, Any]]:
    answer = bodies(decided({}, services=services))["fleet-models"]["spec"]["directResponse"]
    assert answer["statusCode"] == 200
    found = json.loads(answer["body"]["inline"])
    assert found["object"] == "list"
    data: list[dict[str, Any]] = found["data"]
    return data


STORE = accepted()


def test_the_routes_come_once_all_that_they_refer_to_is_there_and_then_stay() -> None:
    first = bodies(decided({}, services=[]))
    assert first.keys() >= PARTS
    assert not ROUTES & first.keys()
    for part in PARTS:
        partly = {name: body for name, body in first.items() if name != part}
        assert not ROUTES & bodies(decided(partly, services=[])).keys()
    complete = bodies(decided(first, services=[]))
    assert complete.keys() >= ROUTES
    without = {name: body for name, body in complete.items() if name != "fleet-models"}
    assert bodies(decided(without, services=[])).keys() >= ROUTES


def test_the_list_of_models_stays_while_services_are_not_fetched() -> None:
    store = bodies(decided({}, services=[service("chat")]))
    assert bodies(decided(store))["fleet-models"] == store["fleet-models"]
    assert "fleet-models" not in bodies(decided({}))


def test_services_that_need_no_key_are_listed_as_models_in_the_order_of_their_names() -> None:
    assert listed([service("keyed", "2"), service("b"), service("a"), service("new", status={})]) == [
        {"id": "ml/a", "object": "model", "created": 1767323045, "owned_by": "ml"},
        {"id": "ml/b", "object": "model", "created": 1767323045, "owned_by": "ml"},
    ]


def test_a_filter_of_the_listener_does_not_change_with_the_list() -> None:
    empty, full = (bodies(decided({}, services=services)) for services in ([], [service("a")]))
    changed = {name for name in PARTS if empty[name] != full[name]}
    assert changed == {"fleet-models"}


def test_a_model_is_read_below_the_list_by_get_and_the_list_by_head_too() -> None:
    (rule,) = accepted()["fleet-route-models"]["spec"]["rules"]
    path = {"type": "PathPrefix", "value": "/v1/models"}
    assert rule["matches"] == [{"path": path, "method": "GET"}, {"path": path, "method": "HEAD"}]


def test_services_of_the_namespace_that_the_fleet_url_does_not_serve_are_not_listed() -> None:
    hidden = service("chat")
    hidden["metadata"]["namespace"] = "v1"
    assert [each["id"] for each in listed([hidden, service("a")])] == ["ml/a"]


def test_at_most_1000_models_are_listed() -> None:
    assert len(listed([service(f"s-{number}") for number in range(1001)])) == 1000


def many(namespace: str, number: int, made: str = "2026-01-02T03:04:05Z") -> list[dict[str, Any]]:
    found = [service(f"s-{at:04}") for at in range(number)]
    return [
        {**each, "metadata": {**each["metadata"], "namespace": namespace, "creationTimestamp": made}} for each in found
    ]


def test_where_they_are_more_each_namespace_has_its_share_of_the_list_and_what_is_left_out_is_said() -> None:
    services = [*many("a", 1200), *many("b", 3), *many("c", 700)]
    counts = Counter(each["owned_by"] for each in listed(services))
    assert counts == {"a": 499, "b": 3, "c": 498}
    note = next(each.message for each in decided(accepted(), services=services).conditions)
    assert note == (
        "/v1/models of the fleet URL lists 1000 of 1903 services, each namespace's oldest; requests to the others are "
        "served. It leaves out 701 of namespace a, 202 of namespace c."
    )


def test_a_new_service_takes_the_place_of_no_older_one() -> None:
    older = many("a", 1000, "2026-01-02T03:04:05Z")
    new = {**older[0], "metadata": {**older[0]["metadata"], "name": "a", "creationTimestamp": "2026-02-02T03:04:05Z"}}
    assert "a/a" not in [each["id"] for each in listed([new, *older])]


def test_nothing_but_what_the_filter_made_is_sent_to_the_gateway_again() -> None:
    store = accepted()
    (first,) = store["fleet-route"]["spec"]["rules"]
    assert "backendRefs" not in first, "a request that the filter has not sent on would come back for ever"
    sent, _ = store["fleet-route-sent"]["spec"]["rules"]
    assert [each["path"] for each in sent["matches"]] == [{"type": "PathPrefix", "value": "/v1/~"}]
    assert sent["timeouts"] == {"request": "0s"}


def passes(path: str, store: dict[str, Any]) -> int:
    """Return how often a path is sent to the gateway again by the route that needs no body."""
    rewrite = store["fleet-path"]["spec"]["urlRewrite"]["path"]["replaceRegexMatch"]
    rules = store["fleet-route-sent"]["spec"]["rules"]
    by_prefix = {each["path"]["value"]: rule for rule in rules for each in rule["matches"]}
    for count in range(100):
        matching = [prefix for prefix in by_prefix if f"{path}/".startswith(f"{prefix}/")]
        if not matching or "backendRefs" not in by_prefix[max(matching, key=len)]:
            return count
        path = re.sub(rewrite["pattern"], rewrite["substitution"], path, count=1)
        path = re.sub("/+", "/", path)
    raise AssertionError(path)


@given(st.lists(st.sampled_from(("v1", "~", "~v1", "ml", "", "v1~")), max_size=12), st.sampled_from((0, 50)))
def test_no_path_is_sent_to_the_gateway_for_ever(segments: list[str], more: int) -> None:
    path = re.sub("/+", "/", "/".join(("/v1/~", *segments, *("~",) * more)))
    assert passes(path, STORE) <= 2


def test_the_routes_stay_as_they_are_until_all_that_they_are_to_refer_to_is_there() -> None:
    store = accepted()
    del store["fleet-answer-404"]
    store["fleet-route-sent"]["spec"]["rules"].pop()
    assert bodies(decided(store, services=[]))["fleet-route-sent"]["spec"] == store["fleet-route-sent"]["spec"]


def test_every_listener_has_the_filter_before_the_routes_are_attached_to_it() -> None:
    store = accepted()
    names = {each["name"] for each in store["fleet-filter"]["spec"]["targetRefs"]}
    assert names == {store[name]["metadata"]["name"] for name in ("fleet-route", "listener-filters-route")}
    (parent,) = store["listener-filters-route"]["spec"]["parentRefs"]
    assert "sectionName" not in parent


def test_only_the_second_pass_tries_again_and_ends_silent_streams() -> None:
    policy = accepted()["fleet-traffic-policy"]["spec"]
    assert [each["name"] for each in policy["targetRefs"]] == ["fleet", "fleet-sent"]
    assert "retry" not in policy
    assert policy["timeout"] == {"http": {"streamIdleTimeout": "0s"}}


def test_the_url_is_published_once_the_gateway_has_accepted_all_of_it() -> None:
    status = decided(accepted(), services=[]).status or {}
    assert status["fleetUrl"] == "http://gw.example.org/v1"
    for part in ("filter", "route", "route_sent"):
        assert "fleetUrl" not in (decided(accepted(**{part: "False"}), services=[]).status or {})


def test_a_published_url_stays_while_the_gateway_says_nothing_and_goes_with_its_refusal() -> None:
    silent, refused = accepted(), accepted(filter="False")
    del silent["fleet-filter"]["status"]
    last = {"fleetUrl": "http://gw.example.org/v1"}
    assert "fleetUrl" not in (decided(silent, services=[]).status or {})
    assert (decided(silent, services=[], status=last).status or {})["fleetUrl"] == last["fleetUrl"]
    result = decided(refused, services=[], status=last)
    assert "fleetUrl" not in (result.status or {})
    (condition,) = result.conditions
    assert condition.message == "The fleet URL does not serve: EnvoyExtensionPolicy fleet: Lua is disabled."


@pytest.mark.parametrize("services", [None, []])
def test_with_tls_and_no_internal_listener_there_is_no_fleet_url_and_what_there_was_goes_after_its_routes(
    services: list[dict[str, Any]] | None,
) -> None:
    store = accepted()
    switching = bodies(decided(store, spec=TLS, services=services))
    assert not ROUTES & switching.keys()
    assert switching.keys() >= PARTS
    gone = {name: body for name, body in store.items() if name not in ROUTES}
    assert not PARTS & bodies(decided(gone, spec=TLS, services=services)).keys()
    result = decided(serving("http", "https", spec=TLS), spec=TLS, services=services)
    assert "fleetUrl" not in (result.status or {})
    (condition,) = result.conditions
    assert condition.message == (
        "The fleet URL does not serve: with spec.tls it needs the listener internal of Gateway "
        "modelplane-system/public-gateway, which comes once cert-manager has issued Secret provider-router-pair."
    )
