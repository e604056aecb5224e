"""Completes a step's result: every response carries all conditions of the composite's kind, all messages capped.

Crossplane never removes a condition, and after a fatal result it sets each custom condition that no step returned to
Unknown. So every response carries all conditions of the composite's kind. In the order of what is known better: what
the step set, what an earlier step of the same pass set (steps do not see one another's conditions and Crossplane lets
the last one win, so they are carried in the pipeline context), what was observed, and Unknown.
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
    """Tell whether an earlier step of the pass is of another version: one that matches does not make up for it."""
    return found is not None and found.status is Status.FALSE


def _undetermined(name: str) -> Condition:
    return Condition(str(name), Status.UNKNOWN, Reason.UNDETERMINED, Reason.UNDETERMINED.meaning)


def _is_last_round(request: Request, result: Result) -> bool:
    """Tell whether all that the step requires was fetched: it is called again otherwise, with what it carries now."""
    fetched = all(each.name in request.required for each in result.requirements)
    return fetched and all(each.name in request.schemas for each in result.schemas)


def _carry(given: Mapping[str, Condition]) -> dict[str, str]:
    """Return the context entry for the later steps of the pass, whether the pipeline has any or not.

    A step that sets no condition leaves the entry as it is: the context is passed on.
    """
    rows = [[one.type, one.status, one.reason, one.message] for one in given.values()]
    return {CONTEXT_CONDITIONS: json.dumps(rows, separators=(",", ":"))}


def _carried_conditions(context: Mapping[str, Any]) -> Mapping[str, Condition]:
    """Return the conditions that this pass has set so far, by type; none when another function garbled them."""
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
    """Return the composite's conditions as they are, by type; what is malformed is left out."""
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
