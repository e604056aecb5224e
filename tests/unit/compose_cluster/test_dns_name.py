"""The DNS name of a cluster whose gateway has an IP address: made first, published then, and kept."""

from typing import Any

from modelplane.model.names import SYSTEM_NAMESPACE
from unit.compose_cluster import clusters as given

IP, OTHER, IPV6 = "203.0.113.7", "203.0.113.8", "2001:db8::7"
OURS = {"gateway-service", "gateway-endpoints-IPv4"}


def run(*addresses: str, last: dict[str, str] | None = None, **seen: Any) -> tuple[dict[str, Any], Any]:
    """Return what is composed for the name, and what is published of the gateway."""
    observed = given.reached(gateway=given.gateway(*addresses)) | seen
    status = {"gateway": last} if last else {}
    result = given.run(given.cluster(status=status), observed)
    composed = {name: body for name, body in given.bodies(result).items() if name.startswith("gateway-")}
    return composed, given.status(result).get("gateway")


def named(address: str = IP) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what is composed and published of a cluster that has had its name for a while."""
    composed, _ = run(address)
    _, published = run(address, **composed)
    return composed, published


def test_a_name_that_resolves_to_the_address_is_published_once_both_of_its_objects_are_observed() -> None:
    composed, published = run(IP)
    assert composed.keys() == OURS
    assert published == {"address": IP}
    for missing in OURS:
        seen = {name: body for name, body in composed.items() if name != missing}
        assert run(IP, **seen)[1] == {"address": IP}
    name = composed["gateway-service"]["metadata"]["name"]
    expected = {"address": IP, "hostname": f"{name}.{SYSTEM_NAMESPACE}.svc.cluster.local"}
    assert run(IP, **composed)[1] == expected
    slice_ = composed["gateway-endpoints-IPv4"]
    assert slice_["metadata"]["labels"]["kubernetes.io/service-name"] == name
    assert (slice_["addressType"], slice_["endpoints"][0]["addresses"]) == ("IPv4", [IP])


def test_a_gateway_with_a_name_of_its_own_needs_no_other() -> None:
    assert run("gw.example.org") == ({}, {"address": "gw.example.org", "hostname": "gw.example.org"})


def test_another_address_keeps_the_name() -> None:
    composed, published = named()
    moved, still = run(OTHER, last=published, **composed)
    assert still == {"address": OTHER, "hostname": published["hostname"]}
    assert moved["gateway-endpoints-IPv4"]["endpoints"][0]["addresses"] == [OTHER]


def test_an_address_of_the_other_family_has_a_slice_of_its_own_and_the_same_name() -> None:
    composed, published = named()
    moved, still = run(IPV6, last=published, **composed)
    assert moved.keys() == {"gateway-service", "gateway-endpoints-IPv6"}
    assert still["hostname"] == published["hostname"]


def test_the_name_stays_while_the_gateway_has_no_address_and_goes_once_another_is_published() -> None:
    composed, published = named()
    assert run(last=published, **composed)[0].keys() == OURS
    moved, new = run("gw.example.org", last=published, **composed)
    assert moved.keys() == OURS
    assert run("gw.example.org", last=new, **composed)[0] == {}
