"""The roles and policies of install/ on the real API server, and objects that they are about."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from apiserver.installed import RBAC, installed
from apiserver.server import Server
from modelplane.model.names import API_VERSION, GROUP, LABEL_CLUSTER, SYSTEM_NAMESPACE
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.api import Kind
from modelplane_dev.plane.cluster import ACCOUNTS, CROSSPLANE, PLATFORM, TEAM

Manifest = dict[str, Any]

PROVIDER = "kubernetes.m.crossplane.io"
#: Its earlier kinds, which are of the cluster: the provider installs and reconciles them too.
LEGACY_PROVIDER = "kubernetes.crossplane.io"
#: The plural names of our kinds.
KINDS = frozenset(file.parent.name for file in (ROOT / "apis").glob("*/definition.yaml"))
NAMESPACE, OTHER = "ml", "team"
REPLICA = Kind(API_VERSION, "ModelReplica")
VIEWER = "viewer"


def subject(user: str) -> Manifest:
    """Return a user of the server as a subject of a binding."""
    name = f"system:serviceaccount:{ACCOUNTS[user]}" if user in ACCOUNTS else user
    return {"kind": "User", "apiGroup": RBAC, "name": name}


def binding(role: str, user: str, *, within: str | None = None, kind: str = "ClusterRole") -> Manifest:
    """Return the binding of a role to a user, in a namespace or in the cluster."""
    where = {"namespace": within} if within else {}
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding" if within else "ClusterRoleBinding",
        "metadata": {"name": f"{role}-{user}-{kind.lower()}", **where},
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role},
        "subjects": [subject(user)],
    }


def obj(config: str = "east", name: str = "stranger") -> Manifest:
    """Return an Object that acts on the cluster of a ClusterProviderConfig."""
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}
    reference = {"kind": "ClusterProviderConfig", "name": config}
    return {
        "apiVersion": f"{PROVIDER}/v1alpha1",
        "kind": "Object",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"forProvider": {"manifest": manifest}, "providerConfigRef": reference},
    }


def replica(cluster: str = "east", label: str | None = "east", where: str = NAMESPACE, **metadata: Any) -> Manifest:
    """Return a ModelReplica as somebody writes it by hand."""
    labels = {LABEL_CLUSTER: label} if label else {}
    container = {"name": "engine", "image": "registry.example.org/engine:v1"}
    claims = [{"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 1}]
    template = {"spec": {"containers": [container]}}
    member = {"role": "Standalone", "nodePoolName": "h200", "deviceRequests": claims, "template": template}
    return {
        "apiVersion": REPLICA.api_version,
        "kind": REPLICA.kind,
        "metadata": {"name": "by-hand", "namespace": where, "labels": labels, **metadata},
        "spec": {"clusterName": cluster, "engines": [{"name": "main", "members": [member]}]},
    }


def referring(**reference: Manifest) -> Manifest:
    """Return an Object on a ProviderConfig of its namespace, with one reference."""
    made = obj()
    own = {"kind": "ProviderConfig", "name": "own"}
    return {**made, "spec": {**made["spec"], "providerConfigRef": own, "references": [reference]}}


def secret_of(where: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Secret", "name": "token", "namespace": where}


#: References of Objects, and whether only who may use every ClusterProviderConfig may write them.
REFERENCES: dict[str, tuple[Manifest, bool]] = {
    "a value of another namespace": (referring(patchesFrom={**secret_of(OTHER), "fieldPath": "data"}), True),
    "an object of another namespace": (referring(dependsOn=secret_of(SYSTEM_NAMESPACE)), True),
    "a value of its own namespace": (referring(patchesFrom={**secret_of(NAMESPACE), "fieldPath": "data"}), False),
    "an object of its own namespace": (referring(dependsOn=secret_of(NAMESPACE)), False),
}


def config(**credentials: Any) -> Manifest:
    """Return a ProviderConfig of a namespace."""
    metadata = {"name": "own", "namespace": NAMESPACE}
    kind = {"apiVersion": f"{PROVIDER}/v1alpha1", "kind": "ProviderConfig"}
    return {**kind, "metadata": metadata, "spec": {"credentials": credentials}}


KUBECONFIG = {"name": "east-kubeconfig", "key": "kubeconfig"}
CONFIGS = {
    "the provider's own identity": config(source="InjectedIdentity"),
    "a Secret of another namespace": config(source="Secret", secretRef={"namespace": SYSTEM_NAMESPACE, **KUBECONFIG}),
    "a kubeconfig that may run commands": config(source="Secret", secretRef={"namespace": NAMESPACE, **KUBECONFIG}),
}


def legacy(kind: str, version: str, spec: Manifest) -> Manifest:
    """Return an object of the provider's earlier kinds."""
    return {"apiVersion": f"{LEGACY_PROVIDER}/{version}", "kind": kind, "metadata": {"name": "stranger"}, "spec": spec}


LEGACY: dict[str, Manifest] = {
    "an Object": legacy(
        "Object",
        "v1alpha2",
        {"forProvider": obj()["spec"]["forProvider"], "providerConfigRef": {"name": "east"}},
    ),
    "an Object on the default ProviderConfig": legacy(
        "Object", "v1alpha2", {"forProvider": obj()["spec"]["forProvider"]}
    ),
    "a ProviderConfig with another namespace's kubeconfig": legacy(
        "ProviderConfig",
        "v1alpha1",
        {"credentials": {"source": "Secret", "secretRef": {"namespace": SYSTEM_NAMESPACE, **KUBECONFIG}}},
    ),
    "a ProviderConfig with the provider's own identity": legacy(
        "ProviderConfig", "v1alpha1", {"credentials": {"source": "InjectedIdentity"}}
    ),
}


OWNER = {"apiVersion": API_VERSION, "kind": "ModelDeployment", "name": "chat", "uid": "1"}


def endpoint(*owners: Manifest, url: str = "http://vault.vault.svc:8200") -> Manifest:
    """Return a ModelEndpoint as a ModelDeployment composes one, but for its URL."""
    metadata = {"name": "chat-east-0", "namespace": NAMESPACE, "ownerReferences": list(owners)}
    spec = {"url": url, "host": f"chat-east-0.{NAMESPACE}.east.replicas.modelplane.internal"}
    return {"apiVersion": API_VERSION, "kind": "ModelEndpoint", "metadata": metadata, "spec": spec}


@contextmanager
def rights_installed(server: Server) -> Iterator[Server]:
    """Apply the roles and policies, and bind them as the page does; Crossplane and the team may do anything besides.

    What they are refused is then the policies' work alone. The viewer and the platform have their roles and no more.
    """
    more = [
        binding("modelplane-team", "member", within=NAMESPACE),
        binding("modelplane-view", VIEWER, within=OTHER),
        binding("modelplane-view-fleet", VIEWER),
        binding("modelplane-platform", PLATFORM),
        binding("modelplane-platform", PLATFORM, within=SYSTEM_NAMESPACE, kind="Role"),
        binding("cluster-reader-writer", TEAM),
        binding("cluster-reader-writer", CROSSPLANE),
        binding("modelplane-cluster-configs", CROSSPLANE),
        # Crossplane's own role for those who edit has every verb on what is composed, in the whole cluster here.
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "cluster-reader-writer"},
            "rules": [
                {
                    "apiGroups": ["*"],
                    "resources": ["*"],
                    "verbs": ["get", "list", "watch", "create", "update", "patch", "delete"],
                },
                {"apiGroups": [PROVIDER, LEGACY_PROVIDER], "resources": ["*"], "verbs": ["*"]},
                {"apiGroups": [GROUP], "resources": sorted(KINDS), "verbs": ["*"]},
            ],
        },
    ]

    with installed(server, "rights.yaml", *more) as running:
        yield running
