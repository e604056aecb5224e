"""ClusterModel as pydantic models, generated from apis/ by `make generate`; edit the XRD, not this."""

from typing import Any, Literal

from pydantic import BaseModel


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


class Model(BaseModel):
    """The model."""

    name: str


class TokenSecretRef(BaseModel):
    """Secret with the token, in the namespace of each deployment."""

    name: str
    key: str = "token"


class HuggingFace(BaseModel):
    """Repository of the weights; omitted, model.name is one."""

    repo: str
    revision: str = "main"
    tokenSecretRef: TokenSecretRef | None = None


class ClusterSelector(BaseModel):
    """Which InferenceClusters may host it, besides what deployments select."""

    matchLabels: dict[str, str] | None = None


class Parallelism(BaseModel):
    """How the model is spread; tensor x pipeline x data must be nodes x gpusPerNode. Flags are generated from it."""

    tensor: int | None = None
    pipeline: int | None = None
    data: int | None = None
    expert: Literal["enabled", "disabled"] | None = None


class Requires(BaseModel):
    """What a pool must declare in its capabilities; all of it."""

    interNodeBandwidth: str | None = None
    memoryPerGpu: str | None = None
    interconnect: str | None = None
    precisionSupport: list[str] | None = None
    nvlinkDomainSize: int | None = None
    multiNodeBandwidth: str | None = None


class Selector(BaseModel):
    cel: str | None = None


class Device(BaseModel):
    name: str
    count: int = 1
    selectors: list[Selector]


class Placement(BaseModel):
    """How pods keep apart."""

    podsAcrossNodes: Literal["required"] = "required"
    replicasAcrossNodes: Literal["preferred", "none"] = "preferred"


class ReplicaTopology(BaseModel):
    """Nodes and GPUs of a replica, and what their pool must have; with engine."""

    nodes: int = 1
    gpusPerNode: int
    parallelism: Parallelism | None = None
    requires: Requires | None = None
    devices: list[Device] | None = None
    placement: Placement | None = None


class SecretKeyRef(BaseModel):
    """Key of a Secret."""

    name: str
    key: str
    optional: bool | None = None


class ConfigMapKeyRef(BaseModel):
    """Key of a ConfigMap."""

    name: str
    key: str
    optional: bool | None = None


class FieldRef(BaseModel):
    """Field of the pod itself (downward API)."""

    fieldPath: str
    apiVersion: str | None = None


class ValueFrom(BaseModel):
    """Source of the value."""

    secretKeyRef: SecretKeyRef | None = None
    configMapKeyRef: ConfigMapKeyRef | None = None
    fieldRef: FieldRef | None = None


class Env(BaseModel):
    name: str
    value: str | None = None
    valueFrom: ValueFrom | None = None


class Port(BaseModel):
    name: str
    containerPort: int


class HttpGet(BaseModel):
    """Request that the engine answers with a status from 200 to 399."""

    path: str | None = None
    port: int | str | None = None


class StartupProbe(BaseModel):
    """How the engine says that it has loaded; it may take two hours."""

    httpGet: HttpGet


class ReadinessProbe(BaseModel):
    """How the engine says that it takes requests."""

    httpGet: HttpGet


class LivenessProbe(BaseModel):
    """How the engine says that it need not be restarted."""

    httpGet: HttpGet


class ImagePullSecret(BaseModel):
    name: str


class Engine(BaseModel):
    """The inference engine; with replicaTopology."""

    name: Literal["vLLM", "SGLang", "Other"]
    image: str
    command: list[str] | None = None
    args: list[str] | None = None
    env: list[Env] | None = None
    ports: list[Port] | None = None
    startupProbe: StartupProbe | None = None
    readinessProbe: ReadinessProbe | None = None
    livenessProbe: LivenessProbe | None = None
    imagePullSecrets: list[ImagePullSecret] | None = None
    launcher: Literal["Auto", "Multiprocessing", "Ray", "None"] = "Auto"


class Serving(BaseModel):
    """How engines are fronted; omitted means Unified. With engines."""

    mode: Literal["Unified", "PrefillDecode"] = "Unified"


class NodeSelector(BaseModel):
    """Hardware that each pod needs; omitted, the member claims no devices."""

    devices: list[Device]


class Worker(BaseModel):
    """Size of the gang; only on a Worker. A Worker without it means one worker node."""

    nodes: int


class TemplateMetadata(BaseModel):
    """Labels and annotations for the member's pods."""

    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class Capabilities(BaseModel):
    """Linux capabilities."""

    add: list[Literal["IPC_LOCK", "SYS_NICE"]] | None = None


class SeccompProfile(BaseModel):
    """Seccomp profile of the container; omitted, that of the cluster."""

    type: Literal["RuntimeDefault", "Unconfined"]


class SecurityContext(BaseModel):
    """What the engine may do beyond the default, which drops capabilities that no engine needs."""

    capabilities: Capabilities | None = None
    seccompProfile: SeccompProfile | None = None


class Requests(BaseModel):
    """What the scheduler keeps free for the engine; a limit without request is asked for too."""

    cpu: int | str | None = None
    memory: int | str | None = None


class Limits(BaseModel):
    """What the engine may use at most; none below what it requests."""

    cpu: int | str | None = None
    memory: int | str | None = None


class Resources(BaseModel):
    """What the engine asks of its node beside devices, and may use of it. What it asks for counts as room: it runs only in pools whose nodePools[].node declares it, and each pod of the engine that asks has a node of its own. Nothing is asked for where this is omitted."""

    requests: Requests | None = None
    limits: Limits | None = None


class Container(BaseModel):
    name: str
    image: str
    command: list[str] | None = None
    args: list[str] | None = None
    env: list[Env] | None = None
    ports: list[Port] | None = None
    startupProbe: StartupProbe | None = None
    readinessProbe: ReadinessProbe | None = None
    livenessProbe: LivenessProbe | None = None
    securityContext: SecurityContext | None = None
    resources: Resources | None = None


class TemplateSpec(BaseModel):
    """Subset of a pod spec."""

    containers: list[Container]
    sharedMemory: int | str | None = None
    imagePullSecrets: list[ImagePullSecret] | None = None


class Template(BaseModel):
    """The pod, reduced to what an engine needs."""

    metadata: TemplateMetadata | None = None
    spec: TemplateSpec | None = None


class Member(BaseModel):
    """One kind of pod of an engine."""

    role: Literal["Standalone", "Leader", "Worker"] = "Standalone"
    nodeSelector: NodeSelector | None = None
    worker: Worker | None = None
    template: Template


class ServingEngine(BaseModel):
    """One inference engine, possibly in several identical copies."""

    name: str
    copies: int = 1
    replicasAcrossNodes: Literal["preferred", "none"] | None = None
    phase: Literal["Prefill", "Decode"] | None = None
    members: list[Member]


class ServingEntry(BaseModel):
    name: str
    environmentSelector: dict[str, Any] | None = None
    clusterSelector: ClusterSelector | None = None
    replicaTopology: ReplicaTopology | None = None
    engine: Engine | None = None
    requires: Requires | None = None
    serving: Serving | None = None
    engines: list[ServingEngine] | None = None


class ClusterModelSpec(BaseModel):
    """Desired state."""

    model: Model
    source: Literal["HuggingFace"] = "HuggingFace"
    huggingFace: HuggingFace | None = None
    environmentSelector: dict[str, Any] | None = None
    clusterSelector: ClusterSelector | None = None
    serving: list[ServingEntry]


class Condition(BaseModel):
    """One condition of the object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: str | None = None
    observedGeneration: int | None = None


class ClusterModelStatus(BaseModel):
    """Observed state."""

    replicas: int | None = None
    conditions: list[Condition] | None = None


class ClusterModel(BaseModel):
    """A ClusterModel says once, for every team, how a model is served: an ordered list of profiles, the preferred one first. ModelDeployments name it in spec.modelRef."""

    apiVersion: str = "modelplane.ai/v1alpha1"
    kind: str = "ClusterModel"
    metadata: Metadata
    spec: ClusterModelSpec
    status: ClusterModelStatus | None = None
