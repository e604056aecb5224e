"""Remembers responses: an equal request is answered with the same response, without a call of the step.

Most calls are of this kind: Crossplane reconciles every composite once a minute, whether or not anything has changed. A
step says which of its results follow from the request alone (`Result.cacheable`). What is kept is the response and not
the result, so that a repeated call parses and composes nothing. Each composite has one place for each call of its pass,
so that a past version takes no room. What is kept ends with the process: the code that computed it is the code that
runs.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

from google.protobuf.message import DecodeError

from modelplane.lru import Lru, weigh
from modelplane.step import Object, Request, Result, Step
from modelplane.transport.compression import Compressed, Compressor
from modelplane.transport.messages import Response
from modelplane.transport.objects import WireObject
from modelplane.transport.request import ParsedRequest

#: Bytes of what is kept: enough for five thousand replicas of whatever topologies, each of which takes 3 to 4.2 KiB.
#: The dictionaries take 3 MiB at the most besides.
_LIMIT: Final = 21 * 1024 * 1024
#: Composites are reconciled in turn. Of a fleet that is too large one new answer of so many is kept: as many composites
#: as fit are answered from memory, and those that are gone make room within minutes.
_ADMIT: Final = 8


class Summary(NamedTuple):
    """What the log says of an answer: whose it is, how many resources it desires, how many objects it requires."""

    kind: str
    namespace: str
    name: str
    desired: int
    requirements: int


@dataclass(frozen=True, slots=True)
class _Answer:
    """A response without the parts that it has from its request.

    `inputs` is the digest of what it follows from, `context` what the step adds to the context of the request.
    """

    inputs: bytes
    response: Compressed
    context: bytes
    summary: Summary


_ANSWERS: Final = Lru[_Answer](_LIMIT, admit=_ADMIT)
_COMPRESSOR: Final = Compressor()


def find(step: Step, given: ParsedRequest) -> tuple[bytes, Summary] | None:
    """Return the response to an equal request, None if it has to be computed."""
    try:
        place = _place(step, given)
        known = _ANSWERS.find(place) if place else None
        if known is None or known.inputs != digest_inputs(given.request):
            return None
    except DecodeError:  # of an object that the step may not even read
        return None
    message = known.response.read()
    return None if message is None else (_addressed(message, known.context, given.base), known.summary)


def keep(step: Step, given: ParsedRequest, result: Result, response: bytes, summary: Summary) -> None:
    """Remember the response to a request if the result follows from the request alone."""
    if not result.cacheable or result.fatal is not None:
        return
    try:
        place = _place(step, given)
        inputs = digest_inputs(given.request) if place else b""
    except DecodeError:  # as above
        return
    if place:
        message, context = _without_request(response, given.base)
        compressed = _COMPRESSOR.compress(message)
        weight = weigh((compressed.content, context, summary))
        _ANSWERS.put(place, _Answer(inputs, compressed, context, summary), weight)


def _place(step: Step, given: ParsedRequest) -> tuple[Step, bytes] | None:
    """Return the place of the response to this call of a composite's pass, None if it is not remembered.

    The calls of a pass differ in what was fetched before. A composite without a uid has not been read from an API
    server, and a response over the desired state of earlier steps depends on more than the step sees.
    """
    composite = given.request.composite
    identity = composite.identity if isinstance(composite, WireObject) else b""
    if not identity or given.error is not None or given.base.desired.ByteSize():
        return None
    return step, _digest([identity, *(name.encode() for name in given.request.required)])


def digest_inputs(request: Request) -> bytes:
    """Return a digest of everything that a step sees: the versions of objects, the content of everything else."""
    return _digest(_inputs(request))


def _inputs(request: Request) -> Iterator[bytes]:
    yield from _versions([request.composite])
    yield from _versions(request.observed.values())
    for found in request.required.values():
        yield from _versions(found)
    names = [*request.observed], [*request.required], sorted(request.desired_names)
    yield json.dumps([names, request.schemas, request.context, request.version], sort_keys=True).encode()


def _versions(objects: Iterable[Object]) -> Iterator[bytes]:
    keys = [cast("bytes", each.key) for each in objects]
    yield len(keys).to_bytes(4)
    yield from keys


def _digest(parts: Iterable[bytes]) -> bytes:
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(len(part).to_bytes(4))
        hashed.update(part)
    return hashed.digest()


def _without_request(response: bytes, base: Any) -> tuple[bytes, bytes]:
    """Return a response without the tag and context of its request, and what the step adds to the context.

    See `response.write_response`, which puts both into it.
    """
    message = Response.FromString(response)
    context = message.context[len(base.context) :]
    message.meta.ClearField("tag")
    message.ClearField("context")
    return message.SerializeToString(deterministic=True), context


def _addressed(kept: bytes, context: bytes, base: Any) -> bytes:
    """Return a response with the tag and context of a request: byte for byte what `response.write_response` does."""
    message = Response.FromString(kept)
    message.meta.tag = base.meta.tag
    if context or base.HasField("context"):
        message.context = base.context + context
    wire: bytes = message.SerializeToString(deterministic=True)
    return wire
