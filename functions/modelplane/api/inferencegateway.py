"""InferenceGateway as pydantic models, generated from apis/ by `make generate`; edit the XRD, not this."""

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


class Address(BaseModel):
    """How the gateway gets its address."""

    source: Literal["LoadBalancer", "MetalLB"] = "LoadBalancer"
    pool: str | None = None


class SecretRef(BaseModel):
    """Secret of type kubernetes.io/tls in the namespace modelplane-system."""

    name: str


class Tls(BaseModel):
    """Serve HTTPS on port 443, and redirect HTTP to it; plain HTTP when omitted."""

    hostname: str
    secretRef: SecretRef


class AccessLog(BaseModel):
    """Envoy's log, a line of JSON for each request: caller, service, endpoint, status, attempts, times."""

    tokens: bool = True


class Stack(BaseModel):
    """Parts that the control cluster needs. Present, they are there already. Managed, Modelplane installs them unless they are there; that takes the rights of install/control-cluster-stack. Envoy AI Gateway is not needed here."""

    certManager: Literal["Managed", "Present"] = "Present"
    gateway: Literal["Managed", "Present"] = "Present"


class InferenceGatewaySpec(BaseModel):
    """Desired state."""

    address: Address | None = None
    tls: Tls | None = None
    requireKeys: bool = False
    endpointHosts: list[str] | None = None
    endpointHostPolicy: Literal["Public", "Listed"] = "Public"
    replicas: int = 2
    accessLog: AccessLog | None = None
    stack: Stack | None = None


class Services(BaseModel):
    """DNS names of the gateway's Services on the control cluster."""

    public: str | None = None
    router: str | None = None


class Condition(BaseModel):
    """One condition of the object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: str | None = None
    observedGeneration: int | None = None


class InferenceGatewayStatus(BaseModel):
    """Observed state."""

    address: str | None = None
    url: str | None = None
    listeners: list[str] | None = None
    fleetUrl: str | None = None
    services: Services | None = None
    caBundle: str | None = None
    conditions: list[Condition] | None = None


class InferenceGateway(BaseModel):
    """The InferenceGateway is the fleet's front door on the control cluster, an Envoy Gateway that serves every ModelService. There is one, named default."""

    apiVersion: str = "modelplane.ai/v1alpha1"
    kind: str = "InferenceGateway"
    metadata: Metadata
    spec: InferenceGatewaySpec
    status: InferenceGatewayStatus | None = None
