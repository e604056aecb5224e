"""Sources of components that tests and the local control plane read, mostly for their CustomResourceDefinitions."""

from pathlib import Path

from modelplane_dev.components.builds import source

#: A set and the module in it whose source is meant, as `source` takes them.
CORE = ("crossplane", "github.com/crossplane/crossplane/v2")
PROVIDER = ("provider-kubernetes", "github.com/crossplane-contrib/provider-kubernetes")
HELM_PROVIDER = ("provider-helm", "github.com/crossplane-contrib/provider-helm")
LWS = ("lws", "sigs.k8s.io/lws")
KWOK = ("kwok", "sigs.k8s.io/kwok")
GATEWAY_API = ("gateway-api", "sigs.k8s.io/gateway-api")
ENVOY_GATEWAY = ("envoy-gateway", "github.com/envoyproxy/gateway")
AI_GATEWAY = ("ai-gateway", "github.com/envoyproxy/ai-gateway")
CERT_MANAGER = ("cert-manager", "github.com/cert-manager/cert-manager")
GCP_PROVIDER = ("provider-gcp", "github.com/upbound/provider-gcp")
INFERENCE_EXTENSION = ("inference-extension", "sigs.k8s.io/gateway-api-inference-extension")


def core_crds() -> Path:
    """Return the folder of Crossplane's own CRDs: Composition, Configuration, Function and the like."""
    return source(*CORE) / "cluster" / "crds"


def core_meta_crds() -> Path:
    """Return the folder of the CRDs that define package metadata."""
    return source(*CORE) / "cluster" / "meta"


def provider_crds() -> Path:
    """Return the folder of provider-kubernetes' CRDs: Object, ClusterProviderConfig and the like."""
    return source(*PROVIDER) / "package" / "crds"


def helm_provider_crds() -> Path:
    """Return the folder of provider-helm's CRDs: Release, ProviderConfig and the like."""
    return source(*HELM_PROVIDER) / "package" / "crds"


def lws_crds() -> Path:
    """Return the folder of the CRD LeaderWorkerSet."""
    return source(*LWS) / "config" / "crd" / "bases"


def pod_stages() -> Path:
    """Return the folder of the stages that kwok takes a pod through when it is given no others."""
    return source(*KWOK) / "kustomize" / "stage" / "pod" / "fast"


def node_stages() -> tuple[Path, ...]:
    """Return the files of the stages that kwok takes a node through that renews a lease."""
    nodes = source(*KWOK) / "kustomize" / "stage" / "node"
    return nodes / "fast" / "node-initialize.yaml", nodes / "heartbeat-with-lease" / "node-heartbeat-with-lease.yaml"


def gateway_crds() -> Path:
    """Return the folder of Gateway API's CRDs of the standard channel."""
    return source(*GATEWAY_API) / "config" / "crd" / "standard"


def envoy_gateway_crds() -> Path:
    """Return the folder of Envoy Gateway's own CRDs: Backend, BackendTrafficPolicy, EnvoyProxy and the like."""
    return source(*ENVOY_GATEWAY) / "charts" / "gateway-helm" / "charts" / "crds" / "crds" / "generated"


def ai_gateway_crds() -> Path:
    """Return the folder of Envoy AI Gateway's CRDs: AIGatewayRoute and the like."""
    return source(*AI_GATEWAY) / "manifests" / "charts" / "ai-gateway-crds-helm" / "templates"


def cert_manager_crds() -> Path:
    """Return the folder of cert-manager's CRDs: Certificate, Issuer and the like."""
    return source(*CERT_MANAGER) / "deploy" / "crds"


def inference_pool_crds() -> Path:
    """Return the folder of the CRDs of Gateway API's inference extension: InferencePool and the like."""
    return source(*INFERENCE_EXTENSION) / "config" / "crd" / "bases"


def gcp_provider() -> Path:
    """Return the folder of provider-gcp's source: CRDs in package/crds, Terraform's schema in config/schema.json."""
    return source(*GCP_PROVIDER)
