"""The preview routes as a control plane with Envoy Gateway does: from a deployment to the URL of its service."""

import copy
from typing import Any

import pytest
import yaml

from modelplane.preview import ControlPlane
from modelplane.preview.store import Store
from modelplane.reading.kinds import Key
from modelplane_dev.folders import ROOT
from property.services import references
from unit.preview.fakes import conditions_of

API = "modelplane.ai/v1alpha1"
GATEWAY = {"apiVersion": API, "kind": "InferenceGateway", "metadata": {"name": "default"}, "spec": {}}
SERVICE = {
    "apiVersion": API,
    "kind": "ModelService",
    "metadata": {"name": "chat", "namespace": "ml"},
    "spec": {"endpoints": [{"selector": {"matchLabels": {"modelplane.ai/deployment": "qwen3-8b"}}}]},
}
FILES = ("fleet/classes.yaml", "fleet/clusters-eu.yaml", "fleet/clusters-us.yaml", "deployments/qwen3-8b.yaml")


def documents() -> list[Any]:
    return [each for file in FILES for each in yaml.safe_load_all((ROOT / "examples" / file).read_text())]


def test_a_service_of_a_deployment_has_a_url_that_reaches_each_of_its_replicas() -> None:
    control = ControlPlane([*documents(), GATEWAY, SERVICE])
    assert control.settle()
    service = control.get("ModelService", "ml", "chat")
    assert service is not None
    assert service["status"]["address"] == "http://control.gateways.example/ml/chat"
    assert conditions_of(service)["RoutingReady"][:2] == ("True", "RouteConfigured")
    (backend,) = (each for each in control.list("Backend") if each["metadata"]["namespace"] == "ml")
    hosts = [each["hostname"].partition(".")[0] for each in backend["spec"]["endpoints"]]
    assert hosts == [each["metadata"]["name"] for each in control.list("ModelReplica")]
    assert len(hosts) == 3


def test_the_gateway_cannot_be_deleted_while_a_service_is_reached_through_it() -> None:
    control = ControlPlane([GATEWAY, SERVICE])
    assert control.settle()
    control.delete("InferenceGateway", None, "default")
    assert control.get("InferenceGateway", None, "default") is not None


def test_the_route_of_a_service_that_is_deleted_refers_to_what_is_there_between_any_two_deletions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    control = ControlPlane([*documents(), GATEWAY, SERVICE])
    assert control.settle()
    removed, remove = [], Store.remove

    def watched(store: Store, key: Key) -> None:
        remove(store, key)
        removed.append(key.kind.partition(".")[0])
        there = {(each["kind"], each["metadata"]["name"]) for each in control.everything()}
        for route in control.list("HTTPRoute"):
            if route["metadata"]["namespace"] == "ml":
                assert references(route) <= there

    monkeypatch.setattr(Store, "remove", watched)
    control.delete("ModelService", "ml", "chat")
    assert removed[:2] == ["ModelService", "HTTPRoute"]
    assert {"Backend", "HTTPRouteFilter"} <= set(removed)


def test_without_envoy_gateway_a_service_waits_and_no_pass_fails() -> None:
    control = ControlPlane([*documents(), copy.deepcopy(GATEWAY), SERVICE], world=None)
    assert control.settle()
    assert control.errors == {}
    assert conditions_of(control.get("ModelService", "ml", "chat"))["RoutingReady"][1] == "WaitingForGateway"
    assert conditions_of(control.get("InferenceGateway", None, "default"))["ControllerReady"][1] == "Installing"


@pytest.mark.parametrize(
    ("host", "reason"),
    [
        ("kubernetes.default", "InvalidHost"),
        ("kube-dns.kube-system", "InvalidHost"),
        ("chat.ml", "InvalidHost"),
        ("web", "InvalidHost"),
        ("api.example", "WaitingForGateway"),
    ],
)
def test_a_host_that_is_called_as_a_service_of_a_namespace_that_there_is_is_refused(host: str, reason: str) -> None:
    metadata = {"name": "provider", "namespace": "ml"}
    endpoint = {"apiVersion": API, "kind": "ModelEndpoint", "metadata": metadata, "spec": {"url": f"https://{host}"}}
    control = ControlPlane([GATEWAY, SERVICE, endpoint])
    assert control.settle()
    found = conditions_of(control.get("ModelEndpoint", "ml", "provider"))["RoutingReady"]
    assert found[:2] == ("False", reason)
