"""The providers: provider-kubernetes applies Objects to the inference clusters, provider-helm installs their charts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from modelplane_dev import components
from modelplane_dev.components import sources
from modelplane_dev.plane.cluster import ACCOUNTS, Cluster
from modelplane_dev.plane.crossplane import NAMESPACE, crds, establish
from modelplane_dev.processes.ports import free_port, listens
from modelplane_dev.processes.process import Process

#: Ports on which provider-kubernetes (9443), and Crossplane's RBAC manager and provider-helm (8080), listen whatever
#: their options are.
FIXED_PORTS = (9443, 8080)
KUBERNETES, HELM = "provider-kubernetes", "provider-helm"
#: The API groups of each. Those of provider-helm without "m" have kinds for the whole cluster, which nobody activates.
_GROUPS = {
    KUBERNETES: ("kubernetes.m.crossplane.io",),
    HELM: ("helm.m.crossplane.io", "helm.crossplane.io"),
}
#: What every provider is granted beside its own kinds.
_COMMON = (
    {
        "apiGroups": ["apiextensions.k8s.io"],
        "resources": ["customresourcedefinitions"],
        "verbs": ["get", "list", "watch"],
    },
    {
        "apiGroups": ["", "coordination.k8s.io"],
        "resources": ["secrets", "configmaps", "events", "leases"],
        "verbs": ["*"],
    },
)


def _grants(name: str) -> Iterator[dict[str, Any]]:
    """Return what Crossplane's RBAC manager grants for a ProviderRevision: to the provider, and to Crossplane."""
    rbac = "rbac.authorization.k8s.io"
    role = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole"}
    own = {"apiGroups": list(_GROUPS[name]), "resources": ["*"], "verbs": ["*"]}
    system = {"name": f"crossplane:{name}:system"}
    yield {**role, "metadata": system, "rules": [own, *_COMMON]}
    edit = {
        "name": f"crossplane:{name}:aggregate-to-edit",
        "labels": {"rbac.crossplane.io/aggregate-to-crossplane": "true"},
    }
    yield {**role, "metadata": edit, "rules": [own]}
    account = {"name": ACCOUNTS[name].split(":")[1], "namespace": NAMESPACE}
    yield {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": system,
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": system["name"]},
        "subjects": [{"kind": "ServiceAccount", **account}],
    }


def prepare(hub: Cluster) -> None:
    """Install provider-kubernetes' kinds and what Crossplane would grant it."""
    establish(hub, crds(components.provider_crds(), "kubernetes.m.crossplane.io_*.yaml"))
    for grant in _grants(KUBERNETES):
        hub.api.apply(grant)


def provider(hub: Cluster, *arguments: str) -> Process:
    """Return provider-kubernetes, with the arguments that an installation gives it."""
    run = hub.run
    command: list[str | Path] = [
        components.path("provider"),
        *arguments,
        f"--health-probe-bind-addr=127.0.0.1:{free_port()}",
        f"--metrics-bind-address=127.0.0.1:{free_port()}",
    ]
    environment = {"KUBECONFIG": hub.kubeconfig(KUBERNETES), "TLS_SERVER_CERTS_DIR": run.certificates.server}
    return Process(KUBERNETES, run.folder, command, environment)


def prepare_helm(hub: Cluster) -> None:
    """Install provider-helm's kinds and what Crossplane would grant it."""
    establish(hub, crds(sources.helm_provider_crds()))
    for grant in _grants(HELM):
        hub.api.apply(grant)


def helm_provider(hub: Cluster, *arguments: str) -> Process:
    """Return provider-helm, with the arguments that an installation gives it, which trusts the run's CA."""
    run = hub.run
    command: list[str | Path] = [components.path("provider-helm"), *arguments]
    environment = {"KUBECONFIG": hub.kubeconfig(HELM), "SSL_CERT_FILE": run.certificates.authority, "HOME": run.folder}
    return Process(HELM, run.folder, command, environment)


def busy_ports() -> list[int]:
    """Return the fixed ports on which another process listens already."""
    return [port for port in FIXED_PORTS if listens(port)]
