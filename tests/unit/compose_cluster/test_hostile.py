"""A cluster may answer anything: what of it is published has a form, or is cut."""

import json
import re
from typing import Any

import pytest

from modelplane.model.conditions import Status
from unit.compose_cluster import clusters as given

HUGE = "x" * 200_000
#: Most characters of status and conditions together, whatever the cluster says: those of a cluster that says nothing
#: are under one thousand.
MOST = 16_000
#: What of a Gateway's status may name a condition that is not as it should be.
FAILING = {"type": "Accepted", "status": "False"}
TRUSTED = [{"kind": "InferenceGateway", "metadata": {"name": "default"}, "status": {"caBundle": "PEM"}}]
OWN_ID = [{"kind": "ConfigMap", "metadata": {"name": "modelplane-installation"}, "data": {"id": "ours"}}]


def said_of_gateway(**status: Any) -> dict[str, Any]:
    return {"gateway": given.looking("Gateway", {"status": status})}


def addressed(value: str) -> dict[str, Any]:
    return said_of_gateway(addresses=[{"value": value}])


def probed(uid: str, error: str = "") -> dict[str, Any]:
    return {"kube-system": given.looking("Namespace", {"metadata": {"uid": uid}}, error)}


#: What is observed of a cluster that says something huge, by what that is.
SAID: dict[str, dict[str, Any]] = {
    "its uid": probed(HUGE),
    "why it does not answer": probed("uid-1", error=HUGE),
    "why it does not answer, in words": probed("uid-1", error="no way 1:1-> " * 20_000),
    "a name as address": addressed(f"{HUGE}.example.org"),
    "an IPv6 address with a zone": addressed(f"fe80::1%{HUGE}"),
    "an IPv4 address in brackets": addressed("[" * 100_000 + "192.0.2.1" + "]" * 100_000),
    "why its Gateway is not accepted": said_of_gateway(conditions=[{**FAILING, "message": HUGE}]),
    "the reason alone": said_of_gateway(conditions=[{**FAILING, "reason": HUGE}]),
    "the name of a listener": said_of_gateway(listeners=[{"name": HUGE, "conditions": [FAILING]}]),
    "many listeners": said_of_gateway(
        listeners=[{"name": f"l{number}", "conditions": [{**FAILING, "message": "why " * 50}]} for number in range(900)]
    ),
    "why its Gateway cannot be read": {"gateway": given.looking("Gateway", {"status": {}}, HUGE)},
    "whose it is": {"installation": given.looking("ConfigMap", {"data": {"id": HUGE}})},
    "why its mark cannot be read": {"installation": given.looking("ConfigMap", None, HUGE)},
    "why a part of its Gateway cannot be made": {"gateway-part-class": given.looking("GatewayClass", None, HUGE)},
}


@pytest.mark.parametrize("observed", SAID.values(), ids=SAID)
def test_what_a_cluster_says_of_itself_is_published_in_bounds(observed: dict[str, Any]) -> None:
    seen = given.reached(**probed("uid-1"))
    del seen["gateway"]
    result = given.run(
        given.cluster(), seen | observed, same_cluster=[], gateway=TRUSTED, installation=OWN_ID, replicas=[]
    )
    told = [(each.reason, each.message) for each in result.conditions]
    assert len(json.dumps([given.status(result), told])) < MOST
    assert all(len(json.dumps(body["metadata"])) < MOST for body in given.bodies(result).values())


def test_the_conditions_of_the_cases_say_what_the_cluster_says() -> None:
    seen = given.reached(**probed("uid-1"))
    failing = said_of_gateway(conditions=[{**FAILING, "message": HUGE}])
    result = given.run(given.cluster(), seen | failing, same_cluster=[])
    found = given.condition(result, "BackendReady")
    assert found.status is Status.FALSE
    assert "x" * 1000 in found.message


@pytest.mark.parametrize("uid", [HUGE, "with space", "-a", "a" * 64, "ü"])
def test_a_uid_that_is_none_is_published_as_its_digest_and_compared_by_it(uid: str) -> None:
    result = given.run(given.cluster(), given.reached(**probed(uid)), same_cluster=[])
    published = given.status(result)["clusterUID"]
    assert re.fullmatch(r"malformed-[0-9a-f]{8}", published)
    assert given.bodies(result)["provider-config"]["metadata"]["labels"] == {"modelplane.ai/cluster-uid": published}
    last = given.cluster(status={"clusterUID": published})
    again = given.run(last, given.reached(**probed(uid)), same_cluster=[])
    assert given.condition(again, "ClusterReady").status is Status.TRUE
    other = given.run(last, given.reached(**probed(f"{uid}!")), same_cluster=[])
    assert given.condition(other, "ClusterReady").reason == "IdentityChanged"


@pytest.mark.parametrize("address", ["fe80::1%eth0", "[192.0.2.1]", "192.0.2.1]", "gw\u212a.example.org", "a b"])
def test_what_is_neither_an_ip_address_nor_a_dns_name_is_no_address_of_a_gateway(address: str) -> None:
    result = given.run(given.cluster(), given.reached(**addressed(address)))
    assert "gateway" not in given.status(result)


INNER = [
    "localhost",
    "a.localhost",
    "kubernetes",
    "kubernetes.default.svc",
    "provider-router.envoy-gateway-system.svc.cluster.local",
    "metadata.google.internal",
    "x.team.eu-1.replicas.modelplane.internal",
    "127.0.0.1",
    "0.0.0.0",  # noqa: S104 - an address that a cluster reports
    "169.254.169.254",
    "168.63.129.16",
    "100.100.100.200",
    "::1",
    "::ffff:127.0.0.1",
    "fe80::1",
    "fd00:ec2::254",
    "fd20:ce::254",
]


@pytest.mark.parametrize("address", INNER)
def test_a_cluster_leads_no_request_into_the_control_cluster(address: str) -> None:
    result = given.run(given.cluster(), given.reached(**addressed(address)))
    assert "gateway" not in given.status(result)
    found = given.condition(result, "BackendReady")
    assert found.status is Status.FALSE
    assert f"the address {address}, which leads into the control cluster. Give it one" in found.message


@pytest.mark.parametrize("address", ["10.0.0.7", "192.168.1.9", "fd12::7", "gw.corp.internal", "gw.example.org"])
def test_a_cluster_in_a_private_network_is_reached(address: str) -> None:
    result = given.run(given.cluster(), given.reached(**addressed(address)))
    assert given.status(result)["gateway"]["address"] == address


def test_an_address_that_is_published_stays_and_one_outside_is_taken_of_several() -> None:
    inner = "gw.gateways.svc.cluster.local"
    last = given.cluster(status={"gateway": {"address": inner, "hostname": inner}})
    result = given.run(last, given.reached(**addressed(inner)))
    assert given.status(result)["gateway"]["address"] == inner
    both = said_of_gateway(addresses=[{"value": inner}, {"value": "192.0.2.7"}])
    assert given.status(given.run(given.cluster(), given.reached(**both)))["gateway"]["address"] == "192.0.2.7"
