"""Kinds of the control cluster: their names, which exist besides Modelplane's own, and their scope."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Key(NamedTuple):
    """Identity of an object. `kind` is `Kind.group` (`Kind` in the core group), `namespace` "" for cluster scope."""

    kind: str
    namespace: str
    name: str


def qualify(api_version: str, kind: str) -> str:
    """Return `Kind.group`, or `Kind` for the core group."""
    group, slash, _ = api_version.rpartition("/")
    return f"{kind}.{group}" if slash else kind


def key_of(obj: Mapping[str, Any]) -> Key:
    """Return the identity of an object that has a kind and a name."""
    metadata = obj["metadata"]
    return Key(qualify(obj["apiVersion"], obj["kind"]), metadata.get("namespace") or "", metadata["name"])


def refer(reference: Mapping[str, Any], namespace: str | None) -> Key:
    """Return the identity that an object reference (apiVersion, kind, name) has in a namespace."""
    kind = qualify(str(reference.get("apiVersion", "")), str(reference.get("kind", "")))
    return Key(kind, namespace or "", str(reference.get("name", "")))


class OwnKind(NamedTuple):
    """A kind of ours: its name in paths, its short name, and whether it is namespaced."""

    plural: str
    short: str
    namespaced: bool


#: Our kinds, as the XRDs have them, which take too long to be read for a table.
OWN: Mapping[str, OwnKind] = MappingProxyType(
    {
        "ClusterModel": OwnKind("clustermodels", "clm", namespaced=False),
        "InferenceClass": OwnKind("inferenceclasses", "icl", namespaced=False),
        "InferenceCluster": OwnKind("inferenceclusters", "ic", namespaced=False),
        "InferenceGateway": OwnKind("inferencegateways", "ig", namespaced=False),
        "ManagedCluster": OwnKind("managedclusters", "", namespaced=True),
        "ModelCache": OwnKind("modelcaches", "mc", namespaced=True),
        "ModelDeployment": OwnKind("modeldeployments", "md", namespaced=True),
        "ModelEndpoint": OwnKind("modelendpoints", "me", namespaced=True),
        "ModelReplica": OwnKind("modelreplicas", "mr", namespaced=True),
        "ModelService": OwnKind("modelservices", "ms", namespaced=True),
        "ServingStack": OwnKind("servingstacks", "", namespaced=True),
    }
)

#: Namespaced kinds of Kubernetes and of the packages that the Configuration depends on, by apiVersion.
NAMESPACED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "v1": frozenset(
            {"ConfigMap", "Endpoints", "Event", "LimitRange", "PersistentVolumeClaim", "Pod", "PodTemplate"}
            | {"ReplicationController", "ResourceQuota", "Secret", "Service", "ServiceAccount"}
        ),
        "apps/v1": frozenset({"ControllerRevision", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"}),
        "autoscaling/v2": frozenset({"HorizontalPodAutoscaler"}),
        "batch/v1": frozenset({"CronJob", "Job"}),
        "coordination.k8s.io/v1": frozenset({"Lease"}),
        "discovery.k8s.io/v1": frozenset({"EndpointSlice"}),
        "events.k8s.io/v1": frozenset({"Event"}),
        "networking.k8s.io/v1": frozenset({"Ingress", "NetworkPolicy"}),
        "policy/v1": frozenset({"PodDisruptionBudget"}),
        "rbac.authorization.k8s.io/v1": frozenset({"Role", "RoleBinding"}),
        "resource.k8s.io/v1": frozenset({"ResourceClaim", "ResourceClaimTemplate"}),
        "kubernetes.m.crossplane.io/v1alpha1": frozenset({"Object", "ObservedObjectCollection", "ProviderConfig"}),
        "helm.m.crossplane.io/v1beta1": frozenset({"ProviderConfig", "Release"}),
        "protection.crossplane.io/v1beta1": frozenset({"Usage"}),
    }
)

#: Their cluster-scoped kinds.
CLUSTER_SCOPED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "v1": frozenset({"Namespace", "Node", "PersistentVolume"}),
        "apiextensions.k8s.io/v1": frozenset({"CustomResourceDefinition"}),
        "apiextensions.crossplane.io/v1": frozenset({"Composition", "CompositionRevision"}),
        "apiextensions.crossplane.io/v1alpha1": frozenset({"ManagedResourceDefinition"}),
        "apiextensions.crossplane.io/v2": frozenset({"CompositeResourceDefinition"}),
        "pkg.crossplane.io/v1": frozenset({"Configuration", "Function", "FunctionRevision", "Provider"}),
        "rbac.authorization.k8s.io/v1": frozenset({"ClusterRole", "ClusterRoleBinding"}),
        "resource.k8s.io/v1": frozenset({"DeviceClass", "ResourceSlice"}),
        "scheduling.k8s.io/v1": frozenset({"PriorityClass"}),
        "storage.k8s.io/v1": frozenset({"StorageClass", "VolumeAttachment"}),
        "kubernetes.m.crossplane.io/v1alpha1": frozenset({"ClusterProviderConfig"}),
        "helm.m.crossplane.io/v1beta1": frozenset({"ClusterProviderConfig"}),
        "protection.crossplane.io/v1beta1": frozenset({"ClusterUsage"}),
    }
)


#: Kinds of the control cluster's gateway, by apiVersion: they exist where Envoy Gateway and cert-manager are installed.
#: One of them is cluster-scoped.
GATEWAY_KINDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "gateway.networking.k8s.io/v1": frozenset({"Gateway", "GatewayClass", "HTTPRoute"}),
        "gateway.envoyproxy.io/v1alpha1": frozenset(
            {
                "Backend",
                "BackendTrafficPolicy",
                "ClientTrafficPolicy",
                "EnvoyExtensionPolicy",
                "EnvoyProxy",
                "HTTPRouteFilter",
                "SecurityPolicy",
            }
        ),
        "cert-manager.io/v1": frozenset({"Certificate", "Issuer"}),
    }
)
GATEWAY_CLASS = ("gateway.networking.k8s.io/v1", "GatewayClass")


#: The kind of config of a provider that is cluster-scoped.
CLUSTER_CONFIG = "ClusterProviderConfig"
#: Groups of the clouds' providers end in this: their managed resources and ProviderConfigs are namespaced.
CLOUD_PROVIDERS = ".m.upbound.io"


def is_of_cloud(kind: str) -> bool:
    """Tell whether a kind (`Kind.group`) is of a cloud's provider."""
    return kind.endswith(CLOUD_PROVIDERS)


def known_scope(api_version: str, kind: str) -> bool | None:
    """Tell whether a kind that is not ours is namespaced; None when it is not known."""
    if kind in NAMESPACED.get(api_version, ()):
        return True
    return False if kind in CLUSTER_SCOPED.get(api_version, ()) else None
