"""ModelService as pydantic models, generated from apis/ by `make generate`; edit the XRD, not this."""

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


class Selector(BaseModel):
    """Which ModelEndpoints of the namespace belong to the entry."""

    matchLabels: dict[str, str]


class Endpoint(BaseModel):
    name: str | None = None
    weight: int = 1
    priority: int = 0
    selector: Selector


class SecretRef(BaseModel):
    """Key of a Secret in the same namespace."""

    name: str
    key: str


class Key(BaseModel):
    name: str
    secretRef: SecretRef


class RateLimit(BaseModel):
    """Most requests in a unit of time, counted by each gateway instance for itself, and anew whenever a route of the gateway changes."""

    requests: int
    per: Literal["Second", "Minute", "Hour"]
    perCaller: bool = False


class Cors(BaseModel):
    """Lets pages of other origins call the service from a browser."""

    allowOrigins: list[str]


class Timeouts(BaseModel):
    """Durations, such as 30s, 10m or 1h30m."""

    request: str = "0s"
    idle: str = "1h"


class Affinity(BaseModel):
    """Keeps requests that belong together on one endpoint, so that its prefix cache helps. Every endpoint then has the same share, whatever the weight of its entry."""

    header: str


class ModelServiceSpec(BaseModel):
    """Desired state."""

    endpoints: list[Endpoint]
    keys: list[Key] | None = None
    rateLimit: RateLimit | None = None
    cors: Cors | None = None
    timeouts: Timeouts | None = None
    affinity: Affinity | None = None


class Endpoints(BaseModel):
    """Endpoint counters over all entries."""

    total: int | None = None
    ready: int | None = None
    ejected: int | None = None


class EntryEndpoint(BaseModel):
    name: str
    state: Literal["Serving", "LastResort", "Leaving", "FewCopies", "NotReady", "NoAddress", "NoRoom"]


class Entry(BaseModel):
    name: str | None = None
    weight: int | None = None
    priority: int | None = None
    ready: int | None = None
    total: int | None = None
    endpoints: list[EntryEndpoint] | None = None


class Condition(BaseModel):
    """One condition of the object."""

    type: str
    status: str
    reason: str | None = None
    message: str | None = None
    lastTransitionTime: str | None = None
    observedGeneration: int | None = None


class ModelServiceStatus(BaseModel):
    """Observed state."""

    url: str | None = None
    address: str | None = None
    model: str | None = None
    keys: str | None = None
    endpoints: Endpoints | None = None
    entries: list[Entry] | None = None
    conditions: list[Condition] | None = None


class ModelService(BaseModel):
    """A ModelService is one OpenAI-compatible URL in front of ModelEndpoints of its namespace, your own replicas and external providers alike."""

    apiVersion: str = "modelplane.ai/v1alpha1"
    kind: str = "ModelService"
    metadata: Metadata
    spec: ModelServiceSpec
    status: ModelServiceStatus | None = None
