"""Regular expressions by RE2, which cel-python depends on: Go's syntax, in linear time.

RE2 is imported with the first pattern.
"""

import re
from functools import lru_cache
from typing import Any

from modelplane.cel.library.registry import function, method, total_weight
from modelplane.cel.values import AbortError, EvaluationError, List

#: Functions whose pattern, when it is a literal, is compiled with the selector.
WITH_PATTERN = frozenset({"matches", "find", "findAll"})

#: Longest pattern and text, and the memory of a compiled pattern: together they bound the time of a search.
_MAX_PATTERN = 500
_MAX_TEXT = 2000
_MAX_MEMORY = 1 << 17
#: Syntax that RE2 accepts, and Go does not or gives another meaning.
_FOREIGN = re.compile(r"\\C|\(\?P?[=>]")
_MAX_GROUPS = 200


@lru_cache(maxsize=64)
def compiled(pattern: str) -> Any:
    """Return a compiled pattern. Raises EvaluationError for an invalid one, AbortError for an unsupported one."""
    import re2  # type: ignore[import-untyped]  # noqa: PLC0415 (13 MiB that most processes never need)

    if len(pattern) > _MAX_PATTERN:
        raise AbortError(f"limit: a regular expression longer than {_MAX_PATTERN} characters")
    if _FOREIGN.search(pattern) or pattern.count("(") > _MAX_GROUPS:
        raise AbortError("a regular expression that Go does not accept")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        message = str(error.args[0], "utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        if "too large" in message:
            raise AbortError("limit: a regular expression that is too large when compiled") from None
        raise EvaluationError(f"invalid regular expression: {message}") from None


def _cost(text: str, pattern: str, *_: int) -> int:
    return total_weight(text, pattern) + (len(text) * len(pattern) >> 6)


@function("matches", "string, string -> bool", cost=_cost)
@method("matches", "string, string -> bool", cost=_cost)
def _matches(text: str, pattern: str) -> bool:
    return compiled(pattern).search(_searched(text)) is not None


@method("find", "string, string -> string", cost=_cost)
def _find(text: str, pattern: str) -> str:
    found = compiled(pattern).search(_searched(text))
    return found.group() if found else ""


@method("findAll", "string, string -> list<string>", "string, string, int -> list<string>", cost=_cost)
def _find_all(text: str, pattern: str, limit: int = -1) -> List:
    found: list[str] = []
    end = -1
    for match in compiled(pattern).finditer(_searched(text)):
        if limit >= 0 and len(found) >= limit:
            break
        # Go drops an empty match right after the previous match.
        if match.start() != match.end() or match.start() != end:
            found.append(match.group())
        end = match.end()
    return List(tuple(found))


def _searched(text: str) -> str:
    if len(text) > _MAX_TEXT:
        raise AbortError(f"limit: a regular expression on more than {_MAX_TEXT} characters")
    return text
