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
        "modelplane.ai/picker",
        "io.kubernetes.cri-o.Devices",
        "io.kubernetes.cri-o.userns-mode/engine",
        "io.containers.trace-syscall",
        "org.systemd.property.SuccessAction",
        "run.oci.hooks.stdout",
        "io.katacontainers.config.hypervisor.kernel_params",
        "dev.gvisor.flag.debug",
        "irq-load-balancing.crio.io",
        "cpu-quota.crio.io",
        "devices.nri.io/container.engine",
        "devices.noderesource.dev/pod",
        "karpenter.sh/do-not-disrupt",
        "kueue.x-k8s.io/queue-name",
        "koordinator.sh/qosClass",
        "reloader.stakater.com/auto",
        "gateway.envoyproxy.io/owning-gateway-name",
        "gateway.networking.k8s.io/gateway-name",
        "instrumentation.opentelemetry.io/inject-python",
        "sidecar.opentelemetry.io/inject",
        "consul.hashicorp.com/connect-inject",
        "vault.hashicorp.com/agent-inject",
        "vault.security.banzaicloud.io/vault-addr",
        "secrets-webhook.security.bank-vaults.io/provider",
        "operator.1password.io/inject",
        "kuma.io/sidecar-injection",
        "dapr.io/enabled",
        "admission.datadoghq.com/enabled",
        "ad.datadoghq.com/engine.checks",
        "tags.datadoghq.com/env",
        "co.elastic.logs/enabled",
        "co.elastic.hints/package",
        "elastic.logs/enabled",
        "prometheus.io/scrape",
        "volcano.sh/preemptable",
        "run.ai/simple",
        "k8s.grafana.com/scrape",
        "sidecar.jaegertracing.io/inject",
        "instana-autotrace",
        "instana.io/agent",
        "konghq.com/plugins",
        "traefik.io/router",
        "secrets.doppler.com/reload",
        "oneagent.dynatrace.com/inject",
    ],
)
def test_what_a_cluster_acts_on_is_for_its_platform_to_open(key: str) -> None:
    assert acting([key, "team"]) == {key}


@pytest.mark.parametrize(
    "key",
    ["team", "example.org/scrape", "app.kubernetes.io/name", "notk8s.io/a", "k8s/a", "io.kubernetesx", "a.run.oci.b"],
)
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


def test_a_key_of_a_container_runtime_is_opened_by_its_own_name() -> None:
    key = "io.kubernetes.cri-o.ShmSize"
    assert find_denied({key}, ("io.kubernetes.cri-o.ShmSize",)) == ""
    assert find_denied({key}, ("io.kubernetes", "*.kubernetes")) == key


def test_keys_of_modelplane_are_never_open() -> None:
    assert find_denied({"modelplane.ai/builder"}, ("modelplane.ai", "*.ai")) == "modelplane.ai/builder"
