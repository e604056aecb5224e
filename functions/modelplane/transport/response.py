"""Writes a step's `Result` as a serialized RunFunctionResponse, over the desired state of earlier steps."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from crossplane.function.proto.v1 import run_function_pb2 as sdk

from modelplane.lru import Lru
from modelplane.model.conditions import Condition, Status
from modelplane.step import RESPONSE_LIMIT, Desired, Event, Manifest, Requirement, Result, Severity
from modelplane.step.opening import open_secrets
from modelplane.transport.messages import Fields, Peek, Response
from modelplane.transport.objects import WireObject
from modelplane.transport.structs import encode

_MIB: Final = 1024 * 1024

#: Serialized manifests by `Desired.key`, so that a settled pass builds none.
_WIRES: Final = Lru[bytes](16 * _MIB)

_STATUSES: Final = {
    Status.TRUE: sdk.STATUS_CONDITION_TRUE,
    Status.FALSE: sdk.STATUS_CONDITION_FALSE,
    Status.UNKNOWN: sdk.STATUS_CONDITION_UNKNOWN,
}
_SEVERITIES: Final = {Severity.WARNING: sdk.SEVERITY_WARNING, Severity.NORMAL: sdk.SEVERITY_NORMAL}
_READY: Final = {True: sdk.READY_TRUE, False: sdk.READY_FALSE}


class OversizeError(Exception):
    """A response is too large to be sent; the text says how large, what is in it and what to reduce."""


def write_response(message: Any, result: Result) -> bytes:
    """Return the serialized response to a `messages.Request`; equal input gives equal bytes.

    Raises OversizeError if Crossplane would not accept it, and whatever a `Desired.build` raises. A fatal response
    keeps the desired state and context of earlier steps, which Crossplane does not read, unless they alone are too
    large. The size is measured while resources are built, and building stops once it is too large.
    """
    response = Response()
    response.meta.tag = message.meta.tag
    response.meta.ttl.seconds = int(result.ttl.total_seconds())
    response.desired.CopyFrom(message.desired)
    if result.fatal is None:
        _desire(response, result)
    _carry_over(response, message, result)
    _require(response.requirements, result)
    _say(response, result)
    wire: bytes = response.SerializeToString(deterministic=True)
    if len(wire) > RESPONSE_LIMIT and result.fatal is not None:
        response.ClearField("desired")
        response.ClearField("context")
        wire = response.SerializeToString(deterministic=True)
    if len(wire) > RESPONSE_LIMIT:
        raise OversizeError(_describe(response))
    return wire


def _desire(response: Any, result: Result) -> None:
    state = response.desired
    size = sum(len(earlier.resource) for earlier in state.resources.values())
    for number, (name, desired) in enumerate(result.desired.items()):
        if size > RESPONSE_LIMIT:
            raise OversizeError(_describe(response, left_out=len(result.desired) - number))
        resource = state.resources[name]
        size -= len(resource.resource)
        resource.Clear()
        resource.resource = _serialize(desired)
        size += len(resource.resource)
        resource.ready = _READY[desired.ready]
    if result.status is not None:
        state.composite.resource = _with_status(state.composite.resource, result.status)
    if result.ready is not None:
        state.composite.ready = _READY[result.ready]


def _serialize(desired: Desired) -> bytes:
    def make() -> tuple[bytes, int]:
        wire = encode(open_secrets(desired.build()))
        return wire, len(wire)

    return make()[0] if desired.key is None else _WIRES.get(desired.key, make)


def _with_status(composite: bytes, status: Manifest) -> bytes:
    """Return a serialized composite with the top-level fields of `status` laid over its own."""
    fields = Fields.FromString(composite)
    merged = Peek.FromString(fields.fields.get("status", b""))
    for name, value in Fields.FromString(encode(status)).fields.items():
        merged.struct.fields[name] = value
    merged.struct.SetInParent()
    fields.fields["status"] = merged.SerializeToString(deterministic=True)
    serialized: bytes = fields.SerializeToString(deterministic=True)
    return serialized


def _carry_over(response: Any, message: Any, result: Result) -> None:
    """Set the context: the received entries, then the step's own (the last of two entries with one key counts)."""
    if result.context or message.HasField("context"):
        response.context = message.context + encode(result.context)


def _require(requirements: Any, result: Result) -> None:
    for wanted in result.requirements:
        _select(requirements.resources[wanted.name], wanted)
    for schema in result.schemas:
        selector = requirements.schemas[schema.name]
        selector.api_version, selector.kind = schema.api_version, schema.kind


def _select(selector: Any, wanted: Requirement) -> None:
    selector.api_version, selector.kind = wanted.api_version, wanted.kind
    if wanted.namespace is not None:
        selector.namespace = wanted.namespace
    if wanted.match_name is not None:
        selector.match_name = wanted.match_name
        return
    selector.match_labels.SetInParent()
    selector.match_labels.labels.update(wanted.match_labels)


def _say(response: Any, result: Result) -> None:
    """Add conditions and events; a fatal result comes last, because Crossplane stops reading there."""
    _add_conditions(response.conditions, result.conditions)
    _add_events(response.results, result.events)
    if result.fatal is not None:
        response.results.add(severity=sdk.SEVERITY_FATAL, message=result.fatal, target=sdk.TARGET_COMPOSITE)


def _add_conditions(conditions: Any, given: Iterable[Condition]) -> None:
    for one in given:
        conditions.add(
            type=one.type,
            status=_STATUSES[one.status],
            reason=one.reason,
            message=one.message,
            target=sdk.TARGET_COMPOSITE,
        )


def _add_events(results: Any, events: Iterable[Event]) -> None:
    for event in events:
        results.add(severity=_SEVERITIES[event.severity], message=event.message, target=sdk.TARGET_COMPOSITE)


def _describe(response: Any, *, left_out: int = 0) -> str:
    """Return the parts of an oversize response, the largest first, and how to make it smaller.

    `left_out` is the number of resources that were not built.
    """
    resources = response.desired.resources
    counts, sizes = Counter[str](), Counter[str]()
    for resource in resources.values():
        kind = WireObject(resource.resource).kind or "object"
        counts[kind] += 1
        sizes[kind] += len(resource.resource)
    parts = [
        f"{counts[kind]} {kind} of {sizes[kind] / _MIB:.1f} MiB" for kind in sorted(sizes, key=lambda k: (-sizes[k], k))
    ]
    parts.append(f"status of {len(response.desired.composite.resource) / _MIB:.1f} MiB")
    parts.append(f"context of {len(response.context) / _MIB:.1f} MiB")
    parts.append(f"requirements of {response.requirements.ByteSize() / _MIB:.1f} MiB")
    parts += [f"{left_out} further resources"] if left_out else []
    return (
        f"the response is too large, at most {RESPONSE_LIMIT / _MIB:.1f} MiB can be sent: {', '.join(parts)}; nothing "
        "was changed; ask for fewer replicas, or shorten what each of them carries (args, env, annotations, selectors)"
    )
