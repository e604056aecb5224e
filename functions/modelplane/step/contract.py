"""The values a function works with: `Request` (what Crossplane observed) in, `Result` (what is desired) out.

A step is a pure function `Request -> Result`. It never sees protobuf: `transport` serves it over gRPC, the preview
calls it directly. Objects are read-only: `body` dicts are shared between calls.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any

from modelplane.model.conditions import Condition
from modelplane.model.observation import Gap

Manifest = Mapping[str, Any]

#: Largest response that is sent, in bytes: Crossplane's client accepts at most 4 MiB.
RESPONSE_LIMIT = 3_670_016
#: TTL of a response when everything is as asked.
SETTLED = timedelta(seconds=60)
#: TTL of a response that depends on the composite only, whose changes start a pass anyway.
ALONE = timedelta(minutes=10)
#: TTL of a response while something is awaited.
AWAITING = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Object:
    """A Kubernetes object as observed. `body` must not be changed.

    `key` identifies this version's content: (kind, uid, resourceVersion), or a digest of the content if one of them is
    missing. Results that are derived from the object may be cached by it.
    """

    body: Manifest
    key: Hashable

    @property
    def outline(self) -> "Object":
        """Return the object for a reader that needs no pod templates, which may be missing in its `body`."""
        return self

    @property
    def size(self) -> int:
        """Return how many bytes of the request the object takes, 0 outside of a server."""
        return 0

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Return `metadata`, empty when missing or malformed."""
        found = self.body.get("metadata")
        return found if isinstance(found, Mapping) else {}

    @property
    def name(self) -> str:
        """Return `metadata.name`."""
        return str(self.metadata.get("name", ""))

    @property
    def namespace(self) -> str:
        """Return `metadata.namespace`, "" for a cluster-scoped object."""
        return str(self.metadata.get("namespace") or "")

    @property
    def kind(self) -> str:
        """Return `kind`."""
        return str(self.body.get("kind", ""))


@dataclass(frozen=True, slots=True)
class Requirement:
    """Objects a step asks Crossplane for: one by `match_name`, or all that carry `match_labels` (empty: all).

    `namespace` None: all namespaces (labels) or cluster scope (name). `name` is the requirement's key; the same
    requirement must always carry the same key.
    """

    name: str
    api_version: str
    kind: str
    match_name: str | None = None
    match_labels: Mapping[str, str] = field(default_factory=dict)
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class SchemaRequirement:
    """Asks whether a kind exists on the control cluster: an unknown kind gives an empty schema and fails nothing."""

    name: str
    api_version: str
    kind: str


@dataclass(frozen=True, slots=True)
class Request:
    """What Crossplane hands to a step.

    `observed` are the composed resources by composition resource name, `desired_names` the names that earlier steps
    desire. `required` holds the answer to each requirement by its key: without a key it was not fetched yet, an empty
    tuple means absent. `schemas` is similar: None for a kind that does not exist. `version` is the version of the
    Configuration whose Composition calls the step, "" if it states none.
    """

    composite: Object
    observed: Mapping[str, Object] = field(default_factory=dict)
    desired_names: frozenset[str] = frozenset()
    required: Mapping[str, tuple[Object, ...]] = field(default_factory=dict)
    schemas: Mapping[str, Manifest | None] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    def all(self, requirement: Requirement) -> tuple[Object, ...] | Gap:
        """Return the objects fetched for a requirement, `Gap.NOT_FETCHED` if they are not fetched yet."""
        return self.required.get(requirement.name, Gap.NOT_FETCHED)

    def one(self, requirement: Requirement) -> Object | Gap:
        """Return the one object of a requirement by name, `Gap.ABSENT` or `Gap.NOT_FETCHED`."""
        found = self.required.get(requirement.name)
        if found is None:
            return Gap.NOT_FETCHED
        return found[0] if found else Gap.ABSENT


@dataclass(frozen=True, slots=True)
class Desired:
    """A desired resource. `build` returns its manifest; with a `key`, equal keys build equal manifests.

    `ready`: whether it counts as ready for the composite's Ready condition.
    """

    build: Callable[[], Manifest]
    ready: bool = False
    key: Hashable | None = None

    @classmethod
    def of(cls, manifest: Manifest, *, ready: bool = False) -> "Desired":
        """Return a desired resource with this manifest."""
        return cls(build=lambda: manifest, ready=ready)


class Severity(StrEnum):
    """Severity of an event on the composite."""

    WARNING = "Warning"
    NORMAL = "Normal"


@dataclass(frozen=True, slots=True)
class Event:
    """An event on the composite, only for a change in this pass, because Crossplane emits it in every pass."""

    severity: Severity
    message: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a step.

    `desired` are the resources of this step, by composition resource name; the runtime adds those of earlier steps.
    Crossplane deletes observed resources that are in neither. `status` is merged over the status of earlier steps
    (top-level keys only; None writes nothing). `requirements` and `schemas` must be declared in every call. `fatal`:
    Crossplane changes nothing and reports the text; the conditions are still set. `ready` overrides the composite's
    readiness (None: Crossplane derives it from the resources). `cacheable`: the result follows from the request alone,
    so an equal request may be answered with it again, without calling the step. A result with values of Secrets is not,
    because they would be kept. `details` returns what was decided and why, for the log at debug level.
    """

    desired: Mapping[str, Desired] = field(default_factory=dict)
    status: Manifest | None = None
    conditions: tuple[Condition, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    schemas: tuple[SchemaRequirement, ...] = ()
    context: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    ttl: timedelta = SETTLED
    ready: bool | None = None
    fatal: str | None = None
    cacheable: bool = False
    details: Callable[[], Mapping[str, Any]] | None = field(default=None, compare=False, repr=False)


Step = Callable[[Request], Result]
