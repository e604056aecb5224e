"""The gateway's address: the Gateway's own word, kept while it cannot be heard."""

from typing import Any

import pytest

from modelplane.model.conditions import Status
from unit.compose_cluster import clusters as given

LAST = {"address": "old.example.org", "hostname": "old.example.org"}
NEW = {"address": "gw.example.org", "hostname": "gw.example.org"}
BLIND = given.looking("Gateway", None, "external resource does not exist")
CASES: dict[str, tuple[Any, Any, Any]] = {
    "not looked yet, nothing known": (None, None, None),
    "not looked yet, known": (None, LAST, LAST),
    "never seen": (BLIND, None, None),
    "never seen, known": (BLIND, LAST, LAST),
    "a name": (given.gateway("gw.example.org"), None, NEW),
    "an IP address has no name yet": (given.gateway("203.0.113.7"), None, {"address": "203.0.113.7"}),
    "an IPv6 address": (given.gateway("2001:db8::7"), None, {"address": "2001:db8::7"}),
    "another address": (given.gateway("gw.example.org"), LAST, NEW),
    "several, the known one among them": (given.gateway("gw.example.org", "old.example.org"), LAST, LAST),
    "an old picture": (given.gateway("gw.example.org", error="timeout"), LAST, LAST),
    "an old picture, nothing known": (given.gateway("gw.example.org", error="timeout"), None, NEW),
    "an old picture without address": (given.gateway(error="timeout"), LAST, LAST),
    "the gateway has given it up": (given.gateway(), LAST, None),
    "malformed addresses": (given.looking("Gateway", {"status": {"addresses": "gw"}}), None, None),
    "what is no address, and one": (given.gateway("a b", "x" * 200_000, "gw.example.org"), None, NEW),
    "what is no address alone": (given.gateway("../gw"), LAST, None),
    "half-written": (given.looking("Gateway", {}), None, None),
}


@pytest.mark.parametrize(("seen", "last", "published"), CASES.values(), ids=CASES)
def test_the_last_address_stays_until_the_gateway_says_another(seen: Any, last: Any, published: Any) -> None:
    observed = given.reached()
    del observed["gateway"]
    if seen is not None:
        observed["gateway"] = seen
    result = given.run(given.cluster(status={"gateway": last} if last else {}), observed)
    assert given.status(result).get("gateway") == published
    backend = given.condition(result, "BackendReady")
    assert (backend.status, backend.reason) == (
        (Status.TRUE, "BackendHealthy") if published else (Status.FALSE, "Installing")
    )
    assert result.ready is bool(published)


def test_a_gateway_that_cannot_be_seen_is_reported_with_the_last_known_address() -> None:
    observed = given.reached(gateway=given.gateway("gw.example.org", error="no matches for kind Gateway"))
    message = given.condition(given.run(given.cluster(), observed), "BackendReady").message
    assert message == (
        "last known address gw.example.org, Gateway modelplane-system/inference-gateway is "
        f"not in sync since {given.SEEN_AT}: no matches for kind Gateway"
    )
