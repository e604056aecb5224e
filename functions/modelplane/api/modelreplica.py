"""ModelReplica as pydantic models, generated from apis/ by `make generate`; edit the XRD, not this."""

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


class ModelCacheRef(BaseModel):
    """ModelCache whose weights every engine pod finds at /mnt/models, copied from the deployment."""

    name: str


class Profile(BaseModel):
    """Profile of a ClusterModel that engines come from; set by the deployment. Nothing is read from it."""

    model: str
    name: str
    digest: str | None = None


class Serving(BaseModel):
    """How the engines are fronted, copied from the deployment; omitted means Unified."""

    mode: Literal["Unified", "PrefillDecode"] = "Unified"


class Requests(BaseModel):
    """What the scheduler keeps free for the pod; a limit without request is asked for too."""

    cpu: int | str | None = None
    memory: int | str | None = None


class Limits(BaseModel):
    """What the pod may use at most; none below what it requests."""

    cpu: int | str | None = None
    memory: int | str | None = None


class Resources(BaseModel):
    """What each pod asks of its node beside devices, and may use of it. What it asks for counts as room: it runs only in pools whose nodePools[].node declares it."""

    requests: Requests | None = None
    limits: Limits | None = None


class Toleration(BaseModel):
    key: str | None = None
    operator: Literal["Exists", "Equal"] = "Equal"
    value: str | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None


class Selector(BaseModel):
    cel: str | None = None


class DeviceRequest(BaseModel):
    name: str
    deviceClassName: str
    count: int = 1
    selectors: list[Selector] | None = None


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


class ImagePullSecret(BaseModel):
    name: str


class TemplateSpec(BaseModel):
    """Subset of a pod spec."""

    containers: list[Container]
    imagePullSecrets: list[ImagePullSecret] | None = None


class Template(BaseModel):
    """The pod, reduced to what an engine needs."""

    metadata: TemplateMetadata | None = None
    spec: TemplateSpec | None = None


class Member(BaseModel):
    """One kind of pod of an engine."""

    role: Literal["Standalone", "Leader", "Worker"] = "Standalone"
    nodePoolName: str
    resources: Resources | None = None
    sharedMemory: int | str | None = None
    tolerations: list[Toleration] | None = None
    deviceRequests: list[DeviceRequest] | None = None
    worker: Worker | None = None
    template: Template


class Engine(BaseModel):
    """One inference engine, possibly in several identical copies."""

    name: str
    copies: int = 1
    replicasAcrossNodes: Literal["preferred", "none"] | None = None
    phase: Literal["Prefill", "Decode"] | None = None
    members: list[Member]


class ModelReplicaSpec(BaseModel):
    """Desired state."""

    clusterName: str
    modelCacheRef: ModelCacheRef | None = None
    volume: str | None = None
    drainSeconds: int = 120
    profile: Profile | None = None
    ending: bool | None = None
    builder: int | None = None
    serving: Serving | None = None
    engines: list[Engine]


class Workload(BaseModel):
    engine: str | None = None
    kind: str | None = None
    name: str | None = None
    object: str | None = None
    ready: int | None = None
    desired: int | None = None
    message: str | None = None
    restarting: bool | None = None


class Condition(BaseModel):
    """One condition of the object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: str | None = None
    observedGeneration: int | None = None


class ModelReplicaStatus(BaseModel):
    """Observed state."""

    served: bool | None = None
    servedOn: str | None = None
    complete: bool | None = None
    crashed: bool | None = None
    servedEngines: list[dict[str, Any]] | None = None
    servedStamp: str | None = None
    builder: int | None = None
    ended: bool | None = None
    held: str | None = None
    volumes: list[str] | None = None
    endpoint: str | None = None
    workloads: list[Workload] | None = None
    conditions: list[Condition] | None = None


class ModelReplica(BaseModel):
    """A ModelReplica is one whole serving instance on one InferenceCluster. ModelDeployments compose them; the fleet scheduler has decided the cluster, the node pools and the devices that it claims."""

    apiVersion: str = "modelplane.ai/v1alpha1"
    kind: str = "ModelReplica"
    metadata: Metadata
    spec: ModelReplicaSpec
    status: ModelReplicaStatus | None = None
