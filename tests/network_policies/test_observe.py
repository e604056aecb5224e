"""What the NetworkPolicy of install/observe lets `modelplane observe` reach, and who may reach it."""

from typing import Any

import pytest
import yaml

from modelplane.model.names import ENVOY_NAMESPACE, PUBLIC_GATEWAY, ROUTER, SYSTEM_NAMESPACE
from modelplane_dev.folders import ROOT
from network_policies.evaluator import Packet, Peer, allowed
from network_policies.scene import pod_in

MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((ROOT / "install/observe/observe.yaml").read_text()))
POLICIES = [each for each in MANIFESTS if each["kind"] == "NetworkPolicy"]
(DEPLOYMENT,) = (each for each in MANIFESTS if each["kind"] == "Deployment")


def _pod(ip: str, namespace: str, **labels: str) -> Peer:
    return pod_in({"name": namespace, "labels": {}}, ip, labels)


def _proxy(ip: str, gateway: str) -> Peer:
    return _pod(ip, ENVOY_NAMESPACE, **{"gateway.envoyproxy.io/owning-gateway-name": gateway})


OBSERVER = _pod("10.2.0.1", SYSTEM_NAMESPACE, **DEPLOYMENT["spec"]["template"]["metadata"]["labels"])
PEERS = {
    "observer": OBSERVER,
    "gateway": _proxy("10.2.0.2", PUBLIC_GATEWAY),
    "router": _proxy("10.2.0.3", ROUTER),
    "team": _pod("10.2.0.4", "ml"),
    "Prometheus": pod_in({"name": "monitoring", "labels": {"modelplane.ai/scrapes": "true"}}, "10.2.0.5", {}),
    "API server": Peer("10.96.0.1"),
    "metadata of the cloud": Peer("169.254.169.254"),
}


@pytest.mark.parametrize(
    ("source", "destination", "port", "is_allowed"),
    [
        ("observer", "gateway", 19001, True),
        ("observer", "API server", 443, True),
        ("observer", "API server", 6443, True),
        ("observer", "gateway", 19000, False),
        ("observer", "gateway", 10080, False),
        ("observer", "router", 19001, False),
        ("observer", "team", 8000, False),
        ("observer", "metadata of the cloud", 80, False),
        ("Prometheus", "observer", 8080, True),
        ("Prometheus", "observer", 22, False),
        ("team", "observer", 8080, False),
        ("gateway", "observer", 8080, False),
    ],
)
def test_it_reaches_statistics_and_the_api_server_and_who_may_scrape_reaches_its_metrics(
    source: str, destination: str, port: int, is_allowed: bool
) -> None:
    assert allowed(POLICIES, [Packet(PEERS[source], PEERS[destination], port)]) == [is_allowed]
