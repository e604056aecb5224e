"""ModelEndpoint as pydantic models, generated from apis/ by `make generate`; edit the XRD, not this."""

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


class SecretRef(BaseModel):
    """Key of a Secret in the same namespace."""

    name: str
    key: str


class Credential(BaseModel):
    """Secret that is sent with every request to the endpoint, in a header."""

    secretRef: SecretRef
    header: str = "Authorization"
    prefix: str | None = None


class CaSecretRef(BaseModel):
    """Secret with the PEM certificates of the CAs to trust, in the same namespace."""

    name: str
    key: str


class Tls(BaseModel):
    """How the endpoint's certificate is verified; system CAs when omitted. There is no way to switch it off."""

    caSecretRef: CaSecretRef | None = None
    serverName: str | None = None


class ModelEndpointSpec(BaseModel):
    """Desired state."""

    url: str
    ready: bool = True
    copies: Literal["All", "Most", "Few"] | None = None
    mutualTLS: bool | None = None
    leaving: bool | None = None
    host: str | None = None
    rewritePath: str | None = None
    credential: Credential | None = None
    model: str | None = None
    headers: dict[str, str] | None = None
    tls: Tls | None = None


class Routing(BaseModel):
    """What a ModelService needs to route to the endpoint."""

    hostname: str | None = None
    fqdn: str | None = None
    port: int | None = None
    ready: bool | None = None
    mutualTLS: bool | None = None
    backendName: str | None = None


class Condition(BaseModel):
    """One condition of the object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: str | None = None
    observedGeneration: int | None = None


class ModelEndpointStatus(BaseModel):
    """Observed state."""

    routing: Routing | None = None
    conditions: list[Condition] | None = None


class ModelEndpoint(BaseModel):
    """A ModelEndpoint is one address that serves an OpenAI-compatible API, and what it takes to reach it. A ModelDeployment composes one for each replica; you write one by hand for an external provider."""

    apiVersion: str = "modelplane.ai/v1alpha1"
    kind: str = "ModelEndpoint"
    metadata: Metadata
    spec: ModelEndpointSpec
    status: ModelEndpointStatus | None = None
