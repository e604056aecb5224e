"""What the NetworkPolicy of install/functions.yaml lets reach a function."""

from typing import Any

import pytest
import yaml

from modelplane_dev.folders import ROOT
from network_policies.evaluator import Packet, allowed
from network_policies.scene import pod_in

MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((ROOT / "install/functions.yaml").read_text()))
CONFIG, POLICY = MANIFESTS
_NAMESPACE = {"name": "crossplane-system", "labels": {}}
_SCRAPES = {"name": "monitoring", "labels": {"modelplane.ai/scrapes": "true"}}
_TEAM = {"name": "ml", "labels": {}}
_LABELS = CONFIG["spec"]["deploymentTemplate"]["spec"]["template"]["metadata"]["labels"]
PEERS = {
    "function": pod_in(_NAMESPACE, "10.2.0.1", _LABELS),
    "Crossplane": pod_in(_NAMESPACE, "10.2.0.2", {"app": "crossplane"}),
    "provider": pod_in(_NAMESPACE, "10.2.0.3", {"pkg.crossplane.io/provider": "provider-kubernetes"}),
    "Prometheus": pod_in(_SCRAPES, "10.2.0.4", {"app.kubernetes.io/name": "prometheus"}),
    "team": pod_in(_TEAM, "10.2.0.5", {"app": "crossplane"}),
}


@pytest.mark.parametrize(
    ("source", "destination", "port", "is_allowed"),
    [
        ("Crossplane", "function", 9443, True),
        ("Prometheus", "function", 8080, True),
        ("Crossplane", "function", 8080, False),
        ("Prometheus", "function", 9443, False),
        ("provider", "function", 9443, False),
        ("provider", "function", 8080, False),
        ("team", "function", 9443, False),
        ("team", "function", 8080, False),
        ("team", "provider", 8080, True),
    ],
)
def test_crossplane_calls_functions_and_who_may_scrape_reads_metrics(
    source: str, destination: str, port: int, is_allowed: bool
) -> None:
    assert allowed([POLICY], [Packet(PEERS[source], PEERS[destination], port)]) == [is_allowed]
