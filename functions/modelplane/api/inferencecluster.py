"""InferenceCluster as pydantic models, generated from apis/ by `make generate`; edit the XRD, not this."""

from typing import Any, Literal

from pydantic import BaseModel, Field


class OwnerReference(BaseModel):
    """An object that this one belongs to."""

    apiVersion: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    blockOwnerDeletion: bool | None = None


class Metadata(BaseModel):
    """Metadata of the object, as far as a function looks at it."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resourceVersion: str | None = None
    generation: int | None = None
    creationTimestamp: str | None = None
    deletionTimestamp: str | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str] | None = None
    ownerReferences: list[OwnerReference] | None = None


class Credentials(BaseModel):
    """Config of provider-gcp by which the cluster is made; its projectID is the project."""

    type: Literal["ProviderConfig", "ClusterProviderConfig"] = "ClusterProviderConfig"
    name: str = "default"


class Existing(BaseModel):
    """A network that is there already, also one of another project (Shared VPC)."""

    network: str
    subnetwork: str
    podRange: str
    serviceRange: str


class Network(BaseModel):
    """The network of the cluster. Omitted, one is made, with a /16 of 10.0.0.0/8 that the cluster's name decides."""

    cidr: str | None = None
    existing: Existing | None = None


class Maintenance(BaseModel):
    """When Google upgrades nodes by itself, which ends the pods on them."""

    nodeUpgrades: Literal["Held", "Automatic"] = "Held"
    start: str = "03:00"


class Gke(BaseModel):
    """How Modelplane makes a cluster on Google Kubernetes Engine. It deletes it, with all that is on it, when the InferenceCluster is deleted."""

    region: str
    kubernetesVersion: str = "1.35"
    credentials: Credentials | None = None
    network: Network | None = None
    apiAccess: Literal["Public", "DNS"] = "Public"
    apiAccessCIDRs: list[str] | None = None
    maintenance: Maintenance | None = None


class SecretRef(BaseModel):
    """Secret with the kubeconfig, in the namespace modelplane-system."""

    name: str
    key: str = "kubeconfig"


class IdentitySecretRef(BaseModel):
    """Secret with a cloud identity, for a kubeconfig that carries no credential, in modelplane-system."""

    name: str
    key: str = "private_key"
    type: Literal["GoogleApplicationCredentials", "AzureServicePrincipalCredentials", "AzureWorkloadIdentityCredentials", "NebiusServiceAccountCredentials"] = (
        "GoogleApplicationCredentials"
    )


class Cache(BaseModel):
    """Storage for model caches on the cluster."""

    storageClassName: str | None = None
    runAsUser: int | None = None


class ClusterExisting(BaseModel):
    """How to reach a cluster that you bring."""

    provider: str | None = None
    instanceType: str | None = None
    secretRef: SecretRef
    identitySecretRef: IdentitySecretRef | None = None
    cache: Cache | None = None


class Cluster(BaseModel):
    """Where the cluster comes from."""

    source: Literal["Existing", "GKE"]
    gke: Gke | None = None
    existing: ClusterExisting | None = None


class Stack(BaseModel):
    """How teams on the cluster are isolated from each other, and the parts of the serving stack. Where a part is set, Modelplane cares for all of them: Managed, which is meant where a part is left out, installs it unless it is there already; Present only checks for it. Where none is set, Modelplane installs and checks for none but the gateway."""

    isolation: Literal["Open", "NewNamespaces", "Enforced"] = "NewNamespaces"
    egress: Literal["None", "NoMetadata", "Restricted"] | None = None
    egressCIDRs: list[str] | None = None
    podMetadataPrefixes: list[str] | None = None
    gatewayCIDRs: list[str] | None = None
    podSecurity: Literal["Warn", "Enforce"] = "Warn"
    engineCapabilities: Literal["Default", "None"] = "Default"
    certManager: Literal["Managed", "Present"] | None = None
    gateway: Literal["Managed", "Present"] | None = None
    aiGateway: Literal["Managed", "Present"] | None = None
    lws: Literal["Managed", "Present"] | None = None
    nodeFeatureDiscovery: Literal["Managed", "Present"] | None = None
    dra: Literal["Managed", "Present"] | None = None
    inferenceExtension: Literal["Present"] | None = None
    metrics: Literal["Managed", "Present"] | None = None
    inventory: Literal["Managed"] | None = None
    values: dict[str, Any] | None = None


class Selector(BaseModel):
    """Selects namespaces of the control cluster by their labels."""

    matchLabels: dict[str, str]


class AllowedNamespaces(BaseModel):
    """Namespaces whose replicas may be placed, and whose weights may be staged, on the cluster. Narrowing it ends nothing that runs, and removes no weights."""

    from_: Literal["All", "Selector"] = Field("All", alias="from")
    selector: Selector | None = None


class Taint(BaseModel):
    key: str
    value: str | None = None
    effect: Literal["NoSchedule", "NoExecute"]


class Node(BaseModel):
    """CPUs, memory and pods that engines have on a node of the pool: what the node can allocate, less what others such as DaemonSets take. Engines that ask for CPUs or memory (containers[].resources) run only where they are declared. Half of the memory bounds /dev/shm of an engine that has no bound of its own; an edit is rolled out to the replicas on the pool."""

    cpu: int | str | None = None
    memory: int | str | None = None
    pods: int | None = None


class Toleration(BaseModel):
    key: str | None = None
    operator: Literal["Exists", "Equal"] = "Equal"
    value: str | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None


class Capabilities(BaseModel):
    """What profiles of a ClusterModel may require of this pool: each field takes the place of that of the class."""

    multiNodeBandwidth: str | None = None
    memoryPerGpu: str | None = None
    interconnect: str | None = None
    precisionSupport: list[str] | None = None
    nvlinkDomainSize: int | None = None
    multiNodeCapable: bool | None = None
    interNodeBandwidth: str | None = None
    device: str | None = None


class Fabric(BaseModel):
    """Refused; no source of this version makes a network between nodes beside the usual one."""

    type: Literal["None", "EFA", "InfiniBand"] | None = None


class NodePool(BaseModel):
    name: str
    acceleratorType: str | None = None
    acceleratorCount: int | None = None
    labels: dict[str, Any] | None = None
    className: str
    node: Node | None = None
    tolerations: list[Toleration] | None = None
    capabilities: Capabilities | None = None
    fabric: Fabric | None = None
    zones: list[str] | None = None
    reservation: str | None = None
    allowRolling: bool | None = None
    nodeCount: int | None = None
    minNodeCount: int | None = None
    maxNodeCount: int | None = None


class InferenceClusterSpec(BaseModel):
    """Desired state."""

    cluster: Cluster
    stack: Stack | None = None
    allowedNamespaces: AllowedNamespaces | None = None
    taints: list[Taint] | None = None
    nodePools: list[NodePool] | None = None


class TeamIsolation(BaseModel):
    """What isolates teams on the cluster, of the InferenceCluster that has it; missing where that is this one, whose spec.stack applies."""

    isolation: str | None = None
    egress: str | None = None
    egressCIDRs: list[str] | None = None
    gatewayCIDRs: list[str] | None = None
    podSecurity: str | None = None


class Charges(BaseModel):
    """Of which replicas gpuPools[].charged is."""

    residents: str | None = None
    published: bool | None = None


class ProviderConfigRef(BaseModel):
    """Provider config that reaches the cluster."""

    name: str | None = None


class Gateway(BaseModel):
    """The cluster's inference gateway."""

    address: str | None = None
    hostname: str | None = None
    mutualTLS: bool | None = None


class Bound(BaseModel):
    """Why replicas are placed on fewer nodes than nodes, by the cluster's inventory; missing where as many as declared can be used, or there is no inventory."""

    nodes: int | None = None
    reason: Literal["NodesMissing", "NotPublished", "UsedByOthers"] | None = None
    message: str | None = None


class GpuPoolCapabilities(BaseModel):
    """What profiles may require: the capabilities of the class with those of the pool over them."""

    memoryPerGpu: str | None = None
    interconnect: str | None = None
    precisionSupport: list[str] | None = None
    nvlinkDomainSize: int | None = None
    multiNodeCapable: bool | None = None
    interNodeBandwidth: str | None = None
    device: str | None = None


class GpuPoolToleration(BaseModel):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None


class Attribute(BaseModel):
    string: str | None = None
    version: str | None = None
    bool_: bool | None = Field(None, alias="bool")
    int_: int | None = Field(None, alias="int")


class Capacity(BaseModel):
    value: str


class Device(BaseModel):
    name: str
    claim: Literal["DRA", "Synthetic"] | None = None
    driver: str
    deviceClassName: str | None = None
    count: int | None = None
    attributes: dict[str, Attribute] | None = None
    capacity: dict[str, Capacity] | None = None


class GpuPool(BaseModel):
    name: str
    nodes: int | None = None
    bound: Bound | None = None
    leaving: bool | None = None
    capabilities: GpuPoolCapabilities | None = None
    node: Node | None = None
    tolerations: list[GpuPoolToleration] | None = None
    devicesCommitted: dict[str, int] | None = None
    holders: list[str] | None = None
    moreHolders: int | None = None
    charged: str | None = None
    devices: list[Device] | None = None


class Condition(BaseModel):
    """One condition of the object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: str | None = None
    observedGeneration: int | None = None


class InferenceClusterStatus(BaseModel):
    """Observed state."""

    namespace: str | None = None
    clusterUID: str | None = None
    sharedWith: list[str] | None = None
    teamIsolation: TeamIsolation | None = None
    replicas: int | None = None
    charges: Charges | None = None
    providerConfigRef: ProviderConfigRef | None = None
    gateway: Gateway | None = None
    cache: Cache | None = None
    gpuPools: list[GpuPool] | None = None
    conditions: list[Condition] | None = None


class InferenceCluster(BaseModel):
    """An InferenceCluster is a Kubernetes cluster of the fleet, brought as it is or created on a cloud, with its GPU node pools and the serving stack. It publishes what replicas can be placed on."""

    apiVersion: str = "modelplane.ai/v1alpha1"
    kind: str = "InferenceCluster"
    metadata: Metadata
    spec: InferenceClusterSpec
    status: InferenceClusterStatus | None = None
