"""InferenceClass as pydantic models, generated from apis/ by `make generate`; edit the XRD, not this."""

from typing import Literal

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


class Accelerator(BaseModel):
    """The accelerators of a node, for creating the pool; what replicas match is devices."""

    type: str
    count: int


class Gke(BaseModel):
    """GKE recipe."""

    machineType: str
    diskSizeGb: int = 100
    accelerator: Accelerator


class Provisioning(BaseModel):
    """How to create pools of this class on a cluster that Modelplane makes; omit it for hardware that exists."""

    provider: Literal["GKE"]
    gke: Gke | None = None


class Capabilities(BaseModel):
    """What profiles of a ClusterModel may require of pools of this class. A pool may override each field. Nothing is inferred from product names, and what is not declared satisfies nothing."""

    multiNodeBandwidth: str | None = None
    memoryPerGpu: str | None = None
    interconnect: str | None = None
    precisionSupport: list[str] | None = None
    nvlinkDomainSize: int | None = None
    multiNodeCapable: bool | None = None
    interNodeBandwidth: str | None = None
    device: str | None = None


class Attribute(BaseModel):
    string: str | None = None
    version: str | None = None
    bool_: bool | None = Field(None, alias="bool")
    int_: int | None = Field(None, alias="int")


class Capacity(BaseModel):
    value: str


class Device(BaseModel):
    name: str
    claim: Literal["DRA", "Synthetic"] = "DRA"
    driver: str
    deviceClassName: str | None = None
    count: int = 1
    attributes: dict[str, Attribute] | None = None
    capacity: dict[str, Capacity] | None = None


class InferenceClassSpec(BaseModel):
    """Desired state."""

    description: str | None = None
    provisioning: Provisioning | None = None
    capabilities: Capabilities | None = None
    devices: list[Device]


class StatusDevice(BaseModel):
    """One kind of device."""

    name: str
    selectors: list[str] | None = None


class Condition(BaseModel):
    """One condition of the object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: str | None = None
    observedGeneration: int | None = None


class InferenceClassStatus(BaseModel):
    """Observed state."""

    summary: str | None = None
    devices: list[StatusDevice] | None = None
    conditions: list[Condition] | None = None


class InferenceClass(BaseModel):
    """An InferenceClass describes the hardware of a node pool: the devices on each node, which replicas are matched against, and optionally how a cloud creates such nodes."""

    apiVersion: str = "modelplane.ai/v1alpha1"
    kind: str = "InferenceClass"
    metadata: Metadata
    spec: InferenceClassSpec
    status: InferenceClassStatus | None = None
