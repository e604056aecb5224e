"""A RunFunctionRequest as the `Request` that steps read."""

from typing import Any

from modelplane.step import Request
from modelplane.transport.objects import WireObject
from modelplane.transport.structs import decode


def read_request(message: Any) -> Request:
    """Return what Crossplane observed and fetched, from a `messages.Request`.

    Objects are parsed when a step looks into them. Mappings are sorted by name: protobuf's order says nothing. Raises
    `google.protobuf.message.DecodeError` when the context or a schema is no Struct.
    """
    observed, required, schemas = message.observed.resources, message.required_resources, message.required_schemas
    return Request(
        composite=WireObject(message.observed.composite.resource),
        observed={name: WireObject(observed[name].resource) for name in sorted(observed)},
        desired_names=frozenset(message.desired.resources),
        required={name: tuple(WireObject(one.resource) for one in required[name].items) for name in sorted(required)},
        schemas={name: decode(schemas[name].openapi_v3) or None for name in sorted(schemas)},
        context=decode(message.context),
    )
