"""Requests and responses as Crossplane sees them, in the function SDK's own messages."""

from collections.abc import Mapping, Sequence
from typing import Any

from crossplane.function.proto.v1 import run_function_pb2 as sdk
from google.protobuf.json_format import MessageToDict

from modelplane.step import Request, Result
from modelplane.transport import messages
from modelplane.transport import request as requests
from modelplane.transport.response import write_response

Manifest = Mapping[str, Any]

CACHE = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "ModelCache",
    "metadata": {"name": "qwen", "namespace": "team"},
}


def request_of(  # one argument for each part of a request
    composite: Manifest = CACHE,
    *,
    observed: Mapping[str, Manifest] | None = None,
    desired: Mapping[str, Manifest] | None = None,
    desired_composite: Manifest | None = None,
    required: Mapping[str, Sequence[Manifest]] | None = None,
    context: Manifest | None = None,
) -> sdk.RunFunctionRequest:
    """Return a request with these objects."""
    request = sdk.RunFunctionRequest()
    request.meta.tag = "tag"
    request.observed.composite.resource.update(dict(composite))
    for name, manifest in (observed or {}).items():
        request.observed.resources[name].resource.update(dict(manifest))
    for name, manifest in (desired or {}).items():
        request.desired.resources[name].resource.update(dict(manifest))
        request.desired.resources[name].ready = sdk.READY_TRUE
    if desired_composite:
        request.desired.composite.resource.update(dict(desired_composite))
    for name, manifests in (required or {}).items():
        items = request.required_resources[name].items
        for manifest in manifests:
            items.add().resource.update(dict(manifest))
        request.required_resources[name].SetInParent()
    if context:
        request.context.update(dict(context))
    return request


def received(request: sdk.RunFunctionRequest) -> Any:
    """Return the request as the run time parses it."""
    return messages.Request.FromString(request.SerializeToString())


def read(request: sdk.RunFunctionRequest) -> Request:
    """Return the request as a step sees it."""
    return requests.read(request.SerializeToString()).request


def written(request: sdk.RunFunctionRequest, result: Result) -> sdk.RunFunctionResponse:
    """Return the response to a request as Crossplane parses it."""
    return sdk.RunFunctionResponse.FromString(write_response(received(request), result))


def plain(message: Any) -> Any:
    """Return a message as plain dicts, with the field names of the proto file."""
    return MessageToDict(message, preserving_proto_field_name=True)
