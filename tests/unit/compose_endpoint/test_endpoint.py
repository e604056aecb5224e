"""How services reach a ModelEndpoint: by its owner, its host and its URL."""

from datetime import timedelta
from typing import Any

import pytest

from modelplane.compose_endpoint.endpoint import compose
from modelplane.composing.requirements import GATEWAY_KINDS
from modelplane.observed.endpoint import read_endpoint
from modelplane.step import Object, Request
from unit.compose_endpoint.endpoints import DEPLOYMENT, HOST, endpoint


def composed(body: dict[str, Any]) -> tuple[Any, str, str]:
    """Return what is published of the routing, and the reason and message of RoutingReady."""
    result = compose(Request(Object(body, object())))
    (condition,) = result.conditions
    assert result.desired == {}
    assert result.ready is (condition.status == "True")
    assert result.status is not None
    return result.status.get("routing"), condition.reason, condition.message


def routing(fqdn: str = "gw.example.org", port: int = 443, *, ready: bool = True, **fields: Any) -> dict[str, Any]:
    return {"hostname": HOST, "fqdn": fqdn, "port": port, "ready": ready, **fields}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (endpoint(), routing()),
        (endpoint("https://GW.example.org:8443/v1"), routing(port=8443)),
        (endpoint("http://gw.example.org"), routing(port=80)),
        (endpoint(spec={"ready": False}), routing(ready=False)),
        (endpoint(spec={"mutualTLS": True}), routing(mutualTLS=True)),
    ],
)
def test_an_endpoint_of_a_replica_publishes_how_it_is_reached(body: dict[str, Any], expected: dict[str, Any]) -> None:
    assert composed(body) == (expected, "BackendConfigured", "")


def test_an_endpoint_of_a_replica_is_made_of_itself_alone_and_seldom_looked_at() -> None:
    result = compose(Request(Object(endpoint(), object())))
    assert result.requirements == ()
    assert result.ttl == timedelta(minutes=10)


OTHER = "other-1234abcd.team.eu-1.replicas.modelplane.internal"
REFUSED = {
    "the host of another namespace": (endpoint(host=OTHER), "InvalidHost", f"spec.host: {OTHER} is not the host"),
    "no host": (endpoint(host=None), "InvalidHost", "spec.host: none is not the host of replica qwen-1234abcd"),
    "a name with dots that reads as another's": (
        endpoint(host="x.ml.ml.eu-1.replicas.modelplane.internal", metadata={"name": "x.ml"}),
        "InvalidHost",
        "is not the host of replica x.ml",
    ),
    "an IP address": (endpoint("https://203.0.113.7"), "WaitingForGateway", "has the IP address 203.0.113.7"),
    "an IPv6 address": (endpoint("https://[2001:db8::1]"), "WaitingForGateway", "DNS name is not published yet"),
    "no URL": (endpoint("gw.example.org"), "InvalidURL", "spec.url: gw.example.org is not http or https"),
    "a name that is none": (endpoint("https://gw_1.example.org"), "InvalidURL", "spec.url: https://gw_1.example.org"),
}


@pytest.mark.parametrize(("body", "reason", "words"), REFUSED.values(), ids=REFUSED)
def test_an_endpoint_that_cannot_be_reached_says_why_and_publishes_nothing(
    body: dict[str, Any], reason: str, words: str
) -> None:
    published, shown, message = composed(body)
    assert (published, shown) == (None, reason)
    assert words in message


BY_HAND = {
    "without an owner": endpoint(owner={}),
    "labelled like a replica's": endpoint(metadata={"labels": {"modelplane.ai/deployment": "qwen"}}, owner={}),
    "owned and not controlled": endpoint(owner=DEPLOYMENT),
}


@pytest.mark.parametrize("body", BY_HAND.values(), ids=BY_HAND)
def test_an_endpoint_that_no_deployment_controls_is_never_given_a_replica_s_host(body: dict[str, Any]) -> None:
    request = Request(Object(body, object()))
    needs: dict[str, tuple[Object, ...]] = {each.name: () for each in compose(request).requirements}
    schemas = {each.name: {"type": "object"} for each in GATEWAY_KINDS}
    gateway = {"kind": "InferenceGateway", "metadata": {"name": "default"}, "status": {"services": {"router": "r"}}}
    needs["gateway"] = (Object(gateway, object()),)
    result = compose(Request(request.composite, required=needs, schemas=schemas))
    (condition,) = result.conditions
    assert (condition.reason, result.desired) == ("InvalidHost", {})
    assert HOST not in str(result.status)


@pytest.mark.parametrize(
    ("changes", "ready", "reachable"),
    [
        ({}, True, True),
        ({"spec": {"ready": False}}, False, True),
        ({"status": {"routing": routing(ready=False)}}, False, True),
        ({"status": {}}, False, False),
        ({"owner": {}}, False, False),
        ({"status": {"routing": routing() | {"hostname": OTHER}}}, False, False),
    ],
)
def test_a_service_reads_an_endpoint_as_ready_only_with_an_address_of_its_own(
    changes: dict[str, Any], ready: bool, reachable: bool
) -> None:
    found = read_endpoint(Object(endpoint(**{"status": {"routing": routing()}, **changes}), object()))
    assert (found.ready, found.address is not None) == (ready, reachable)
