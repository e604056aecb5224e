"""provider-kubernetes, which applies the Objects of the control cluster to the inference clusters."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from modelplane_dev import components
from modelplane_dev.plane.cluster import ACCOUNTS, Cluster
from modelplane_dev.plane.crossplane import NAMESPACE, crds, establish
from modelplane_dev.processes.ports import free_port, listens
from modelplane_dev.processes.process import Process

#: Ports that it listens on whatever its options are.
FIXED_PORTS = (9443, 8080)
_ACCOUNT = ACCOUNTS["provider-kubernetes"].split(":")[1]


_OWN_KINDS = {"apiGroups": ["kubernetes.m.crossplane.io"], "resources": ["*"], "verbs": ["*"]}
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


def _grants() -> Iterator[dict[str, Any]]:
    """Return what Crossplane's RBAC manager grants for a ProviderRevision: to the provider, and to Crossplane."""
    rbac = "rbac.authorization.k8s.io"
    role = {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole"}
    system = {"name": "crossplane:provider:kubernetes:system"}
    yield {**role, "metadata": system, "rules": [_OWN_KINDS, *_COMMON]}
    edit = {
        "name": "crossplane:provider:kubernetes:aggregate-to-edit",
        "labels": {"rbac.crossplane.io/aggregate-to-crossplane": "true"},
    }
    yield {**role, "metadata": edit, "rules": [_OWN_KINDS]}
    yield {
        "apiVersion": f"{rbac}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": system,
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": system["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": NAMESPACE}],
    }


def prepare(hub: Cluster) -> None:
    """Install the provider's kinds and what Crossplane would grant it."""
    establish(hub, crds(components.provider_crds(), "kubernetes.m.crossplane.io_*.yaml"))
    for grant in _grants():
        hub.api.apply(grant)


def provider(hub: Cluster, *arguments: str) -> Process:
    """Return the provider, with the arguments that an installation gives it."""
    run = hub.run
    command: list[str | Path] = [
        components.path("provider"),
        *arguments,
        f"--health-probe-bind-addr=127.0.0.1:{free_port()}",
    ]
    environment = {"KUBECONFIG": hub.kubeconfig("provider-kubernetes"), "TLS_SERVER_CERTS_DIR": run.certificates.server}
    return Process("provider-kubernetes", run.folder, command, environment)


def busy_ports() -> list[int]:
    """Return those of the provider's fixed ports on which another process listens already."""
    return [port for port in FIXED_PORTS if listens(port)]
