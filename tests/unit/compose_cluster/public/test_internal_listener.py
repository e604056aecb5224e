"""The fleet URL over HTTPS: the listener that the gateway sends requests on to, and who may call it."""

from typing import Any

import pytest

from modelplane.step import Result
from unit.compose_cluster.public.gateways import SERVICE, TLS, bodies, decided, serving
from unit.compose_cluster.public.test_router import PAIRS, PROGRAMMED

ROUTES = {"fleet-route", "fleet-route-sent", "fleet-route-models"}
_GATEWAY = {"name": "public-gateway", "namespace": "modelplane-system"}
_ACCEPTED = [{"type": "Accepted", "status": "True"}]


def passed(store: dict[str, Any], *listeners: str, **fields: Any) -> dict[str, Any]:
    """Return all objects after one more pass, by which these listeners are programmed and what is there accepted."""
    made = bodies(decided(store, spec=TLS, services=[], secrets=PAIRS, **fields))
    for name, body in made.items():
        body["status"] = store.get(name, {}).get("status", {})
    programmed = [{"type": "Programmed", "status": "True"}]
    made["gateway"]["status"]["listeners"] = [{"name": name, "conditions": programmed} for name in listeners]
    for name, field, reference in (
        ("fleet-filter", "ancestors", "ancestorRef"),
        ("fleet-route", "parents", "parentRef"),
        ("fleet-route-sent", "parents", "parentRef"),
    ):
        if name in made:
            made[name]["status"] = {field: [{reference: _GATEWAY, "conditions": _ACCEPTED}]}
    return made


def secured() -> dict[str, Any]:
    """Return all objects once every listener serves."""
    store = serving("http", "https", spec=TLS)
    for _ in range(8):
        store = passed(store, "http", "https", "internal")
    return store


def result(store: dict[str, Any], **fields: Any) -> Result:
    return decided(store, spec=TLS, services=[], secrets=PAIRS, **fields)


def status(store: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return dict(result(store, **fields).status or {})


def listeners(store: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each for each in store["gateway"]["spec"]["listeners"]}


def test_the_listener_comes_after_the_policy_by_which_the_gateway_alone_may_call_it() -> None:
    store = serving("http", "https", spec=TLS)
    steps = []
    for _ in range(5):
        store = passed(store, "http", "https")
        steps.append(("client-traffic-policy-internal" in store, "internal" in listeners(store)))
    assert steps == sorted(steps)
    assert (True, False) in steps
    assert steps[-1] == (True, True)
    policy, public = (store[name]["spec"] for name in ("client-traffic-policy-internal", "client-traffic-policy"))
    assert [each["sectionName"] for each in policy["targetRefs"]] == ["internal"]
    authority = store["router-authority"]["metadata"]["name"]
    assert policy["tls"]["clientValidation"] == {
        "caCertificateRefs": [{"group": "", "kind": "ConfigMap", "name": authority}],
        "subjectAltNames": {"dnsNames": [{"type": "Exact", "value": "public-gateway.modelplane.internal"}]},
    }
    same = {"connection", "http2", "tcpKeepalive", "headers", "healthCheck"}
    assert {name: policy[name] for name in same} == {name: public[name] for name in same}, "it replaces the Gateway's"


def test_the_gateway_sends_requests_on_by_mutual_tls_to_the_name_that_all_its_hops_have() -> None:
    store = secured()
    (endpoint,) = store["fleet-gateway"]["spec"]["endpoints"]
    internal = listeners(store)["internal"]
    assert endpoint["fqdn"]["port"] == internal["port"]
    assert internal["tls"]["certificateRefs"] == [{"kind": "Secret", "name": "provider-router-pair"}]
    assert store["fleet-gateway"]["spec"]["tls"]["sni"] == "inference-gateway.modelplane.internal"
    for name in ROUTES:
        assert [each["sectionName"] for each in store[name]["spec"]["parentRefs"]] == ["https"]
    assert [each["sectionName"] for each in store["unknown-paths"]["spec"]["parentRefs"]] == ["https", "internal"]


def test_services_attach_to_the_listener_once_it_serves_and_the_url_is_published_then() -> None:
    before = passed(passed(serving("http", "https", spec=TLS), "http", "https"), "http", "https")
    assert status(before)["listeners"] == ["https"]
    assert not ROUTES & result(before).desired.keys()
    store = secured()
    last = status(store)
    assert (last["listeners"], last["fleetUrl"]) == (["https", "internal"], "https://models.example.com/v1")
    del store["gateway"]["status"]["listeners"]
    assert status(store, status=last)["listeners"] == ["https", "internal"], "while the gateway says nothing"


def test_once_there_is_the_listener_it_stays_without_its_secret() -> None:
    store = secured()
    made = bodies(decided(store, spec=TLS, services=[], secrets={}))
    assert "internal" in listeners(made)
    assert made.keys() >= ROUTES


def test_without_tls_any_more_requests_are_sent_on_by_http() -> None:
    made = bodies(decided(secured(), services=[], secrets=PAIRS))
    (endpoint,) = made["fleet-gateway"]["spec"]["endpoints"]
    assert endpoint["fqdn"]["port"] == 80
    assert "tls" not in made["fleet-gateway"]["spec"]
    assert [each["sectionName"] for each in made["fleet-route"]["spec"]["parentRefs"]] == ["http"]
    assert [*listeners(made)] == ["http"]


#: The listeners that are programmed and the routes at the internal one, two of them ours; what HTTPS waits for.
AWAITED: dict[str, tuple[list[str], int, str]] = {
    "the listener": (["http", "https"], 0, "comes once cert-manager has issued Secret provider-router-pair."),
    "services": (["http", "https", "internal"], 3, "attached to the listener internal; 1 are not yet."),
    "nothing": (["http", "https", "internal"], 4, ""),
}


@pytest.mark.parametrize(("programmed", "attached", "words"), AWAITED.values(), ids=AWAITED)
def test_while_http_serves_the_fleet_https_is_published_once_all_services_are_attached_to_the_listener(
    programmed: list[str], attached: int, words: str
) -> None:
    store, http = secured(), "http://gw.example.org"
    routed = {"conditions": [{"type": kind, "status": "True"} for kind in ("RoutingReady", "Synced")]}
    services = [{**SERVICE, "status": routed}, {**SERVICE, "status": routed}, SERVICE]
    said = [{"type": "Programmed", "status": "True"}]
    store["gateway"]["status"]["listeners"] = [
        {"name": name, "conditions": said, "attachedRoutes": attached} for name in programmed
    ]
    store["router"] = bodies(decided(store, spec=TLS, services=services, secrets=PAIRS))["router"] | {
        "status": PROGRAMMED
    }
    last = {"url": http, "fleetUrl": f"{http}/v1", "listeners": ["http", "internal"]}
    found = decided(store, spec=TLS, services=services, secrets=PAIRS, status=last)
    assert (found.status or {})["url"] == (http if words else "https://models.example.com")
    (condition,) = found.conditions
    assert condition.message.endswith(words)
    assert ("HTTP is served in spite of spec.tls" in condition.message) is bool(words)
