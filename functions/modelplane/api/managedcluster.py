"""ManagedCluster as pydantic models, generated from apis/ by `make generate`; edit the XRD, not this."""

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


class Pool(BaseModel):
    name: str
    recipe: dict[str, Any]
    nodeCount: int | None = None
    minNodeCount: int | None = None
    maxNodeCount: int | None = None
    zones: list[str] | None = None
    reservation: str | None = None
    allowRolling: bool | None = None
    leaving: bool | None = None
    heldNodes: int | None = None
    heldBy: list[str] | None = None


class ManagedClusterSpec(BaseModel):
    """Desired state, as the InferenceCluster and the classes of its pools ask for it."""

    clusterName: str
    key: str
    source: str
    settings: dict[str, Any]
    pools: list[Pool] | None = None


class Kubeconfig(BaseModel):
    """Key of a Secret in the namespace modelplane-system with the kubeconfig."""

    name: str
    key: str


class Identity(BaseModel):
    """Secret with a cloud identity, where the kubeconfig carries no credential."""

    type: str
    name: str
    key: str


class StatusPool(BaseModel):
    name: str
    state: Literal["Creating", "Ready", "Held", "Waiting", "Failed", "Leaving"]
    nodes: int | None = None
    held: list[str] | None = None
    message: str | None = None


class Storage(BaseModel):
    """Storage for model caches."""

    class_: str | None = Field(None, alias="class")


class Facts(BaseModel):
    """What is so on every cluster of this cloud."""

    driverRoot: str | None = None
    podsPerNode: int | None = None
    serviceAnnotations: dict[str, str] | None = None


class Condition(BaseModel):
    """One condition of the object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: str | None = None
    observedGeneration: int | None = None


class ManagedClusterStatus(BaseModel):
    """Observed state."""

    kubeconfig: Kubeconfig | None = None
    identity: Identity | None = None
    pools: list[StatusPool] | None = None
    storage: Storage | None = None
    facts: Facts | None = None
    conditions: list[Condition] | None = None


class ManagedCluster(BaseModel):
    """A ManagedCluster is a cluster that Modelplane makes in a cloud, with its network, identity and node pools. It is composed by an InferenceCluster in the namespace modelplane-system; nobody else writes it."""

    apiVersion: str = "modelplane.ai/v1alpha1"
    kind: str = "ManagedCluster"
    metadata: Metadata
    spec: ManagedClusterSpec
    status: ManagedClusterStatus | None = None
