"""One exchange with Crossplane: serialized request in, serialized response out, one line in the log."""

import logging
import time
from collections.abc import Mapping
from typing import Final

import structlog

from modelplane.step import Request, Result, Step
from modelplane.step.call import StepOutcome, fail, identity, run
from modelplane.step.completion import complete
from modelplane.transport.admission import Received
from modelplane.transport.request import ParsedRequest, read
from modelplane.transport.response import OversizeError, write_response

#: Seconds after which a waiting call is refused: Crossplane gives a whole reconcile two minutes.
PATIENCE: Final = 90.0


def answer(step: Step, received: Received, waited: float = 0.0) -> bytes:
    """Return the response to a request; every error becomes a fatal result that changes nothing.

    `waited` is how long the call has waited for its turn, in seconds. Raises `google.protobuf.message.DecodeError`
    only, for bytes that are not a request and cannot be answered.
    """
    began = time.perf_counter()
    given = read(received.take())
    result, response = _write(given, _logged(given.request, _decide(step, given, waited)))
    spent = {"milliseconds": time.perf_counter() - began, "waited_milliseconds": waited}
    _log(given.request, result, spent=spent, received=received.size, sent=len(response))
    return response


def _decide(step: Step, given: ParsedRequest, waited: float) -> StepOutcome:
    if waited > PATIENCE:
        return StepOutcome(complete(given.request, Result(fatal=_late(given.request, waited))))
    return run(step, given.request) if given.error is None else fail(given.request, given.error)


def _late(request: Request, waited: float) -> str:
    return (
        f"{identity(request.composite)}: not looked at: the call waited {waited:.0f} s for its turn, and after "
        f"{PATIENCE:.0f} s Crossplane has no time left to act; nothing was changed, and Crossplane calls again. If "
        "this lasts, give the function more CPU or lower Crossplane's --max-concurrent-reconciles"
    )


def _logged(request: Request, outcome: StepOutcome) -> Result:
    """Return the outcome's result; the traceback of a defect goes to the log."""
    if outcome.defect is not None:
        structlog.get_logger().error("the step failed", composite=identity(request.composite), exc_info=outcome.defect)
    return outcome.result


def _write(given: ParsedRequest, result: Result) -> tuple[Result, bytes]:
    """Return the result and its serialization, or those of a fatal result if it cannot be sent."""
    try:
        return result, write_response(given.base, result)
    except OversizeError as error:
        # The conditions of the pass are dropped, because its decision is not applied.
        refused = complete(given.request, Result(fatal=str(error)))
    except Exception as error:  # noqa: BLE001 - as in `run`: a manifest that cannot be built must change nothing
        refused = _logged(given.request, fail(given.request, error))
    return refused, write_response(given.base, refused)


def _log(request: Request, result: Result, *, spent: Mapping[str, float], received: int, sent: int) -> None:
    """Log what was asked and answered: names and counts, never content."""
    composite, log = request.composite, structlog.get_logger().bind()
    log.info(
        "answered" if result.fatal is None else "refused",
        kind=composite.kind,
        namespace=composite.namespace,
        name=composite.name,
        **{name: round(seconds * 1000, 1) for name, seconds in spent.items()},
        observed=len(request.observed),
        required=sum(len(found) for found in request.required.values()),
        desired=len(request.desired_names | result.desired.keys()),
        requirements=len(result.requirements) + len(result.schemas),
        received_bytes=received,
        sent_bytes=sent,
        **({} if result.fatal is None else {"fatal": result.fatal}),
    )
    if log.is_enabled_for(logging.DEBUG):
        log.debug(
            "conditions set",
            conditions={one.type: f"{one.status} {one.reason}" for one in result.conditions},
            required={name: len(found) for name, found in request.required.items()},
            requirements=[*(one.name for one in result.requirements), *(one.name for one in result.schemas)],
        )
