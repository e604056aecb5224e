"""A RunFunctionRequest as the `Request` that steps read."""

from dataclasses import dataclass
from typing import Any

from modelplane.step import Object, Request
from modelplane.step.versions import INPUT_VERSION
from modelplane.transport.messages import Request as RequestMessage
from modelplane.transport.objects import WireObject
from modelplane.transport.structs import decode
from modelplane.transport.wire import Parts, take_apart


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """A request as it was read.

    `base` is a message with the parts that the response starts from: tag, desired state and context. `error` is set if
    a part is malformed; `request` then has only the composite, without content if that is the malformed part.
    """

    request: Request
    base: Any
    error: Exception | None = None


def read(wire: bytes) -> ParsedRequest:
    """Return a request; raises `google.protobuf.message.DecodeError` for bytes that are not a request.

    Objects are parsed when a step reads them. Parts that no step reads are dropped.
    """
    parts = take_apart(wire)
    message = RequestMessage.FromString(parts.rest)
    base = RequestMessage(meta=message.meta, desired=message.desired)
    if message.HasField("context"):
        base.context = message.context
    composite = WireObject(parts.composite)
    try:
        return ParsedRequest(_read_request(parts, message, composite), base)
    except Exception as error:  # noqa: BLE001 - as above
        base.ClearField("context")  # which may be the part; what comes of an error needs none
        return ParsedRequest(Request(composite), base, error)


def with_readable_composite(given: ParsedRequest) -> ParsedRequest:
    """Return the request with its composite parsed, so that nothing fails later that has to name the composite."""
    try:
        given.request.composite.body  # noqa: B018 - parsed and cached
    except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the call is answered
        return ParsedRequest(Request(Object({}, None)), given.base, error)
    return given


def _read_request(parts: Parts, message: Any, composite: Object) -> Request:
    """Return what Crossplane observed and fetched. Mappings are sorted by name: protobuf has no order."""
    observed, required, schemas = parts.observed, parts.required, message.required_schemas
    return Request(
        composite=composite,
        observed={name: WireObject(observed[name]) for name in sorted(observed)},
        desired_names=frozenset(message.desired.resources),
        required={name: tuple(map(WireObject, required[name])) for name in sorted(required)},
        schemas={name: decode(schemas[name].openapi_v3) or None for name in sorted(schemas)},
        context=decode(message.context),
        version=str(decode(message.input).get(INPUT_VERSION) or ""),
    )
