"""The rules of an XRD (x-kubernetes-validations), found once per schema and evaluated on an object as a server does.

A rule may compare a value with the stored one that it replaces (`oldSelf`); such a transition rule holds for
updates alone. `optionalOldSelf`, `messageExpression` and `reason` are not supported: no definition of ours has them.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import celpy
from celpy.adapter import json_to_cel
from celpy.evaluation import CELEvalError

from modelplane.preview.fault import Fault
from modelplane.preview.ratcheting import ABSENT, Correlation

Schema = dict[str, Any]

#: `self` or `oldSelf` and the fields selected from it one after another; a name before a parenthesis is a function.
SELECTED = re.compile(r"\b(self|oldSelf)((?:\.[A-Za-z_]\w*)*)(\()?")
_SUPPORTED = frozenset({"rule", "message", "fieldPath"})
#: The end of a rule that bounds a size: a sum, or the parts of a text. A later version may lower the bound, as it may
#: lower a maxItems.
_BOUND = re.compile(r"(\.sum\(\) <= \d+|\{1,\d+\}\)\*\$'\))$")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its text, and the message when it is broken.

    `field` is the field that it is about, relative to the schema that has the rule (`.name`, or empty); `reads` are the
    paths below `self` that it reads, `reads_old` those below `oldSelf`.
    """

    text: str
    message: str
    field: str
    reads: frozenset[tuple[str, ...]]
    reads_old: frozenset[tuple[str, ...]] = frozenset()

    @property
    def is_bound(self) -> bool:
        """Return whether the rule bounds the size of something."""
        return bool(_BOUND.search(self.text))


@dataclass(frozen=True, slots=True)
class Ruled:
    """A schema reduced to its rules: those of this level, and the lower levels that have any."""

    rules: tuple[Rule, ...] = ()
    properties: Mapping[str, "Ruled"] = field(default_factory=dict)
    items: "Ruled | None" = None
    values: "Ruled | None" = None


def find_rules(schema: Schema) -> Ruled | None:
    """Return the rules of a schema and of everything below it, None if there are none."""
    below = {key: find_rules(child) for key, child in schema.get("properties", {}).items()}
    items, values = schema.get("items"), schema.get("additionalProperties")
    ruled = Ruled(
        rules=tuple(_rule(item) for item in schema.get("x-kubernetes-validations", ())),
        properties={key: child for key, child in below.items() if child},
        items=find_rules(items) if items else None,
        values=find_rules(values) if isinstance(values, dict) else None,
    )
    return ruled if ruled != Ruled() else None


def _rule(validation: Mapping[str, str]) -> Rule:
    if not validation.keys() <= _SUPPORTED:
        raise ValueError(f"not supported in a rule: {', '.join(sorted(validation.keys() - _SUPPORTED))}")
    text = validation["rule"]
    reads: dict[str, set[tuple[str, ...]]] = {"self": set(), "oldSelf": set()}
    for match in SELECTED.finditer(text):
        names = match[2].split(".")[1:]
        reads[match[1]].add(tuple(names[:-1] if match[3] and names else names))
    field_of = validation.get("fieldPath", "")
    return Rule(text, validation["message"], field_of, frozenset(reads["self"]), frozenset(reads["oldSelf"]))


def broken_rules(
    ruled: Ruled, value: Any, correlation: Correlation, path: str = "", *, but_bounds: bool = False
) -> Iterator[Fault]:
    """Yield a fault for each rule that a completed and valid value breaks, or that fails on it.

    An unchanged value may keep breaking a rule; it may not make one fail or break a transition rule. `but_bounds`:
    rules that bound a size are left out.
    """
    for rule in ruled.rules:
        old = correlation.old if correlation.found else ABSENT
        if (rule.reads_old and old is ABSENT) or (but_bounds and rule.is_bound):
            continue
        verdict = _evaluate(rule.text, _json(value, rule.reads), _json(old, rule.reads_old) if rule.reads_old else None)
        if verdict is True or (verdict is False and not rule.reads_old and correlation.is_unchanged()):
            continue
        yield Fault(f"{path}{rule.field}".lstrip("."), f"Invalid value: {verdict or rule.message}")
    inner = partial(broken_rules, but_bounds=but_bounds)
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ruled.properties:
                yield from inner(ruled.properties[key], item, correlation.child(key), f"{path}.{key}")
            elif ruled.values:
                yield from inner(ruled.values, item, correlation.child(key), f"{path}[{key}]")
    elif isinstance(value, list) and ruled.items:
        for i, item in enumerate(value):
            yield from inner(ruled.items, item, correlation.child(i), f"{path}[{i}]")


def _json(value: Any, reads: frozenset[tuple[str, ...]]) -> str:
    return json.dumps(_project(value, reads), sort_keys=True)


def _project(value: Any, reads: frozenset[tuple[str, ...]]) -> Any:
    """Return the parts of a value that a rule reads, so that objects that differ elsewhere share one verdict."""
    if () in reads or not isinstance(value, dict):
        return value
    heads = {path[0] for path in reads}
    return {
        key: _project(value[key], frozenset(path[1:] for path in reads if path[0] == key))
        for key in heads
        if key in value
    }


@lru_cache(maxsize=4096)
def _evaluate(text: str, value: str, old: str | None) -> bool | str:
    """Return whether the rule holds on a value (JSON) and its stored version, or why it could not be evaluated."""
    values = {"self": value} if old is None else {"self": value, "oldSelf": old}
    try:
        return bool(_program(text).evaluate({name: json_to_cel(json.loads(each)) for name, each in values.items()}))
    except CELEvalError as error:
        return f"rule could not be evaluated: {text}: {error.args[0]}"


@lru_cache(maxsize=256)
def _program(text: str) -> celpy.Runner:
    limit = sys.getrecursionlimit()
    environment = celpy.Environment()
    sys.setrecursionlimit(limit)  # cel-python raises it for the whole process; our rules need no more than others
    return environment.program(environment.compile(text), functions={"sum": _sum})


def _sum(numbers: Any) -> Any:
    """Return the sum of a list of integers: a function of Kubernetes' that cel-python lacks."""
    return sum(numbers, celpy.celtypes.IntType(0))
