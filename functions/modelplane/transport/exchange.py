"""One exchange with Crossplane: serialized request in, serialized response out, one line in the log."""

import time
from typing import Any

import structlog

from modelplane.step import Request, Result, Step
from modelplane.step.call import Outcome, fail, identity, run
from modelplane.step.completion import complete
from modelplane.transport.messages import Request as RequestMessage
from modelplane.transport.request import read_request
from modelplane.transport.response import OversizeError, write_response


def answer(step: Step, wire: bytes) -> bytes:
    """Return the response to a request; whatever goes wrong becomes a fatal result that changes nothing.

    Raises `google.protobuf.message.DecodeError` only: the bytes are no request, so there is nothing to answer.
    """
    began = time.perf_counter()
    message = RequestMessage.FromString(wire)
    request = read_request(message)
    result = _without_defect(request, run(step, request))
    result, response = _write(message, request, result)
    _log(request, result, seconds=time.perf_counter() - began, received=len(wire), sent=len(response))
    return response


def _without_defect(request: Request, outcome: Outcome) -> Result:
    """Return the outcome's result; the traceback of a defect goes to the log."""
    if outcome.defect is not None:
        structlog.get_logger().error("the step failed", composite=identity(request.composite), exc_info=outcome.defect)
    return outcome.result


def _write(message: Any, request: Request, result: Result) -> tuple[Result, bytes]:
    try:
        return result, write_response(message, result)
    except OversizeError as error:
        # The conditions are not those of the pass: what it decided is not carried out.
        refused = complete(request, Result(fatal=str(error), requirements=result.requirements))
    except Exception as error:  # noqa: BLE001 - as in `run`: a manifest that cannot be built must change nothing
        refused = _without_defect(request, fail(request, error))
    return refused, write_response(message, refused)


def _log(request: Request, result: Result, *, seconds: float, received: int, sent: int) -> None:
    """Log what was asked and answered: names and counts, never content."""
    composite = request.composite
    log = structlog.get_logger()
    log.info(
        "answered" if result.fatal is None else "refused",
        kind=composite.kind,
        namespace=composite.namespace,
        name=composite.name,
        milliseconds=round(seconds * 1000, 1),
        observed=len(request.observed),
        required=sum(len(found) for found in request.required.values()),
        desired=len(request.desired_names | result.desired.keys()),
        requirements=len(result.requirements) + len(result.schemas),
        received_bytes=received,
        sent_bytes=sent,
        **({} if result.fatal is None else {"fatal": result.fatal}),
    )
    log.debug(
        "said",
        conditions={one.type: f"{one.status} {one.reason}" for one in result.conditions},
        required={name: len(found) for name, found in request.required.items()},
        requirements=[*(one.name for one in result.requirements), *(one.name for one in result.schemas)],
    )
