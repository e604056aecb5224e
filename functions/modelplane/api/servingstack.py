"""ServingStack as pydantic models, generated from apis/ by `make generate`; edit the XRD, not this."""

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


class Kubeconfig(BaseModel):
    """Secret with the kubeconfig of the cluster, in the namespace modelplane-system. Omitted, it is the control cluster, which the providers reach by their own identity; then only what parts has is looked at."""

    name: str
    key: str


class Identity(BaseModel):
    """Secret with a cloud identity, for a kubeconfig that carries no credential."""

    type: str
    name: str
    key: str


class Parts(BaseModel):
    """How each part is handled."""

    certManager: Literal["Managed", "Present"] | None = None
    gateway: Literal["Managed", "Present"] | None = None
    aiGateway: Literal["Managed", "Present"] | None = None
    lws: Literal["Managed", "Present"] | None = None
    nodeFeatureDiscovery: Literal["Managed", "Present"] | None = None
    dra: Literal["Managed", "Present"] | None = None
    inferenceExtension: Literal["Present"] | None = None
    metrics: Literal["Managed", "Present"] | None = None
    inventory: Literal["Managed"] | None = None


class Toleration(BaseModel):
    key: str | None = None
    operator: Literal["Exists", "Equal"] = "Equal"
    value: str | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None


class ServingStackSpec(BaseModel):
    """Desired state, as spec.stack of the InferenceCluster or InferenceGateway asks for it."""

    clusterName: str
    kubeconfig: Kubeconfig | None = None
    identity: Identity | None = None
    observeOnly: bool | None = None
    parts: Parts | None = None
    values: dict[str, Any] | None = None
    tolerations: list[Toleration] | None = None


class Part(BaseModel):
    name: str
    state: Literal["Unknown", "Waiting", "Installing", "Running", "Present", "Missing", "Failed"]
    origin: Literal["Modelplane", "Other"] | None = None
    version: str | None = None
    message: str | None = None


class Condition(BaseModel):
    """One condition of the object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: str | None = None
    observedGeneration: int | None = None


class ServingStackStatus(BaseModel):
    """Observed state."""

    serves: bool | None = None
    parts: list[Part] | None = None
    conditions: list[Condition] | None = None


class ServingStack(BaseModel):
    """A ServingStack is what Modelplane installs and checks on one cluster so that engines can serve there. It is composed by an InferenceCluster, or by the InferenceGateway for the control cluster, in the namespace modelplane-system; nobody else writes it."""

    apiVersion: str = "modelplane.ai/v1alpha1"
    kind: str = "ServingStack"
    metadata: Metadata
    spec: ServingStackSpec
    status: ServingStackStatus | None = None
