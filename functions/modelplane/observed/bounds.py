"""Finds values in a stored spec that exceed the bounds of its XRD.

A bound that is added to an XRD does not affect stored objects: the API server refuses new values only. An object over a
bound is held, so that its size costs nothing and what serves keeps serving.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from modelplane import cel
from modelplane.api.bounds import BOUNDS
from modelplane.model.observation import Malformed
from modelplane.observed.fields import mapping, mappings, text
from modelplane.observed.memo import once_per_version
from modelplane.observed.resources import above_limits
from modelplane.step import Object

#: Most characters of command, args, env and annotations in the engines of one object, and what a variable's `valueFrom`
#: counts as. The object is sent to every pass that places a replica on its cluster.
MAX_TEXT: Final = 256 * 1024
REFERENCE: Final = 256

#: A step of a path of `BOUNDS`: a field, `[]` or `[name]` into a list, `{}` into the values of a map.
_STEP: Final = re.compile(r"\w+|\[\w*\]|\{\}")


@dataclass(slots=True)
class _Bound:
    """The bound of a value, None for none, and the bounds of the values in it, by the next step."""

    most: int | None = None
    inner: dict[str, "_Bound"] = field(default_factory=dict)


@lru_cache(maxsize=16)
def _bounds(kind: str) -> _Bound:
    """Return the bounds of an object of a kind as a tree."""
    root = _Bound()
    for path, most in BOUNDS.get(kind, {}).items():
        bound = root
        for step in _STEP.findall(path):
            bound = bound.inner.setdefault(step, _Bound())
        bound.most = most
    return root


def _inside(value: Any, step: str) -> Iterator[tuple[str, Any]]:
    """Yield the values at a step, each with its part of the path."""
    if step == "{}":
        yield from ((f"[{name}]", each) for name, each in value.items()) if isinstance(value, Mapping) else ()
    elif step.startswith("["):
        for index, each in enumerate(value if isinstance(value, list) else ()):
            name = each.get(step[1:-1]) if len(step) > 2 and isinstance(each, Mapping) else None
            yield f"[{name if isinstance(name, str) else index}]", each
    elif isinstance(value, Mapping) and step in value:
        yield f".{step}", value[step]


def _over(value: Any, bound: _Bound) -> tuple[str, str] | None:
    """Return the path within a value of the first value that is too large, and its size for a message."""
    if bound.most is not None and isinstance(value, (str, list, Mapping)) and len(value) > bound.most:
        unit = "characters" if isinstance(value, str) else "entries"
        return "", f"has {len(value)} {unit}, and at most {bound.most} are allowed"
    for step, inner in bound.inner.items():
        for at, each in _inside(value, step):
            if found := _over(each, inner):
                return at + found[0], found[1]
    return None


def selector_texts(engines: Any) -> Iterator[str]:
    """Yield the CEL texts of `spec.engines` of a ModelDeployment or ModelReplica, as far as they can be read."""
    for engine in mappings(engines):
        for member in mappings(engine.get("members")):
            devices = mapping(member.get("nodeSelector")).get("devices") or member.get("deviceRequests")
            for request in mappings(devices):
                yield from (text(selector.get("cel")) for selector in mappings(request.get("selectors")))


def too_many_selectors(texts: Iterable[str]) -> str:
    """Return which bound the selectors of one object exceed, "" for none."""
    lengths = [len(each) for each in texts]
    if len(lengths) > cel.MAX_SELECTORS:
        return f"has {len(lengths)} selectors, and at most {cel.MAX_SELECTORS} are allowed"
    if sum(lengths) > cel.MAX_CHARACTERS:
        return f"has {sum(lengths)} characters of CEL, and at most {cel.MAX_CHARACTERS} are allowed"
    return ""


def _pod_texts(engines: Any) -> Iterator[int]:
    """Yield the lengths of what `MAX_TEXT` bounds, as the rule of the XRDs counts them."""
    for engine in mappings(engines):
        for template in (mapping(member.get("template")) for member in mappings(engine.get("members"))):
            for key, value in mapping(mapping(template.get("metadata")).get("annotations")).items():
                yield len(key) + len(text(value))
            for container in mappings(mapping(template.get("spec")).get("containers")):
                for words in (container.get("command"), container.get("args")):
                    yield from (len(text(word)) for word in words) if isinstance(words, list) else ()
                for variable in mappings(container.get("env")):
                    value = len(text(variable.get("value")))
                    yield len(text(variable.get("name"))) + (REFERENCE if "valueFrom" in variable else value)


def _too_much(engines: Any) -> str:
    """Return which bound all engines of one object together exceed, "" for none."""
    if wrong := too_many_selectors(selector_texts(engines)):
        return wrong
    if (characters := sum(_pod_texts(engines))) > MAX_TEXT:
        return f"has {characters} characters of command, args, env and annotations, and at most {MAX_TEXT} are allowed"
    return ""


def over_bound(obj: Object) -> Malformed | None:
    """Return the first field of the spec that exceeds its bound, with its size; None if none does.

    The bounds are those of the XRD, and for a request for CPU or memory its limit.
    """
    found, engines = _over(obj.body, _bounds(obj.kind)), mapping(obj.body.get("spec")).get("engines")
    if not found and (wrong := _too_much(engines)):
        found = "spec.engines", wrong
    found = found or next(above_limits(engines), None)
    return Malformed(obj.kind, obj.name, found[0].removeprefix("."), found[1]) if found else None


find_over_bound = once_per_version(over_bound)
