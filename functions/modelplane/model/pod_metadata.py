"""Which labels and annotations of pods have an effect on a cluster, so that the platform team has to allow them."""

from collections.abc import Iterable
from typing import Final

#: Domains whose keys, subdomains included, are read by components of clusters: Kubernetes and its add-ons
#: (AppArmor profiles, autoscalers, queues), container runtimes and their plugins, attachments to other networks,
#: gateways and meshes, identities of clouds, what injects containers, Secrets or variables, and what collects logs and
#: metrics with credentials of its own.
_ACTING: Final = (
    "kubernetes.io",
    "k8s.io",
    "x-k8s.io",
    "karpenter.sh",
    "koordinator.sh",
    "stakater.com",
    "crio.io",
    "nri.io",
    "noderesource.dev",
    "cni.cncf.io",
    "multus-cni.io",
    "projectcalico.org",
    "cilium.io",
    "ovn.org",
    "openshift.io",
    "amazonaws.com",
    "azure.com",
    "azure.workload.identity",
    "aadpodidbinding",
    "gke.io",
    "cloud.google.com",
    "envoyproxy.io",
    "istio.io",
    "linkerd.io",
    "kuma.io",
    "dapr.io",
    "hashicorp.com",
    "banzaicloud.io",
    "bank-vaults.io",
    "1password.io",
    "opentelemetry.io",
    "dynatrace.com",
    "instana-autotrace",
    "instana.io",
    "doppler.com",
    "datadoghq.com",
    "elastic.logs",
    "elastic.metrics",
    "prometheus.io",
    "grafana.com",
    "jaegertracing.io",
    "volcano.sh",
    "run.ai",
    "konghq.com",
    "traefik.io",
)
#: What keys begin with whose domains stand the other way round: those of container runtimes (CRI-O and containerd,
#: hooks, runc and crun with properties of systemd units, Kata Containers, gVisor), and of Elastic's collectors.
_REVERSED: Final = (
    "io.kubernetes.",
    "io.containers.",
    "org.systemd.",
    "run.oci.",
    "io.katacontainers.",
    "dev.gvisor.",
    "co.elastic.",
)
#: Kubernetes' recommended labels, which have no effect.
_HARMLESS: Final = ("app.kubernetes.io",)
_OURS: Final = "modelplane.ai"


def _prefix(key: str) -> str:
    """Return the part of a key before its slash, the whole key if it has none."""
    return key.partition("/")[0].lower()


def _is_below(prefix: str, domain: str) -> bool:
    return prefix == domain or prefix.endswith(f".{domain}")


def _acts(prefix: str) -> bool:
    return prefix.startswith(_REVERSED) or any(_is_below(prefix, domain) for domain in (_OURS, *_ACTING))


def acting(keys: Iterable[str]) -> frozenset[str]:
    """Return the keys that a platform has to allow, and those in Modelplane's own domain."""
    found = {key: _prefix(key) for key in keys}
    return frozenset(key for key, prefix in found.items() if prefix not in _HARMLESS and _acts(prefix))


def find_denied(keys: Iterable[str], opened: Iterable[str]) -> str:
    """Return the first acting key that is not opened, "" when all are; Modelplane's own keys cannot be opened.

    `opened` are prefixes: `a.example` opens its own keys, `*.example` those of all domains below.
    """
    found = frozenset(each.lower() for each in opened)

    def is_open(prefix: str) -> bool:
        below = any(each.startswith("*.") and prefix.endswith(each[1:]) for each in found)
        return not _is_below(prefix, _OURS) and (prefix in found or below)

    return next((key for key in sorted(keys) if not is_open(_prefix(key))), "")
