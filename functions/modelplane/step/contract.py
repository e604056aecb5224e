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

#: Largest response that is sent, in bytes: Crossplane's client takes 4 MiB, whatever the server would send.
RESPONSE_LIMIT = 3_670_016
#: TTL of a response when everything is as asked.
SETTLED = timedelta(seconds=60)
#: TTL of a response that was made of the composite alone: whatever changes there brings a pass by itself.
ALONE = timedelta(minutes=10)
#: TTL of a response while something is awaited.
AWAITING = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Object:
    """A Kubernetes object as observed. `body` must not be changed.

    `key` identifies this version's content ((kind, uid, resourceVersion), or a digest of the content where one of
    them is missing): what was derived from it may be cached under it.
    """

    body: Manifest
    key: Hashable

    @property
    def outline(self) -> "Object":
        """Return the object for a reader that needs no pod templates; they may be left out of its `body`."""
        return self

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

    `observed` are the composed resources by composition resource name, `desired_names` those the earlier steps want.
    `required` holds the answer to each requirement by its key; a key that is missing was not fetched yet, an empty
    tuple was looked for and is absent. `schemas` likewise: None for a kind that does not exist. `version` is that of
    the Configuration whose Composition calls the step, "" where it states none.
    """

    composite: Object
    observed: Mapping[str, Object] = field(default_factory=dict)
    desired_names: frozenset[str] = frozenset()
    required: Mapping[str, tuple[Object, ...]] = field(default_factory=dict)
    schemas: Mapping[str, Manifest | None] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)
    version: str = ""

    def all(self, requirement: Requirement) -> tuple[Object, ...] | Gap:
        """Return what was fetched for a requirement, `Gap.NOT_FETCHED` when it was not fetched yet."""
        return self.required.get(requirement.name, Gap.NOT_FETCHED)

    def one(self, requirement: Requirement) -> Object | Gap:
        """Return the one object of a requirement by name, `Gap.ABSENT` or `Gap.NOT_FETCHED`."""
        found = self.required.get(requirement.name)
        if found is None:
            return Gap.NOT_FETCHED
        return found[0] if found else Gap.ABSENT


@dataclass(frozen=True, slots=True)
class Desired:
    """A composed resource to be. `build` gives its manifest; `key`, when given, says that equal keys build equal ones.

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
    """An event on the composite. Only for what changed in this pass: Crossplane emits it on every pass otherwise."""

    severity: Severity
    message: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a step decided.

    `desired` are the resources this step wants, by composition resource name; those of earlier steps are carried
    forward by the runtime. What was observed and is in neither is deleted by Crossplane. `status` is merged over the
    status the earlier steps wrote (only top-level keys; None: nothing to write). `requirements` and `schemas` are
    declared on every call. `fatal`: Crossplane changes nothing and reports the text; the conditions are still set.
    `ready`: overrides the composite's readiness (None: Crossplane derives it from the resources).
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


Step = Callable[[Request], Result]
