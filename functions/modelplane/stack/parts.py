"""The parts of the serving stack, in one table: chart, version, values, what shows that it is there, what it waits for.

Names of workloads are those that the charts give a release of the name `Chart.release`. The charts' own values are in
`values.py`. A version is compared literally by provider-helm, so it is written as the registry has it, with its "v" or
without.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from modelplane.model.names import INVENTORY, RBAC_GROUP
from modelplane.stack import values

#: Before the name of each chart in the name of its release. Helm knows a release by it, also after Modelplane has let
#: the cluster go: one that adds the cluster again finds its releases, and installs nothing twice.
RELEASE_PREFIX: Final = "mp-"


class Part(StrEnum):
    """A part, by its name in `spec.stack`."""

    CERT_MANAGER = "certManager"
    GATEWAY = "gateway"
    AI_GATEWAY = "aiGateway"
    LWS = "lws"
    NODE_FEATURE_DISCOVERY = "nodeFeatureDiscovery"
    DRA = "dra"
    INFERENCE_EXTENSION = "inferenceExtension"
    METRICS = "metrics"
    INVENTORY = "inventory"


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload of a chart, all of whose pods have to be available. It is in the chart's namespace."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart. `after` are the charts that have to run before it is first installed, by name.

    `alone` are its values where no part is asked for that is set up in them, None for the same ones.
    """

    name: str
    repository: str
    version: str
    namespace: str
    values: Mapping[str, Any] = field(default_factory=dict)
    workloads: tuple[Workload, ...] = ()
    after: tuple[str, ...] = ()
    alone: Mapping[str, Any] | None = None

    @property
    def release(self) -> str:
        """Return the name of its release on the cluster."""
        return f"{RELEASE_PREFIX}{self.name}"


@dataclass(frozen=True, slots=True)
class PartFacts:
    """A part: its charts in their order, and what the cluster has once it is there, whoever has installed it.

    `shown_by` is (apiVersion, kind, name) of an object of the cluster. `serves`: engines need it. `by_default`: it is
    installed where `spec.stack` leaves it out. `set_up_in` is a part in whose settings it is set up: it is installed
    only where Modelplane has installed that one. `command` installs a part that has no charts, and is never Managed. A
    part with `own`, a workload in the namespace of its name, is Modelplane's own: it has no charts.
    """

    title: str
    shown_by: tuple[str, str, str]
    charts: tuple[Chart, ...]
    serves: bool = False
    by_default: bool = True
    set_up_in: Part | None = None
    command: str = ""
    own: Workload | None = None


def api_service(group: str, version: str) -> tuple[str, str, str]:
    """Return the APIService of an API group, which every cluster has for each group whose CRDs are installed."""
    return "apiregistration.k8s.io/v1", "APIService", f"{version}.{group}"


#: Shows that a cluster has Dynamic Resource Allocation as Modelplane uses it: Kubernetes 1.34 and later.
KUBERNETES: Final = api_service("resource.k8s.io", "v1")

#: Shows that a cluster has InferencePools, whose kind is not among the parts.
POOLS: Final = api_service("inference.networking.k8s.io", "v1")

_ENVOY: Final = "oci://docker.io/envoyproxy"
_EG_NAMESPACE: Final = "envoy-gateway-system"
_AI_NAMESPACE: Final = "envoy-ai-gateway-system"

PARTS: Final[Mapping[Part, PartFacts]] = {
    Part.CERT_MANAGER: PartFacts(
        title="cert-manager",
        shown_by=api_service("cert-manager.io", "v1"),
        charts=(
            Chart(
                name="cert-manager",
                repository="oci://quay.io/jetstack/charts",
                version="v1.21.2",
                namespace="cert-manager",
                values=values.CERT_MANAGER,
                workloads=(
                    Workload("Deployment", "mp-cert-manager"),
                    Workload("Deployment", "mp-cert-manager-cainjector"),
                    # Available only once its webhook answers: what it validates is refused before.
                    Workload("Deployment", "mp-cert-manager-webhook"),
                ),
            ),
        ),
    ),
    Part.GATEWAY: PartFacts(
        title="Envoy Gateway",
        shown_by=api_service("gateway.envoyproxy.io", "v1alpha1"),
        serves=True,
        charts=(
            Chart(
                name="gateway-helm",
                repository=_ENVOY,
                version="v1.8.3",
                namespace=_EG_NAMESPACE,
                values=values.GATEWAY,
                alone=values.GATEWAY_ALONE,
                workloads=(Workload("Deployment", "envoy-gateway"),),
            ),
        ),
    ),
    Part.AI_GATEWAY: PartFacts(
        title="Envoy AI Gateway",
        shown_by=api_service("aigateway.envoyproxy.io", "v1alpha1"),
        serves=True,  # Envoy Gateway asks it about every route.
        set_up_in=Part.GATEWAY,
        charts=(
            Chart(name="ai-gateway-crds-helm", repository=_ENVOY, version="v1.0.0", namespace=_AI_NAMESPACE),
            Chart(
                name="ai-gateway-helm",
                repository=_ENVOY,
                version="v1.0.0",
                namespace=_AI_NAMESPACE,
                values=values.AI_GATEWAY,
                workloads=(Workload("Deployment", "ai-gateway-controller"),),
                after=("ai-gateway-crds-helm", "cert-manager", "gateway-helm"),
            ),
        ),
    ),
    Part.LWS: PartFacts(
        title="LeaderWorkerSet",
        shown_by=api_service("leaderworkerset.x-k8s.io", "v1"),
        serves=True,
        charts=(
            Chart(
                name="lws",
                repository="oci://registry.k8s.io/lws/charts",
                version="v0.8.0",
                namespace="lws-system",
                values=values.LWS,
                workloads=(Workload("Deployment", "mp-lws-controller-manager"),),
            ),
        ),
    ),
    Part.NODE_FEATURE_DISCOVERY: PartFacts(
        title="Node Feature Discovery",
        shown_by=api_service("nfd.k8s-sigs.io", "v1alpha1"),
        by_default=False,
        charts=(
            Chart(
                name="node-feature-discovery",
                repository="oci://registry.k8s.io/nfd/charts",
                version="0.18.3",
                namespace="node-feature-discovery",
                values=values.NODE_FEATURE_DISCOVERY,
                workloads=(
                    Workload("Deployment", "mp-node-feature-discovery-master"),
                    Workload("DaemonSet", "mp-node-feature-discovery-worker"),
                ),
            ),
        ),
    ),
    Part.DRA: PartFacts(
        title="NVIDIA's DRA driver",
        shown_by=("resource.k8s.io/v1", "DeviceClass", "gpu.nvidia.com"),
        serves=True,
        charts=(
            Chart(
                name="dra-driver-nvidia-gpu",
                repository="oci://registry.k8s.io/dra-driver-nvidia/charts",
                version="0.4.0",
                namespace="dra-driver-nvidia-gpu",
                values=values.DRA,
                workloads=(Workload("DaemonSet", "dra-driver-nvidia-gpu-kubelet-plugin"),),
            ),
        ),
    ),
    Part.INFERENCE_EXTENSION: PartFacts(
        title="Gateway API's inference extension",
        shown_by=POOLS,
        by_default=False,
        charts=(),
        command=(
            "kubectl apply -f https://github.com/kubernetes-sigs/gateway-api-inference-extension/releases/download/v1.0.2/"
            "manifests.yaml"
        ),
    ),
    Part.METRICS: PartFacts(
        title="Prometheus",
        shown_by=api_service("monitoring.coreos.com", "v1"),
        charts=(
            Chart(
                name="kube-prometheus-stack",
                repository="oci://ghcr.io/prometheus-community/charts",
                version="85.1.3",
                namespace="monitoring",
                values=values.METRICS,
                workloads=(Workload("Deployment", "mp-kube-prometheus-stack-operator"),),
            ),
        ),
    ),
    Part.INVENTORY: PartFacts(
        title="Modelplane's inventory",
        shown_by=(f"{RBAC_GROUP}/v1", "ClusterRole", INVENTORY),
        by_default=False,
        charts=(),
        own=Workload("Deployment", INVENTORY),
    ),
}

#: Every chart by name, with its part.
CHARTS: Final[Mapping[str, tuple[Part, Chart]]] = {
    chart.name: (part, chart) for part, facts in PARTS.items() for chart in facts.charts
}
