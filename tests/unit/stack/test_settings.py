"""What an installation sets for charts and images, and what a cluster sets of their values."""

from typing import Any

import pytest

from modelplane.kube.charts import chart_spec, merged, values_of, wrong_settings
from modelplane.stack import CHARTS
from modelplane.stack.overrides import wrong_values

A, B = f"sha256:{'a' * 64}", f"sha256:{'b' * 64}"
EVERY = (
    "cert-manager, gateway-helm, ai-gateway-crds-helm, ai-gateway-helm, lws, node-feature-discovery, "
    "dra-driver-nvidia-gpu, kube-prometheus-stack"
)
#: Settings that are refused, by variable and value, and what is said.
REFUSED = {
    "charts from a web server": (
        "MODELPLANE_CHARTS",
        "https://mirror.example.org/charts",
        "environment variable MODELPLANE_CHARTS is 'https://mirror.example.org/charts', and charts come from OCI "
        "registries alone. Set it to oci://HOST/PATH in install/functions.yaml",
    ),
    "charts from nowhere": (
        "MODELPLANE_CHARTS",
        "oci://",
        "environment variable MODELPLANE_CHARTS is 'oci://', and charts come from OCI registries alone. Set it to "
        "oci://HOST/PATH in install/functions.yaml",
    ),
    "images with a scheme": (
        "MODELPLANE_CHART_IMAGES",
        "oci://mirror.example.org",
        "environment variable MODELPLANE_CHART_IMAGES is 'oci://mirror.example.org', and the name of an image begins "
        "with the host of a registry. Set it to HOST/PATH in install/functions.yaml",
    ),
    "a digest of no chart": (
        "MODELPLANE_CHART_DIGESTS",
        f"gatway-helm={A}",
        "environment variable MODELPLANE_CHART_DIGESTS names 'gatway-helm', which is no chart of the serving stack. "
        f"The charts are {EVERY}. Correct it in install/functions.yaml",
    ),
    "a digest that is none": (
        "MODELPLANE_CHART_DIGESTS",
        "lws=sha256:abc",
        "environment variable MODELPLANE_CHART_DIGESTS has 'sha256:abc' for lws, and a digest is sha256: and 64 "
        "characters of 0-9 and a-f. Correct it in install/functions.yaml",
    ),
    "a digest of another chart": (
        "MODELPLANE_CHART_DIGESTS",
        f"lws={A}, cert-manager={B}, gateway-helm={A}",
        "environment variable MODELPLANE_CHART_DIGESTS has the same digest for lws and gateway-helm: one of them is "
        "another chart's. Correct it in install/functions.yaml",
    ),
}


@pytest.mark.parametrize(("variable", "value", "words"), REFUSED.values(), ids=REFUSED)
def test_a_setting_that_cannot_be_used_is_named_with_its_value_and_the_remedy(
    variable: str, value: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert wrong_settings() == words


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MODELPLANE_CHARTS", "oci://localhost:5000/charts/"),
        ("MODELPLANE_CHART_IMAGES", "mirror.example.org"),
        ("MODELPLANE_CHART_IMAGES", "mirror.example.org:5000/a/b_c/"),
        ("MODELPLANE_CHART_DIGESTS", f"lws={A}\ncert-manager={B}"),
    ],
)
def test_a_setting_that_can_be_used_is_not_refused(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, value)
    assert wrong_settings() == ""


def test_a_chart_is_pinned_to_the_digest_that_the_installation_has_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELPLANE_CHART_DIGESTS", f"lws={A},cert-manager={B}")
    place = {"name": "lws", "repository": "oci://registry.k8s.io/lws/charts", "version": "v0.8.0"}
    assert chart_spec(CHARTS["lws"][1]) == {**place, "digest": A}
    assert "digest" not in chart_spec(CHARTS["gateway-helm"][1])


#: Values that a cluster may not set, and what is said.
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no part": (
        {"envoy": {"replicas": 2}},
        "spec.stack.values has 'envoy', which is no part with values. They are certManager, gateway, aiGateway, lws, "
        "nodeFeatureDiscovery, dra, metrics, inventory",
    ),
    "no map": ({"lws": 2}, "spec.stack.values.lws is 2, and values of a chart are a map. Correct it"),
    "a key with a slip": (
        {"lws": {"replicas": 2}},
        "spec.stack.values.lws has the key replicas, which is not set for LeaderWorkerSet. It may have affinity, "
        "nodeSelector, resources, tolerations, imagePullSecrets, replicaCount",
    ),
    "a key that other parts depend on": (
        {"aiGateway": {"controller": {"mutatingWebhook": {"certManager": {"enable": False}}}}},
        "spec.stack.values.aiGateway has the key controller.mutatingWebhook.certManager.enable, which is not set for "
        "Envoy AI Gateway. It may have controller.affinity, controller.nodeSelector, controller.resources, "
        "controller.tolerations, controller.imagePullSecrets, controller.replicaCount, extProc.imagePullSecrets, "
        "extProc.logLevel, global.imagePullSecrets",
    ),
    "a key that only begins as one": (
        {"lws": {"resources.limits": 1, "replicaCount": 2}},
        "spec.stack.values.lws has the key resources.limits, which is not set for LeaderWorkerSet. It may have "
        "affinity, nodeSelector, resources, tolerations, imagePullSecrets, replicaCount",
    ),
    "an address of an image among the values of Modelplane's own": (
        {"inventory": {"image": "x"}},
        "spec.stack.values.inventory has the key image, which is not set for Modelplane's inventory. It may have "
        "imagePullSecrets, nodeSelector, tolerations",
    ),
    "a map where the pod has a list": (
        {"inventory": {"imagePullSecrets": {"name": "pull"}}},
        "spec.stack.values.inventory.imagePullSecrets is {'name': 'pull'}, and is to be a list. Correct it",
    ),
    "too much": (
        {"lws": {"affinity": {"a": "x" * 9000}}},
        "spec.stack.values.lws is longer than 8192 characters. Shorten it",
    ),
}


@pytest.mark.parametrize(("values", "words"), WRONG.values(), ids=WRONG)
def test_a_value_that_may_not_be_set_is_named_with_those_that_may(values: dict[str, Any], words: str) -> None:
    assert wrong_values(values) == words


def test_values_of_pods_and_of_the_machine_may_be_set() -> None:
    selector = {"a.example.org/pool": "system"}
    assert wrong_values({"dra": {"nvidiaDriverRoot": "/run/nvidia/driver"}, "lws": {"nodeSelector": selector}}) == ""


def test_a_value_of_a_cluster_stands_over_that_of_the_table_and_the_others_stay() -> None:
    chart = CHARTS["dra-driver-nvidia-gpu"][1]
    found = values_of(chart, {"kubeletPlugin": {"tolerations": []}, "nvidiaDriverRoot": "/run/nvidia/driver"})
    assert found["kubeletPlugin"] == {"tolerations": [], "priorityClassName": ""}
    assert (found["nvidiaDriverRoot"], found["gpuResourcesEnabledOverride"]) == ("/run/nvidia/driver", True)
    assert chart.values["kubeletPlugin"]["tolerations"] != [], "the table is as it was"
    assert merged({"a": {"b": 1}}, {"a": 2}) == {"a": 2}
