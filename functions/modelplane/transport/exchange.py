"""One exchange with Crossplane: serialized request in, serialized response out, one line in the log."""

import logging
import time
from collections.abc import Callable
from functools import partial
from sys import intern
from typing import Final

import structlog

from modelplane.lru import owned_by
from modelplane.scheduling.search_budget import Allowance, allowed
from modelplane.step import Request, Result, Step
from modelplane.step.call import StepOutcome, fail, identity, run
from modelplane.step.completion import complete
from modelplane.transport import answers
from modelplane.transport.admission import Received
from modelplane.transport.answers import Summary
from modelplane.transport.metrics import Exchange, Outcome, Record
from modelplane.transport.request import ParsedRequest, read, with_readable_composite
from modelplane.transport.response import OversizeError, write_response

#: The outcome of an answer that is known already: only those that are not fatal are kept.
_ANSWERED: Final = StepOutcome(Result())
#: Seconds after which a waiting call is refused: Crossplane gives a whole reconcile two minutes.
PATIENCE: Final = 90.0
#: Waits until a call of a namespace that takes long may go on; False if it should end instead.
Turn = Callable[[str], bool]


def _at_once(_namespace: str) -> bool:
    return True


def _unrecorded(_done: Exchange) -> None:
    return None


def answer(
    step: Step, received: Received, waited: float = 0.0, turn: Turn = _at_once, *, record: Record = _unrecorded
) -> bytes:
    """Return the response to a request; every error becomes a fatal result that changes nothing.

    `waited` is how long the call has waited to be received, in seconds; `record` is called with what the answer took.
    Raises `google.protobuf.message.DecodeError` only, for bytes that are not a request and cannot be answered.
    """
    began = time.perf_counter()
    given = read(received.take())
    known = answers.find(step, given) if waited <= PATIENCE else None
    if known is not None:
        response, summary, done = *known, _ANSWERED
    else:
        response, summary, done = _compute(step, with_readable_composite(given), waited, turn)
    seconds = time.perf_counter() - began
    record(Exchange(summary.kind, _outcome(done), seconds, waited, received.size, len(response)))
    line = summary._asdict() | {
        "milliseconds": round(seconds * 1000, 1),
        "waited_milliseconds": round(waited * 1000, 1),
        "observed": len(given.request.observed),
        "required": sum(map(len, given.request.required.values())),
        "received_bytes": received.size,
        "sent_bytes": len(response),
        "cached": known is not None,
    }
    fatal = done.result.fatal
    structlog.get_logger().info(
        "answered" if fatal is None else "refused", **line, **({"fatal": fatal} if fatal else {})
    )
    return response


def _outcome(done: StepOutcome) -> Outcome:
    if done.defect is not None:
        return Outcome.FAILED
    return Outcome.ANSWERED if done.result.fatal is None else Outcome.REFUSED


def _compute(step: Step, given: ParsedRequest, waited: float, turn: Turn) -> tuple[bytes, Summary, StepOutcome]:
    """Return the response with the step's result, its summary, and the outcome that was written."""
    request, composite = given.request, given.request.composite
    response, done = _write(given, _logged(request, _decide(step, given, waited, turn)))
    result = done.result
    summary = Summary(
        kind=intern(composite.kind),
        namespace=intern(composite.namespace),
        name=composite.name,
        desired=len(request.desired_names | result.desired.keys()),
        requirements=len(result.requirements) + len(result.schemas),
    )
    answers.keep(step, given, result, response, summary)
    _log_details(request, result)
    return response, summary, done


def _decide(step: Step, given: ParsedRequest, waited: float, turn: Turn) -> StepOutcome:
    if waited > PATIENCE:
        return StepOutcome(complete(given.request, Result(fatal=_late(given.request, waited))))
    if given.error is not None:
        return fail(given.request, given.error)
    namespace = given.request.composite.namespace
    with allowed(Allowance(turn=partial(turn, namespace))), owned_by(namespace):
        return run(step, given.request)


def _late(request: Request, waited: float) -> str:
    return (
        f"{identity(request.composite)}: not processed: the call was queued for {waited:.0f} s, and after "
        f"{PATIENCE:.0f} s Crossplane has no time left to act; nothing was changed, and Crossplane calls again. If "
        "this lasts, give the function more CPU or lower Crossplane's --max-concurrent-reconciles"
    )


def _logged(request: Request, outcome: StepOutcome) -> StepOutcome:
    """Return the outcome; the traceback of a defect goes to the log."""
    if outcome.defect is not None:
        structlog.get_logger().error("the step failed", composite=identity(request.composite), exc_info=outcome.defect)
    return outcome


def _write(given: ParsedRequest, done: StepOutcome) -> tuple[bytes, StepOutcome]:
    """Return the serialized result with the outcome, or those of a fatal result if it cannot be sent."""
    try:
        return write_response(given.base, done.result), done
    except OversizeError as error:
        # The conditions of the pass are dropped, because its decision is not applied.
        refused = StepOutcome(complete(given.request, Result(fatal=str(error))))
    except Exception as error:  # noqa: BLE001 - as in `run`: a manifest that cannot be built must change nothing
        refused = _logged(given.request, fail(given.request, error))
    return write_response(given.base, refused.result), refused


def _log_details(request: Request, result: Result) -> None:
    """Log at debug level what was set and asked for, by name, and what was decided and why."""
    log = structlog.get_logger().bind()
    if log.is_enabled_for(logging.DEBUG):
        log.debug(
            "conditions set",
            conditions={one.type: f"{one.status} {one.reason}" for one in result.conditions},
            required={name: len(found) for name, found in request.required.items()},
            requirements=[*(one.name for one in result.requirements), *(one.name for one in result.schemas)],
        )
        if result.details is not None:
            log.debug("decided", composite=identity(request.composite), **result.details())
