"""Labels and annotations of teams' pods that parts of a cluster act on."""

import pytest

from modelplane.model.pod_metadata import acting, find_denied


@pytest.mark.parametrize(
    "key",
    [
        "container.apparmor.security.beta.kubernetes.io/engine",
        "cluster-autoscaler.kubernetes.io/safe-to-evict",
        "leaderworkerset.sigs.k8s.io/size",
        "k8s.v1.cni.cncf.io/networks",
        "iam.amazonaws.com/role",
        "azure.workload.identity/use",
        "iam.gke.io/gcp-service-account",
        "aadpodidbinding",
        "sidecar.istio.io/inject",
        "K8S.V1.cni.cncf.io/networks",
        "modelplane.ai/builder",
    ],
)
def test_what_a_cluster_acts_on_is_for_its_platform_to_open(key: str) -> None:
    assert acting([key, "team"]) == {key}


@pytest.mark.parametrize("key", ["team", "prometheus.io/scrape", "app.kubernetes.io/name", "notk8s.io/a", "k8s/a"])
def test_everything_else_is_the_teams(key: str) -> None:
    assert not acting([key])


@pytest.mark.parametrize(
    ("opened", "denied"),
    [
        ((), "iam.amazonaws.com/role"),
        (("iam.amazonaws.com",), ""),
        (("IAM.amazonaws.com",), ""),
        (("*.amazonaws.com",), ""),
        (("amazonaws.com",), "iam.amazonaws.com/role"),
        (("*.iam.amazonaws.com",), "iam.amazonaws.com/role"),
    ],
)
def test_a_prefix_opens_its_own_keys_and_with_a_star_those_below(opened: tuple[str, ...], denied: str) -> None:
    assert find_denied({"iam.amazonaws.com/role"}, opened) == denied


def test_keys_of_modelplane_are_never_open() -> None:
    assert find_denied({"modelplane.ai/builder"}, ("modelplane.ai", "*.ai")) == "modelplane.ai/builder"
