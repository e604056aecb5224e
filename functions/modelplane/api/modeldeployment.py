"""ModelDeployment as pydantic models, generated from apis/ by `make generate`; edit the XRD, not this."""

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


class Rollout(BaseModel):
    """How an edit reaches the replicas that run: the youngest first, on a new replica beside the old one where there is room, else in place."""

    maxSurge: int | str = "25%"
    maxUnavailable: int | str = "25%"
    paused: bool = False
    followSelectors: bool = False
    followUpgrades: bool = False


class ClusterSelector(BaseModel):
    """Which InferenceClusters may host new replicas; omitted means all."""

    matchLabels: dict[str, str] | None = None


class Toleration(BaseModel):
    key: str | None = None
    operator: Literal["Exists", "Equal"] = "Equal"
    value: str | None = None
    effect: Literal["NoSchedule", "NoExecute"] | None = None


class ModelCacheRef(BaseModel):
    """ModelCache whose weights every engine pod finds at /mnt/models."""

    name: str


class Serving(BaseModel):
    """How the engines of a replica are fronted; omitted means Unified."""

    mode: Literal["Unified", "PrefillDecode"] = "Unified"


class ModelRef(BaseModel):
    """ClusterModel that says how to serve, instead of engines: each replica runs on the first of its profiles that a cluster can host. Cluster selectors of the model and the profile also apply."""

    kind: Literal["ClusterModel"] = "ClusterModel"
    name: str
    profiles: list[str] | None = None
    updates: Literal["Follow", "Pinned"] = "Follow"


class Selector(BaseModel):
    cel: str | None = None


class Device(BaseModel):
    name: str
    count: int = 1
    selectors: list[Selector]


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


class ImagePullSecret(BaseModel):
    name: str


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


class Engine(BaseModel):
    """One inference engine, possibly in several identical copies."""

    name: str
    copies: int = 1
    replicasAcrossNodes: Literal["preferred", "none"] | None = None
    phase: Literal["Prefill", "Decode"] | None = None
    members: list[Member]


class ModelDeploymentSpec(BaseModel):
    """Desired state."""

    replicas: int = 1
    replicaLabels: dict[str, str] | None = None
    drainSeconds: int = 120
    rollout: Rollout | None = None
    environmentSelector: dict[str, Any] | None = None
    clusterSelector: ClusterSelector | None = None
    tolerations: list[Toleration] | None = None
    modelCacheRef: ModelCacheRef | None = None
    serving: Serving | None = None
    modelRef: ModelRef | None = None
    engines: list[Engine] | None = None


class Replicas(BaseModel):
    """Replica counters."""

    total: int | None = None
    ready: int | None = None
    summary: str | None = None
    selector: str | None = None
    updated: int | None = None
    updatedSummary: str | None = None
    outdatedBuilder: int | None = None


class Model(BaseModel):
    """The ClusterModel that replicas are placed by; absent with engines."""

    name: str | None = None
    generation: int | None = None


class Profile(BaseModel):
    name: str | None = None
    replicas: int | None = None
    message: str | None = None
    improvable: int | None = None


class WaitingFor(BaseModel):
    """The replica that the rollout waits for."""

    name: str | None = None
    cluster: str | None = None
    message: str | None = None


class StatusRollout(BaseModel):
    """The rollout that is under way; absent when there is none."""

    updated: int | None = None
    replicas: int | None = None
    waitingFor: WaitingFor | None = None


class Placement(BaseModel):
    name: str | None = None
    cluster: str | None = None
    index: int | None = None
    pools: dict[str, str] | None = None
    ready: bool | None = None
    leaving: bool | None = None
    revision: str | None = None
    updated: bool | None = None
    serving: bool | None = None
    profile: str | None = None
    why: str | None = None


class Reason(BaseModel):
    profile: str | None = None
    reason: str | None = None
    count: int | None = None
    message: str | None = None
    remedy: str | None = None


class Condition(BaseModel):
    """One condition of the object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: str | None = None
    observedGeneration: int | None = None


class ModelDeploymentStatus(BaseModel):
    """Observed state."""

    replicas: Replicas | None = None
    revision: str | None = None
    model: Model | None = None
    profiles: list[Profile] | None = None
    rollout: StatusRollout | None = None
    placements: list[Placement] | None = None
    unplaced: int | None = None
    warnings: list[str] | None = None
    reasons: list[Reason] | None = None
    conditions: list[Condition] | None = None


class ModelDeployment(BaseModel):
    """A ModelDeployment says what model to serve, on what hardware, and how many times. Each replica is one whole serving instance on one InferenceCluster; the fleet scheduler chooses the cluster and the node pools."""

    apiVersion: str = "modelplane.ai/v1alpha1"
    kind: str = "ModelDeployment"
    metadata: Metadata
    spec: ModelDeploymentSpec
    status: ModelDeploymentStatus | None = None
