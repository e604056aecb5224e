"""The real reconciler: one pass of a composite by `crossplane-core internal render`, asked and answered in protobuf."""

import functools
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

from modelplane_dev import components

Manifest = dict[str, Any]
#: Longest that one pass may take, in seconds, on a machine that is busy; a function that is not there is waited for
#: as long.
TIMEOUT = 120


@dataclass(frozen=True, slots=True)
class Rendered:
    """What the real engine makes of a pass.

    `composite` as it is afterwards, `composed` as they are applied, `deleted`, `events` as (type, message), and the
    `required` selectors that were asked for. `error` is what it says where it gives the pass up, None otherwise; all
    else is empty then, but for a fatal result of a step.
    """

    composite: Manifest
    composed: tuple[Manifest, ...]
    deleted: tuple[Manifest, ...]
    events: tuple[tuple[str, str], ...]
    required: tuple[Manifest, ...]
    error: str | None


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A Composition and the gRPC addresses of the functions that its steps name."""

    composition: Manifest
    addresses: Mapping[str, str]


def render(
    composite: Manifest,
    pipeline: Pipeline,
    *,
    observed: Iterable[Manifest] = (),
    required: Iterable[Manifest] = (),
    schemas: Iterable[Manifest] = (),
) -> Rendered:
    """Return the outcome of one pass. `required` is all that the control cluster holds, `schemas` OpenAPI documents."""
    request, response = _messages()
    asked = {
        "composite": {
            "composite_resource": composite,
            "composition": pipeline.composition,
            "functions": [{"name": name, "address": address} for name, address in pipeline.addresses.items()],
            "observed_resources": list(observed),
            "required_resources": list(required),
            "required_schemas": list(schemas),
        }
    }
    done = subprocess.run(
        [components.path("crossplane-core"), "internal", "render", "--timeout", f"{TIMEOUT}s"],
        input=json_format.ParseDict(asked, request()).SerializeToString(),
        capture_output=True,
        timeout=TIMEOUT + 10,
        check=False,
    )
    answer = json_format.MessageToDict(response.FromString(done.stdout), preserving_proto_field_name=True)
    return _rendered(_whole(answer).get("composite", {}), done.stderr.decode().strip() if done.returncode else None)


def _rendered(output: Manifest, error: str | None) -> Rendered:
    # The engine returns all lists in random order.
    return Rendered(
        composite=output.get("composite_resource", {}),
        composed=tuple(sorted(output.get("composed_resources", ()), key=identity)),
        deleted=tuple(sorted(output.get("deleted_resources", ()), key=identity)),
        events=tuple(sorted((event["type"], event["message"]) for event in output.get("events", ()))),
        required=tuple(sorted(output.get("required_resources", ()), key=str)),
        error=error,
    )


def identity(obj: Manifest) -> tuple[str, str, str, str]:
    """Return apiVersion, kind, namespace and name of an object."""
    metadata = obj["metadata"]
    return obj["apiVersion"], obj["kind"], metadata.get("namespace", ""), metadata["name"]


def _whole(value: Any) -> Any:
    """Return a value with whole numbers as int: protobuf's Struct has only floats."""
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@functools.cache
def _messages() -> tuple[Any, Any]:
    """Return the classes of the protocol's request and response, as the pinned engine itself describes them."""
    described = subprocess.run([components.path("render-descriptor")], capture_output=True, check=True).stdout
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(described).file:
        pool.Add(file)
    found = (
        pool.FindMessageTypeByName(f"crossplane.render.v1alpha1.Render{which}") for which in ("Request", "Response")
    )
    request, response = map(message_factory.GetMessageClass, found)
    return request, response
