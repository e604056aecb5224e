"""The InferenceGateway: its objects in order, its URL, what is in the way, and its protection while it is in use."""

import pytest

from modelplane.step import AWAITING, SETTLED, Result
from unit.compose_cluster.public.gateways import NAMED, SERVICE, TLS, bodies, decided, serving


def reported(result: Result) -> tuple[str, str, str]:
    (condition,) = result.conditions
    return condition.status.value, str(condition.reason), condition.message


def test_the_gateway_comes_once_its_pods_policies_and_answers_are_there() -> None:
    first = bodies(decided({}))
    assert sorted(first) == [
        "access-log",
        "answer-404",
        "authority",
        "authority-issuer",
        "client-pair",
        "client-traffic-policy",
        "envoy-proxy",
        "fleet-answer-404",
        "fleet-answer-503",
        "fleet-filter",
        "fleet-gateway",
        "fleet-model",
        "fleet-path",
        "fleet-traffic-policy",
        "gateway-class",
        "listener-filters-keys",
        "listener-filters-limit",
        "listener-filters-policy",
        "self-signed-issuer",
        "traffic-policy",
    ]
    partly = {name: body for name, body in first.items() if name != "client-traffic-policy"}
    assert "gateway" not in bodies(decided(partly))
    assert set(bodies(decided(first))) - set(first) == {"gateway", "unknown-paths", "listener-filters-route"}


def test_nothing_is_composed_before_the_gateways_kinds_exist_and_everything_is_once_it_was() -> None:
    result = decided({}, kinds=False)
    assert bodies(result) == {}
    assert reported(result)[:2] == ("False", "Installing")
    assert "no kind GatewayClass (gateway.networking.k8s.io/v1) and Backend" in reported(result)[2]
    assert bodies(decided(serving("http"), kinds=False)).keys() == serving("http").keys()


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("gw.example.org", "http://gw.example.org"),
        ("203.0.113.7", "http://203.0.113.7"),
        ("2001:db8::7", "http://[2001:db8::7]"),
    ],
)
def test_the_url_is_the_gateways_address(address: str, url: str) -> None:
    result = decided(serving("http", address=address))
    assert result.status == {"address": address, "url": url, "listeners": ["http"], "services": NAMED}
    assert reported(result) == ("True", "ControllerHealthy", "")


def test_the_url_is_published_once_the_listener_has_the_filter_that_checks_keys() -> None:
    store = serving("http")
    del store["listener-filters-policy"]["status"]
    assert "url" not in (decided(store).status or {})
    last = {"url": "http://gw.example.org"}
    assert (decided(store, status=last).status or {})["url"] == last["url"]
    (rule,) = store["listener-filters-route"]["spec"]["rules"]
    assert rule["matches"] == [{"path": {"type": "Exact", "value": "/.filters"}}], (
        "an exact path is Envoy Gateway's first"
    )
    assert store["listener-filters-keys"]["data"] == {}


@pytest.mark.parametrize("spec", [{}, TLS])
def test_each_listener_has_the_filter_that_checks_keys_from_its_beginning(spec: dict[str, object]) -> None:
    (parent,) = serving("http", spec=spec)["listener-filters-route"]["spec"]["parentRefs"]
    assert parent["name"] == "public-gateway"
    assert "sectionName" not in parent, "all listeners, also while services are on the other"


#: The listeners that are programmed and the last URL of a gateway with TLS; the URL, and whether HTTP redirects.
SWITCHES: dict[str, tuple[list[str], str, str | None, bool]] = {
    "HTTPS is served": (["http", "https"], "", "https://models.example.com", True),
    "not yet": (["http"], "", None, False),
    "not yet, and HTTP was": (["http"], "http://gw.example.org", "http://gw.example.org", False),
}


@pytest.mark.parametrize(("listeners", "last", "url", "redirected"), SWITCHES.values(), ids=SWITCHES)
def test_with_tls_the_url_is_https_once_that_is_served_and_never_http_at_first(
    listeners: list[str], last: str, url: str | None, redirected: bool
) -> None:
    result = decided(serving(*listeners, spec=TLS), spec=TLS, status={"url": last})
    assert result.status is not None
    assert result.status.get("url") == url
    assert ("https-redirect" in result.desired) is redirected


def test_a_client_that_is_redirected_to_https_repeats_its_request_with_its_method_and_body() -> None:
    made = bodies(decided(serving("http", "https", spec=TLS), spec=TLS))
    ((rule,),) = [made["https-redirect"]["spec"]["rules"]]
    (redirect,) = rule["filters"]
    # RFC 9110, section 15.4.9: of the permanent redirects 308 alone forbids a change of the method.
    assert redirect["requestRedirect"] == {"scheme": "https", "statusCode": 308}


@pytest.mark.parametrize(("attached", "stays"), [(3, True), (2, False)], ids=["a service", "our own routes alone"])
def test_without_tls_any_more_the_https_listener_stays_until_no_service_is_attached_to_it(
    attached: int, stays: bool
) -> None:
    store = serving("http", "https", spec=TLS)
    store["gateway"]["status"]["listeners"][1]["attachedRoutes"] = attached
    store |= {"https-redirect": bodies(decided(store, spec=TLS))["https-redirect"]}
    result = decided(store, status={"url": "https://models.example.com"})
    assert (result.status or {})["url"] == "http://gw.example.org"
    made = bodies(result)
    listeners = made["gateway"]["spec"]["listeners"]
    was = store["gateway"]["spec"]["listeners"]
    assert listeners == (was if stays else was[:1])
    assert ("https-redirect" in made) is stays
    assert made["unknown-paths"]["spec"]["parentRefs"][0]["sectionName"] == ("https" if stays else "http")


def test_a_listener_that_cannot_serve_is_named_with_its_reason() -> None:
    store = serving("http", spec=TLS)
    refused = {"type": "ResolvedRefs", "status": "False", "message": "Secret models-tls does not exist"}
    store["gateway"]["status"]["listeners"].append({"name": "https", "conditions": [refused]})
    assert reported(decided(store, spec=TLS)) == (
        "False",
        "Installing",
        "Gateway modelplane-system/public-gateway: listener https: Secret models-tls does not exist",
    )


def test_a_gateway_without_an_address_says_so_and_who_gives_one() -> None:
    store = serving("http", address="")
    metallb = {"address": {"source": "MetalLB", "pool": "192.0.2.0/28"}}
    assert reported(decided(store))[2] == "Gateway modelplane-system/public-gateway has no address yet."
    assert "Install MetalLB with the pool of spec.address" in reported(decided(store, spec=metallb))[2]


def test_the_inference_gateway_is_protected_while_there_is_a_service() -> None:
    store = serving("http")
    protected = bodies(decided(store, services=[SERVICE]))
    assert protected["gateway-in-use"]["spec"]["of"]["resourceRef"] == {"name": "default"}
    assert "gateway-in-use" in bodies(decided(protected)), "not fetched yet: it stays"
    assert "gateway-in-use" not in bodies(decided(protected, services=[]))


def test_a_first_service_protects_the_gateway_within_seconds() -> None:
    store = serving("http")
    assert decided(store, services=[]).ttl == AWAITING
    assert decided(store, services=[SERVICE]).ttl == SETTLED


@pytest.mark.parametrize(("spec", "listener"), [({}, "http"), (TLS, "https")])
def test_unknown_paths_are_answered_where_services_are(spec: dict[str, object], listener: str) -> None:
    (parent,) = serving(listener, spec=spec)["unknown-paths"]["spec"]["parentRefs"]
    assert parent["sectionName"] == listener


def test_streams_outlive_a_change_of_the_listener_and_large_prompts_can_be_sent_again() -> None:
    store = serving("http", spec={"replicas": 3})
    proxy = store["envoy-proxy"]["spec"]
    assert proxy["shutdown"] == {"drainTimeout": "3600s"}
    assert proxy["provider"]["kubernetes"]["envoyDeployment"]["replicas"] == 3
    callers = store["client-traffic-policy"]["spec"]
    assert callers["connection"] == {"bufferLimit": "1Mi"}
    keyed = serving("http", spec={"requireKeys": True})["client-traffic-policy"]["spec"]
    assert keyed["connection"] == {"bufferLimit": "50Mi"}
    removed = {each["value"] for each in callers["headers"]["earlyRequestHeaders"]["removeOnMatch"]}
    assert removed == {"x-modelplane-", "x-gateway-", "x-prefiller-", "x-ai-eg-"}


def test_a_gateway_whose_spec_cannot_be_read_keeps_what_it_has() -> None:
    store, status = serving("http"), {"address": "gw.example.org", "url": "http://gw.example.org"}
    result = decided(store, spec={"stack": {"gateway": "Absent"}}, status=status)
    assert bodies(result).keys() == store.keys()
    assert result.status == status
    assert "spec.stack.gateway" in reported(result)[2]
