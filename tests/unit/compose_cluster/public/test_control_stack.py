"""The parts of the control cluster: Present unless they are asked for, installed before the gateway, kept for good."""

from typing import Any

import pytest

from modelplane.step import Result
from unit.compose_cluster.public.gateways import bodies, decided, serving
from unit.compose_cluster.public.test_inference_gateway import reported
from unit.compose_cluster.stacks import Cluster, condition, states

MANAGED = {"stack": {"certManager": "Managed", "gateway": "Managed"}}
#: What Crossplane has fetched of a control cluster that is no InferenceCluster's, and of one that is.
ALONE: dict[str, Any] = {
    "namespace-kube-system": [{"metadata": {"name": "kube-system", "uid": "u-1"}}],
    "same-cluster": [],
}
SHARED = {**ALONE, "same-cluster": [{"metadata": {"name": "hub"}}]}


def told(*running: str, message: str = "") -> dict[str, Any]:
    """Return the ServingStack as it is observed, with these parts running."""
    body = bodies(decided({}, spec=MANAGED, secrets=ALONE))["serving-stack"]
    ready = {"type": "PartsReady", "status": "False", "reason": "PartFailed", "message": message}
    parts = [{"name": name, "state": "Running" if name in running else "Failed"} for name in ("certManager", "gateway")]
    return {**body, "status": {"conditions": [ready], "parts": parts}}


@pytest.mark.parametrize("spec", [{}, {"stack": {}}, {"stack": {"certManager": "Present", "gateway": "Present"}}])
def test_nothing_is_installed_on_the_control_cluster_unless_it_is_asked_for(spec: dict[str, Any]) -> None:
    result = decided({}, spec=spec, secrets=ALONE, kinds=False)
    assert "serving-stack" not in result.desired
    assert "namespace-kube-system" not in {each.name for each in result.requirements}
    assert reported(result)[2].endswith("Install Envoy Gateway and its CRDs. Install cert-manager and its CRDs.")


def test_one_part_that_is_managed_brings_a_stack_without_a_kubeconfig_before_any_kind_exists() -> None:
    result = decided({}, spec={"stack": {"gateway": "Managed"}}, secrets=ALONE, kinds=False)
    assert bodies(result) == {
        "serving-stack": {
            "apiVersion": "modelplane.ai/v1alpha1",
            "kind": "ServingStack",
            "metadata": {"name": "control-cluster.modelplane.ai", "namespace": "modelplane-system"},
            "spec": {
                "clusterName": "control-cluster.modelplane.ai",
                "parts": {"certManager": "Present", "gateway": "Managed"},
            },
        }
    }
    assert reported(result) == ("False", "Installing", "the serving stack has not been seen yet.")


def test_none_is_composed_before_it_is_known_whose_the_control_cluster_is() -> None:
    for known in ({}, {"namespace-kube-system": ALONE["namespace-kube-system"]}):
        result = decided({}, spec=MANAGED, secrets=known, kinds=False)
        assert result.desired == {}
    assert {"namespace-kube-system", "same-cluster"} <= {each.name for each in result.requirements}


def test_the_gateway_comes_once_both_parts_run_though_its_kinds_exist_before() -> None:
    for running in ((), ("certManager",), ("gateway",)):
        late = decided({"serving-stack": told(*running, message="cert-manager: x.")}, spec=MANAGED, secrets=ALONE)
        assert set(late.desired) == {"serving-stack"}
        assert reported(late)[2] == "cert-manager: x."
    ready = decided({"serving-stack": told("certManager", "gateway")}, spec=MANAGED, secrets=ALONE)
    assert {"authority", "envoy-proxy", "serving-stack"} <= set(ready.desired)


def test_a_gateway_that_serves_stays_whatever_happens_to_a_part_and_says_so() -> None:
    before = serving("http", secrets=ALONE, spec={})
    result = decided({**before, "serving-stack": told(message="Envoy Gateway: x.")}, spec=MANAGED, secrets=ALONE)
    assert before.keys() <= result.desired.keys()
    assert reported(result)[2].endswith("Envoy Gateway: x.")
    assert (result.status or {})["url"] == "http://gw.example.org"


@pytest.mark.parametrize("known", [ALONE, {}], ids=["known", "not known whose the cluster is"])
def test_a_stack_stays_when_the_parts_are_present_again(known: dict[str, Any]) -> None:
    result = decided({"serving-stack": told("certManager", "gateway")}, spec={}, secrets=known)
    assert bodies(result)["serving-stack"]["spec"]["parts"] == {"certManager": "Present", "gateway": "Present"}


def only(result: Result) -> bool:
    return bool(bodies(result)["serving-stack"]["spec"].get("observeOnly"))


def test_on_a_control_cluster_that_an_inference_cluster_has_nothing_is_installed_twice() -> None:
    result = decided({}, spec=MANAGED, secrets=SHARED, kinds=False)
    assert only(result)
    assert reported(result)[2].endswith(
        "InferenceCluster hub has the control cluster too, and its parts are that one's: set certManager and gateway "
        "in spec.stack of InferenceCluster hub."
    )
    stack = bodies(result)["serving-stack"]
    assert only(decided({"serving-stack": stack}, spec=MANAGED)), "it stays so while that is not known"
    assert not only(decided({"serving-stack": stack}, spec=MANAGED, secrets=ALONE))


def test_the_control_cluster_is_reached_by_the_providers_own_identity_and_needs_no_gpus() -> None:
    spec = bodies(decided({}, spec=MANAGED, secrets=ALONE))["serving-stack"]["spec"]
    cluster = Cluster(spec={**spec, "kubeconfig": None}, kubernetes=False)
    result = cluster.settle()
    assert (set(cluster.installed), condition(result).status) == ({"cert-manager", "gateway-helm"}, "True")
    assert states(result) == {"certManager": "Running", "gateway": "Running"}
    for name, api in (("helm-config", "helm.m.crossplane.io"), ("kubernetes-config", "kubernetes.m.crossplane.io")):
        body = cluster.composed[name]
        assert body["apiVersion"].startswith(api)
        assert (body["kind"], body["spec"]) == ("ProviderConfig", {"credentials": {"source": "InjectedIdentity"}})
    reference = {"kind": "ProviderConfig", "name": "control-cluster.modelplane.ai"}
    assert {str(body["spec"].get("providerConfigRef", reference)) for body in cluster.composed.values()} == {
        str(reference)
    }


def test_envoy_gateway_asks_no_ai_gateway_where_there_is_none() -> None:
    cluster = Cluster(spec={"clusterName": "c", "kubeconfig": None, "parts": {"gateway": "Managed"}})
    cluster.settle()
    config = cluster.composed["release-gateway-helm"]["spec"]["forProvider"]["values"]["config"]["envoyGateway"]
    assert config == {"extensionApis": {"enableBackend": True}}
    engines = Cluster()
    engines.settle()
    config = engines.composed["release-gateway-helm"]["spec"]["forProvider"]["values"]["config"]["envoyGateway"]
    assert "extensionManager" in config
