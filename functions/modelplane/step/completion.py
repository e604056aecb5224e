"""Completes a step's result with all conditions of the composite's kind, and caps all messages.

Crossplane never removes a condition, and after a fatal result it sets each custom condition that no step returned to
Unknown. So every response carries all conditions of the composite's kind. Each is the first that exists of: the step's
own; an earlier step's of the same pass (carried in the pipeline context, because steps do not see each other's
conditions and Crossplane takes the last one); the observed one; Unknown.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from modelplane.lru import Lru, weigh
from modelplane.model.conditions import CONDITIONS, Condition, Reason, Status, cap
from modelplane.model.names import GROUP
from modelplane.step import Request, Result
from modelplane.step.versions import versions_match

#: Context key of the conditions that earlier steps of the pass set (a JSON text).
CONTEXT_CONDITIONS: Final = f"{GROUP}/conditions"
#: The conditions of the last passes by their text: a settled pass repeats them.
_CARRIED: Final = Lru[Mapping[str, Condition]](1024 * 1024)


def complete(request: Request, result: Result) -> Result:
    """Return the result with all conditions of the composite's kind, and with every message capped."""
    own = {condition.type: replace(condition, message=cap(condition.message)) for condition in result.conditions}
    kind = request.composite.kind
    given = {**_carried_conditions(request.context), **own}
    if (versions := versions_match(request)) and not _is_skew(given.get(versions.type)):
        given[versions.type] = own[versions.type] = versions
    carried = _carry(given) if own and _is_last_round(request, result) else {}
    kept = _observed(request) if CONDITIONS.get(kind, {}).keys() - given.keys() else {}
    every = {name: given.get(name) or kept.get(name) or _undetermined(name) for name in CONDITIONS.get(kind, ())}
    return replace(
        result,
        conditions=tuple({**every, **given}.values()),
        context={**result.context, **carried},
        events=tuple(replace(event, message=cap(event.message)) for event in result.events),
        fatal=None if result.fatal is None else cap(result.fatal),
    )


def _is_skew(found: Condition | None) -> bool:
    """Tell whether an earlier step of the pass has another version, which a matching later step must not hide."""
    return found is not None and found.status is Status.FALSE


def _undetermined(name: str) -> Condition:
    return Condition(str(name), Status.UNKNOWN, Reason.UNDETERMINED, Reason.UNDETERMINED.meaning)


def _is_last_round(request: Request, result: Result) -> bool:
    """Tell whether everything that the step requires was fetched; otherwise it is called again with this context."""
    fetched = all(each.name in request.required for each in result.requirements)
    return fetched and all(each.name in request.schemas for each in result.schemas)


def _carry(given: Mapping[str, Condition]) -> dict[str, str]:
    """Return the context entry for later steps of the pass, even if the pipeline has none.

    A step that sets no condition does not change the entry: the context is passed on.
    """
    rows = [[one.type, one.status, one.reason, one.message] for one in given.values()]
    return {CONTEXT_CONDITIONS: json.dumps(rows, separators=(",", ":"))}


def _carried_conditions(context: Mapping[str, Any]) -> Mapping[str, Condition]:
    """Return the conditions that this pass has set so far, by type; none if the entry is malformed."""
    text = context.get(CONTEXT_CONDITIONS)
    return _CARRIED.get(text, lambda: _weighed(text)) if isinstance(text, str) else {}


def _weighed(text: str) -> tuple[Mapping[str, Condition], int]:
    found = _parse(text)
    return found, weigh((text, found))


def _parse(text: str) -> dict[str, Condition]:
    try:
        rows = json.loads(text)
        return {name: Condition(name, Status(status), reason, message) for name, status, reason, message in rows}
    except (ValueError, TypeError):
        return {}


def _observed(request: Request) -> dict[str, Condition]:
    """Return the composite's observed conditions by type, without malformed ones."""
    status = request.composite.body.get("status")
    found = status.get("conditions") if isinstance(status, Mapping) else None
    rows = [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []
    return {str(row.get("type")): _condition(row) for row in rows}


def _condition(row: Mapping[str, Any]) -> Condition:
    status = row.get("status")
    return Condition(
        type=str(row.get("type")),
        status=Status(status) if status in tuple(Status) else Status.UNKNOWN,
        reason=str(row.get("reason") or Reason.UNDETERMINED),
        message=cap(str(row.get("message") or "")),
    )
