"""ModelCache as pydantic models, generated from apis/ by `make generate`; edit the XRD, not this."""

from typing import Literal

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


class AuthSecret(BaseModel):
    """Secret with the token for a gated repository; it is copied to each cluster while weights are staged."""

    name: str
    key: str = "HF_TOKEN"


class HuggingFace(BaseModel):
    """A repository of the Hugging Face Hub."""

    repo: str
    revision: str | None = None
    authSecret: AuthSecret | None = None
    sizeGiB: int


class ImagePullSecret(BaseModel):
    name: str


class ClusterSelector(BaseModel):
    """InferenceClusters to stage the weights on; omitted means all. Replicas that use the cache go nowhere else."""

    matchLabels: dict[str, str] | None = None


class ModelCacheSpec(BaseModel):
    """Desired state."""

    source: Literal["HuggingFace"]
    huggingFace: HuggingFace | None = None
    imagePullSecrets: list[ImagePullSecret] | None = None
    clusterSelector: ClusterSelector | None = None


class Summary(BaseModel):
    """Roll-up over the clusters."""

    ready: str | None = None


class Volume(BaseModel):
    """The volume that is staged there; while a change is being staged, still the one before it."""

    name: str
    uid: str
    commit: str | None = None


class Cluster(BaseModel):
    name: str
    phase: Literal["Pending", "Hydrating", "Ready", "Failed"] | None = None
    message: str | None = None
    volume: Volume | None = None


class Condition(BaseModel):
    """One condition of the object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: str | None = None
    observedGeneration: int | None = None


class ModelCacheStatus(BaseModel):
    """Observed state."""

    commit: str | None = None
    commitOf: str | None = None
    summary: Summary | None = None
    clusters: list[Cluster] | None = None
    conditions: list[Condition] | None = None


class ModelCache(BaseModel):
    """A ModelCache stages a model's weights on a shared volume of each selected InferenceCluster, so that replicas start without downloading them."""

    apiVersion: str = "modelplane.ai/v1alpha1"
    kind: str = "ModelCache"
    metadata: Metadata
    spec: ModelCacheSpec
    status: ModelCacheStatus | None = None
