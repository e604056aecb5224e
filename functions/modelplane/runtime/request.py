"""A RunFunctionRequest as the `Request` that steps read."""

from typing import Any

from modelplane.runtime.objects import WireObject
from modelplane.runtime.step import Request
from modelplane.runtime.structs import decode


def read_request(message: Any) -> Request:
    """Return what Crossplane observed and fetched, from a `messages.Request`.

    Objects are parsed when a step looks into them. Mappings are sorted by name: protobuf's order says nothing. Raises
    `google.protobuf.message.DecodeError` when the context or a schema is no Struct.
    """
    return Request(
        composite=WireObject(message.observed.composite.resource),
        observed={name: WireObject(found.resource) for name, found in sorted(message.observed.resources.items())},
        desired_names=frozenset(message.desired.resources),
        required={
            name: tuple(WireObject(item.resource) for item in found.items)
            for name, found in sorted(message.required_resources.items())
        },
        schemas={name: decode(found.openapi_v3) or None for name, found in sorted(message.required_schemas.items())},
        context=decode(message.context),
    )
