"""A ServingStack: what is installed and in which order, what is left alone, and what is said of each part."""

from typing import Any

import pytest

from modelplane.stack import CHARTS, PARTS, Part
from unit.compose_cluster.stacks import ALL_BUT_FEATURES, Cluster, condition, message, states

DEFAULT = {chart.name for part in ALL_BUT_FEATURES for chart in PARTS[part].charts}

#: Parts that somebody else can have installed.
INSTALLABLE = [str(part) for part, facts in PARTS.items() if not facts.own]


@pytest.mark.proves("P142")
def test_an_empty_cluster_gets_every_part_and_is_ready() -> None:
    cluster = Cluster()
    result = cluster.settle()
    assert set(cluster.installed) == DEFAULT
    assert states(result) == dict.fromkeys(map(str, ALL_BUT_FEATURES), "Running")
    assert (condition(result).status, condition(result).reason, condition(result).message) == (
        "True",
        "PartsRunning",
        "",
    )
    assert result.ready
    assert (result.status or {})["serves"] is True


def test_nothing_is_installed_before_it_is_known_what_the_cluster_runs() -> None:
    cluster = Cluster()
    assert "Release" not in {body["kind"] for body in cluster.composed.values()}
    cluster.turn(silent=[f"shown-{part}" for part in Part])
    assert cluster.composed["release-lws"]["spec"]["managementPolicies"] == ["Observe"]
    cluster.turn(silent=[f"shown-{part}" for part in Part])
    assert (cluster.installing(), cluster.installed) == (set(), [])


@pytest.mark.parametrize("part", ALL_BUT_FEATURES)
def test_what_somebody_else_runs_is_named_and_nothing_is_installed_over_it(part: Part) -> None:
    # Envoy AI Gateway is set up in Envoy Gateway: who runs the latter runs both.
    runs: set[Part] = {part, Part.AI_GATEWAY} if part is Part.GATEWAY else {part}
    cluster = Cluster(runs=runs)
    result = cluster.settle()
    own = {chart.name for each in runs for chart in PARTS[each].charts}
    assert set(cluster.installed) == DEFAULT - own
    assert states(result)[part] == "Present"
    assert condition(result).status == "True"


def test_ai_gateway_is_not_installed_beside_an_envoy_gateway_of_somebody_else() -> None:
    cluster = Cluster(runs={Part.GATEWAY})
    result = cluster.settle()
    assert {"gateway-helm", "ai-gateway-helm", "ai-gateway-crds-helm"}.isdisjoint(cluster.installed)
    assert (states(result)["aiGateway"], condition(result).reason) == ("Missing", "PartMissing")
    assert message(result, Part.AI_GATEWAY).endswith("and set spec.stack.gateway and spec.stack.aiGateway to Present")


def test_what_somebody_else_ran_is_not_replaced_once_it_is_gone() -> None:
    cluster = Cluster(runs={Part.LWS})
    cluster.settle()
    cluster.runs.clear()
    result = cluster.settle()
    assert ("lws" in cluster.installed, states(result)["lws"]) == (False, "Missing")
    assert "was there, installed by somebody else, and is gone" in message(result, Part.LWS)
    assert (condition(result).status, condition(result).reason) == ("False", "PartMissing")
    for asked in ("Present", "Managed"):
        cluster.spec = {"parts": {"lws": asked}}
        result = cluster.settle()
    assert ("lws" in cluster.installed, states(result)["lws"]) == (True, "Running")


def test_ai_gateway_waits_until_the_webhook_of_cert_manager_and_envoy_gateway_run() -> None:
    cluster = Cluster(pods={"mp-cert-manager-webhook": 0, "envoy-gateway": 0})
    result = cluster.settle()
    assert "ai-gateway-helm" not in cluster.installed
    assert message(result, Part.AI_GATEWAY) == "it is installed once cert-manager and Envoy Gateway run"
    cluster.pods["mp-cert-manager-webhook"] = 1
    assert message(cluster.settle(), Part.AI_GATEWAY) == "it is installed once Envoy Gateway runs"
    cluster.pods["envoy-gateway"] = 1
    assert states(cluster.settle())[Part.AI_GATEWAY] == "Running"


def _routed_to(cluster: Cluster) -> Any:
    """Return the kinds that Envoy Gateway is installed to route to, beside Services."""
    values = cluster.composed["release-gateway-helm"]["spec"]["forProvider"]["values"]
    return values["config"]["envoyGateway"]["extensionManager"].get("backendResources")


def test_envoy_gateway_routes_to_inference_pools_only_where_their_kind_exists_or_it_would_not_start() -> None:
    pools = [{"group": "inference.networking.k8s.io", "kind": "InferencePool", "version": "v1"}]
    cluster = Cluster(pools=False)
    assert states(cluster.settle())["gateway"] == "Running"
    assert _routed_to(cluster) is None
    cluster.pools = True
    cluster.settle()
    assert _routed_to(cluster) == pools
    del cluster.composed["pools"]["status"]
    cluster.turn(silent=["pools"])
    assert _routed_to(cluster) == pools


def test_envoy_gateway_is_not_installed_before_it_is_known_which_kinds_it_can_route_to() -> None:
    cluster = Cluster(releases={"mp-gateway-helm": {"state": "deployed", "revision": 1, "version": "v1.8.3"}})
    for _ in range(4):
        cluster.turn(silent=["pools"])
    assert "gateway-helm" not in cluster.installing()
    cluster.settle()
    assert "gateway-helm" in cluster.installing()


def test_a_part_does_not_wait_for_itself() -> None:
    cluster = Cluster(runs={Part.LWS})
    cluster.turn(silent=["release-ai-gateway-crds-helm"])
    said = {message(cluster.turn(silent=["release-ai-gateway-crds-helm"]), Part.AI_GATEWAY) for _ in range(4)}
    assert not any("Envoy AI Gateway" in each for each in said), said


def test_what_is_installed_stays_so_when_what_it_waited_for_goes() -> None:
    cluster = Cluster()
    cluster.settle()
    cluster.pods["mp-cert-manager-webhook"] = 0
    cluster.settle()
    assert "ai-gateway-helm" in cluster.installing()


def test_a_cluster_that_is_added_again_takes_over_its_releases_as_they_are() -> None:
    before = Cluster()
    before.settle()
    again = Cluster(releases=before.releases)
    result = again.settle()
    assert again.installed == []
    assert {name: release["revision"] for name, release in again.releases.items()} == dict.fromkeys(before.releases, 1)
    assert {row["origin"] for row in (result.status or {})["parts"]} == {"Modelplane"}


def test_present_is_checked_for_and_a_missing_part_is_named_with_the_command_that_installs_it() -> None:
    cluster = Cluster(spec={"parts": {"lws": "Present"}})
    result = cluster.settle()
    assert (states(result)["lws"], condition(result).reason) == ("Missing", "PartMissing")
    assert message(result, Part.LWS) == (
        "spec.stack.lws is Present, and the cluster has no APIService v1.leaderworkerset.x-k8s.io "
        "(apiregistration.k8s.io/v1). Install LeaderWorkerSet there (helm install lws "
        "oci://registry.k8s.io/lws/charts/lws --version v0.8.0 --namespace lws-system --create-namespace), or set "
        "spec.stack.lws to Managed"
    )
    cluster.runs.add(Part.LWS)
    assert (states(cluster.settle())["lws"], cluster.installing()) == ("Present", DEFAULT - {"lws"})


def test_the_inference_extension_has_no_chart_and_is_looked_for_where_it_is_asked_for() -> None:
    cluster = Cluster(spec={"parts": {"inferenceExtension": "Present"}}, pools=False)
    result = cluster.settle()
    assert set(cluster.installed) == DEFAULT
    assert (states(result)["inferenceExtension"], condition(result).status) == ("Missing", "True")
    assert message(result, Part.INFERENCE_EXTENSION) == (
        "spec.stack.inferenceExtension is Present, and the cluster has no APIService v1.inference.networking.k8s.io "
        "(apiregistration.k8s.io/v1). Install Gateway API's inference extension there: kubectl apply -f "
        "https://github.com/kubernetes-sigs/gateway-api-inference-extension/releases/download/v1.0.2/manifests.yaml"
    )
    cluster.pools = True
    assert states(cluster.settle())["inferenceExtension"] == "Present"


def test_present_after_managed_leaves_what_is_installed_and_updates_it_no_more() -> None:
    cluster = Cluster()
    cluster.settle()
    cluster.spec = {"parts": {"lws": "Present"}}
    result = cluster.settle()
    assert cluster.composed["release-lws"]["spec"]["managementPolicies"] == ["Observe"]
    assert (states(result)["lws"], condition(result).status) == ("Present", "True")
    assert "does not update it while spec.stack.lws is Present" in message(result, Part.LWS)


def test_feature_discovery_is_installed_where_it_is_asked_for_alone() -> None:
    cluster = Cluster(spec={"parts": {"nodeFeatureDiscovery": "Managed"}})
    cluster.settle()
    assert set(cluster.installed) == {*DEFAULT, "node-feature-discovery"}


def test_metrics_that_fail_take_nothing_down_and_are_reported() -> None:
    cluster = Cluster(pods={"mp-kube-prometheus-stack-operator": 0})
    result = cluster.settle()
    assert (condition(result).status, states(result)["metrics"]) == ("True", "Installing")
    assert condition(result).message == (
        "Prometheus: Deployment monitoring/mp-kube-prometheus-stack-operator: 0 of 1 pods are available. Look at them: "
        "kubectl get pods -n monitoring."
    )


@pytest.mark.parametrize(
    ("workload", "part"),
    [
        ("envoy-gateway", "Envoy Gateway"),
        ("ai-gateway-controller", "Envoy AI Gateway"),
        ("mp-lws-controller-manager", "LeaderWorkerSet"),
        ("dra-driver-nvidia-gpu-kubelet-plugin", "NVIDIA's DRA driver"),
    ],
)
def test_a_part_that_engines_need_makes_the_stack_unready_without_pods(workload: str, part: str) -> None:
    cluster = Cluster()
    cluster.settle()
    cluster.pods[workload] = 0
    result = cluster.settle()
    assert ((result.status or {})["serves"], condition(result).reason) == (False, "Installing")
    assert f"{part}: " in condition(result).message
    assert f"{workload}: 0 of 1 pods are available" in condition(result).message
    assert cluster.installing() == DEFAULT


def test_a_part_whose_upgrade_has_failed_serves_while_its_pods_run() -> None:
    cluster = Cluster(releases={"mp-lws": {"state": "failed", "revision": 2, "failed": 3, "releaseDescription": "x"}})
    result = cluster.settle()
    assert (states(result)["lws"], (result.status or {})["serves"]) == ("Failed", True)


def test_a_try_that_is_not_the_last_is_being_installed() -> None:
    failed = {"state": "failed", "revision": 1, "failed": 1, "releaseDescription": "a webhook did not answer"}
    cluster = Cluster(releases={"mp-lws": failed}, pods={"mp-lws-controller-manager": 0})
    assert message(cluster.settle(), Part.LWS) == "try 2 of 4 failed: a webhook did not answer"


def test_an_old_kubernetes_is_named_and_gets_nothing() -> None:
    cluster = Cluster(kubernetes=False)
    result = cluster.settle()
    assert (cluster.installed, condition(result).status) == ([], "False")
    assert "Kubernetes has from 1.34 on" in condition(result).message


def test_a_driver_without_a_node_says_which_label_nodes_need() -> None:
    cluster = Cluster()
    cluster.settle()
    driver = cluster.composed["workload-dra-driver-nvidia-gpu-kubelet-plugin"]
    driver["status"]["atProvider"]["manifest"]["status"] = {"desiredNumberScheduled": 0, "numberAvailable": 0}
    result = cluster.decide()
    assert "Label the nodes with GPUs nvidia.com/gpu.present=true" in message(result, Part.DRA)
    assert condition(result).status == "True", "all pools may be scaled to zero"


def test_on_a_cluster_of_another_nothing_is_installed_and_nothing_that_is_changes() -> None:
    new = Cluster(spec={"observeOnly": True})
    new.settle()
    assert (new.installed, new.installing()) == ([], set())
    old = Cluster()
    old.settle()
    revisions = dict(old.releases)
    old.spec = {"observeOnly": True}
    result = old.settle()
    assert (old.installing(), old.releases) == (set(), revisions)
    assert {name for name, body in old.composed.items() if body["kind"] == "Release"} == {
        f"release-{name}" for name in DEFAULT
    }
    assert condition(result).status == "True"
    old.spec = {}
    old.settle()
    assert old.installing() == DEFAULT


def test_what_another_cluster_has_changes_nothing_once_the_kubeconfig_leads_back() -> None:
    cluster, theirs = Cluster(runs={Part.CERT_MANAGER}), Cluster()
    before = cluster.settle().status
    theirs.settle()
    runs, releases, cluster.installed = cluster.runs, cluster.releases, []
    cluster.runs, cluster.releases, cluster.spec = set(), dict(theirs.releases), {"observeOnly": True}
    cluster.settle()
    cluster.runs, cluster.releases, cluster.spec = runs, releases, {}
    result = cluster.settle()
    assert cluster.installed == [], "not over what somebody else has installed there"
    assert result.status == before


#: What the control cluster has of provider-helm, and what is said then.
PROVIDERS: dict[str, tuple[dict[str, Any], str, str]] = {
    "nothing": (
        {},
        "ProviderMissing",
        "the control cluster has no kind Release (helm.m.crossplane.io/v1beta1) and ProviderConfig "
        "(helm.m.crossplane.io/v1beta1). Install provider-helm: kubectl apply -k install/.",
    ),
    "kinds that are not activated": (
        {
            "helm-release-definition": [
                {"metadata": {"name": "releases.helm.m.crossplane.io"}, "spec": {"state": "Inactive"}}
            ]
        },
        "KindInactive",
        "ManagedResourceDefinition releases.helm.m.crossplane.io is Inactive, so the control cluster has no kind "
        "Release. Activate it: kubectl apply -k install/.",
    ),
    "a provider that does not come up": (
        {
            "provider-helm": [
                {
                    "metadata": {"name": "upbound-provider-helm"},
                    "status": {"conditions": [{"type": "Healthy", "status": "False", "message": "no image"}]},
                }
            ]
        },
        "ProviderUnhealthy",
        "Provider upbound-provider-helm is not healthy: no image. Look at it: kubectl describe "
        "provider.pkg.crossplane.io upbound-provider-helm.",
    ),
}


@pytest.mark.parametrize(("there", "reason", "words"), PROVIDERS.values(), ids=PROVIDERS)
def test_without_its_provider_nothing_of_it_is_composed_and_what_to_do_is_said(
    there: dict[str, Any], reason: str, words: str
) -> None:
    gone: dict[str, Any] = {"definition-helm-release": [], "definition-helm-config": []}
    cluster = Cluster(kinds=dict.fromkeys(("helm-release", "helm-config")), required=gone | there)
    result = cluster.settle()
    assert {body["kind"] for body in cluster.composed.values()} == {"Object"}
    assert condition(result).reason == reason
    assert condition(result).message.startswith(words)
    assert result.fatal is None


def test_a_stack_that_is_all_present_needs_no_provider() -> None:
    present = {"parts": dict.fromkeys(INSTALLABLE, "Present")}
    cluster = Cluster(spec=present, runs=set(Part), kinds={"helm-release": None, "helm-config": None})
    result = cluster.settle()
    assert (condition(result).status, result.schemas, result.requirements) == ("True", (), ())


def test_releases_whose_kind_is_gone_stop_the_pass_so_that_nothing_is_deleted() -> None:
    cluster = Cluster()
    cluster.settle()
    cluster.kinds = dict.fromkeys(("helm-release", "helm-config"))
    cluster.required = {"definition-helm-release": (), "definition-helm-config": ()}
    assert "has no kind Release" in str(cluster.decide().fatal)


def test_a_provider_that_never_acts_is_looked_at() -> None:
    cluster = Cluster(required={"provider-helm": PROVIDERS["a provider that does not come up"][0]["provider-helm"]})
    releases = [f"release-{name}" for name in CHARTS]
    cluster.turn(silent=releases)
    result = cluster.turn(silent=releases)
    assert condition(result).reason == "ProviderUnhealthy"
    assert "provider-helm" in {each.name for each in result.requirements}


def test_values_of_a_cluster_reach_the_chart_of_their_part_and_no_other() -> None:
    cluster = Cluster(spec={"values": {"aiGateway": {"controller": {"replicaCount": 3}}}})
    cluster.settle()
    found = {
        name: body["spec"]["forProvider"].get("values", {})
        for name, body in cluster.composed.items()
        if "forProvider" in body["spec"]
    }
    assert found["release-ai-gateway-helm"]["controller"]["replicaCount"] == 3
    assert found["release-ai-gateway-helm"]["controller"]["mutatingWebhook"]["certManager"] == {"enable": True}
    assert found["release-ai-gateway-crds-helm"] == {}
    assert "controller" not in found["release-gateway-helm"]


def test_a_value_that_may_not_be_set_changes_nothing_and_what_serves_serves_on() -> None:
    cluster = Cluster()
    cluster.settle()
    before = {name: body["spec"] for name, body in cluster.composed.items()}
    cluster.spec = {"values": {"lws": {"replicas": 2}, "dra": {"nvidiaDriverRoot": "/opt"}}}
    result = cluster.settle()
    assert {name: body["spec"] for name, body in cluster.composed.items()} == before
    assert condition(result).message.startswith("spec.stack.values.lws has the key replicas, which is not set for")
    assert (result.status or {})["serves"] is True
    cluster.spec = {"values": {"dra": {"nvidiaDriverRoot": "/opt"}}}
    assert condition(cluster.settle()).status == "True"
    assert (
        cluster.composed["release-dra-driver-nvidia-gpu"]["spec"]["forProvider"]["values"]["nvidiaDriverRoot"] == "/opt"
    )


def test_a_prefix_for_charts_is_where_all_of_them_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELPLANE_CHARTS", "oci://mirror.example.org/charts/")
    cluster = Cluster()
    cluster.turn()
    chart = cluster.composed["release-gateway-helm"]["spec"]["forProvider"]["chart"]
    assert chart == {"name": "gateway-helm", "repository": "oci://mirror.example.org/charts", "version": "v1.8.3"}


def test_a_prefix_that_is_no_oci_registry_is_refused_and_what_is_installed_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Cluster()
    cluster.settle()
    before = {name: body["spec"] for name, body in cluster.composed.items()}
    monkeypatch.setenv("MODELPLANE_CHARTS", "https://mirror.example.org/charts")
    result = cluster.turn()
    assert {name: body["spec"] for name, body in cluster.composed.items()} == before
    assert condition(result).message.startswith(
        "environment variable MODELPLANE_CHARTS is 'https://mirror.example.org/charts', and charts come from OCI "
        "registries alone. Set it to oci://HOST/PATH in install/functions.yaml"
    )


def test_an_identity_that_the_provider_does_not_know_needs_every_part_present() -> None:
    nebius = {"type": "NebiusServiceAccountCredentials", "name": "sa", "key": "k"}
    cluster = Cluster(spec={"identity": nebius})
    result = cluster.settle()
    assert "set each of spec.stack to Present" in condition(result).message
    assert cluster.installing() == set()
    present = Cluster(spec={"identity": nebius, "parts": dict.fromkeys(INSTALLABLE, "Present")}, runs=set(Part))
    assert condition(present.settle()).status == "True"


def test_the_kubeconfig_and_an_identity_reach_helm_with_their_namespace() -> None:
    azure = {"type": "AzureWorkloadIdentityCredentials", "name": "sa", "key": "k"}
    cluster = Cluster(spec={"identity": azure})
    cluster.turn()
    reference = {"namespace": "modelplane-system", "name": "eu-1", "key": "kubeconfig"}
    assert cluster.composed["helm-config"]["spec"] == {
        "credentials": {"source": "Secret", "secretRef": reference},
        "identity": {
            "type": "AzureWorkloadIdentityCredentials",
            "source": "Secret",
            "secretRef": {"namespace": "modelplane-system", "name": "sa", "key": "k"},
        },
    }


def test_a_release_is_never_deleted_never_waits_and_keeps_its_name() -> None:
    cluster = Cluster()
    cluster.settle()
    for name, body in cluster.composed.items():
        if body["kind"] == "Release":
            spec = body["spec"]
            assert spec["managementPolicies"] == ["Observe", "Create", "Update"]
            assert ("wait" in spec["forProvider"], spec["forProvider"]["maxHistory"]) == (False, 3)
            assert spec["rollbackLimit"] == 3
            chart = name.removeprefix("release-")
            assert body["metadata"]["annotations"] == {"crossplane.io/external-name": f"mp-{chart}"}
