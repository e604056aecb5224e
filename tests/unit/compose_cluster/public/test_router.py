"""The router, which requests to external providers pass: when it is made, who may call it, when it is published."""

from typing import Any

from unit.compose_cluster.public.gateways import NAMED, bodies, decided, serving
from unit.compose_cluster.public.test_authority import secrets, showing

PAIRS = secrets("ca", public_gateway_client="ca", provider_router_pair="ca")
PROGRAMMED = {"listeners": [{"name": "https", "conditions": [{"type": "Programmed", "status": "True"}]}]}


def described(**fields: Any) -> dict[str, Any]:
    """Return the objects of a gateway that has published its CA, and what the router needs."""
    return bodies(decided(showing(), secrets=PAIRS, **fields))


def test_the_router_comes_once_there_is_a_ca_its_pair_and_all_that_belongs_to_it() -> None:
    assert not [name for name in bodies(decided({})) if name.startswith("router")]
    store = described()
    assert {"router-certificate", "router-authority", "router-envoy-proxy"} <= store.keys()
    assert "router" not in store
    without = secrets("ca", public_gateway_client="ca")
    assert "router" not in bodies(decided(store, secrets=without)), "its pair is not issued"
    made = bodies(decided(store, secrets=PAIRS))
    assert {"router", "router-unknown-hosts"} <= made.keys()


def test_the_router_is_reached_inside_the_control_cluster_alone_by_the_public_gateways_certificate() -> None:
    store = described()
    made = bodies(decided(store, secrets=PAIRS))
    service = made["router-envoy-proxy"]["spec"]["provider"]["kubernetes"]["envoyService"]
    assert service == {"name": "provider-router", "type": "ClusterIP"}
    assert "backendTLS" not in made["router-envoy-proxy"]["spec"], "providers are shown no certificate"
    assert [each["protocol"] for each in made["router"]["spec"]["listeners"]] == ["HTTPS"]
    validation = made["router-client-traffic-policy"]["spec"]["tls"]["clientValidation"]
    assert validation["caCertificateRefs"][0]["name"] == made["router-authority"]["metadata"]["name"]


def test_the_gateway_is_not_ready_before_the_router_is_and_says_what_of_it_is_missing() -> None:
    def reported(store: dict[str, Any], secrets: dict[str, Any] = PAIRS) -> tuple[str, str]:
        (found,) = decided(store, secrets=secrets).conditions
        return found.status.value, found.message

    named = "Gateway modelplane-system/provider-router"
    store = described() | {name: body for name, body in serving("http").items() if "status" in body}
    assert reported(store, secrets("ca", public_gateway_client="ca")) == (
        "False",
        f"{named} is not composed yet: Secret provider-router-pair is not issued",
    )
    assert reported(store) == ("False", f"{named} is not composed yet")
    store["router"] = {**bodies(decided(store, secrets=PAIRS))["router"], "status": {}}
    assert reported(store) == ("False", f"{named} does not serve yet")
    refused = [{"type": "Programmed", "status": "False", "message": "no pods are available"}]
    store["router"]["status"] = {"conditions": refused}
    assert reported(store) == ("False", f"{named}: no pods are available")
    store["router"]["status"] = PROGRAMMED
    assert reported(store)[0] == "True"


def test_the_router_is_published_once_it_serves_and_then_always() -> None:
    store = bodies(decided(described(), secrets=PAIRS))
    assert "router" not in (decided(store, secrets=PAIRS).status or {})["services"]
    store["router"]["status"] = PROGRAMMED
    status = decided(store, secrets=PAIRS).status
    assert status is not None
    services = {**NAMED, "router": "provider-router.envoy-gateway-system.svc.cluster.local"}
    assert status["services"] == services
    store["router"]["status"] = {}
    kept = decided(store, secrets=PAIRS, status={"services": services}).status
    assert kept is not None
    assert kept["services"] == services
