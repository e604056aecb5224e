"""Functions on strings: CEL's own and those of the string extension, by Unicode character as Go counts runes."""

from modelplane.cel.library.registry import function, method, pairwise, total_weight
from modelplane.cel.values import EvaluationError, List, Value, weight

#: What Go's `strings.TrimSpace` trims; Python's `strip` also trims the four information separators.
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_UPPER = {upper + 32: upper for upper in range(ord("A"), ord("Z") + 1)}
_QUOTED = {ord(sign): f"\\{name}" for sign, name in zip('\a\b\f\n\r\t\v\\"', 'abfnrtv\\"', strict=True)}


@method("contains", "string, string -> bool")
def _contains(text: str, part: str) -> bool:
    return part in text


@method("endsWith", "string, string -> bool")
def _ends_with(text: str, end: str) -> bool:
    return text.endswith(end)


@method("startsWith", "string, string -> bool")
def _starts_with(text: str, start: str) -> bool:
    return text.startswith(start)


@method("charAt", "string, int -> string")
def _char_at(text: str, index: int) -> str:
    _check(index, text)
    return text[index : index + 1]


@method("indexOf", "string, string -> int", "string, string, int -> int", cost=pairwise)
def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    return text.find(part, start)


@method("lastIndexOf", "string, string -> int", cost=pairwise)
def _last_index_of(text: str, part: str) -> int:
    return text.rfind(part)


@method("lastIndexOf", "string, string, int -> int", cost=pairwise)
def _last_index_before(text: str, part: str, end: int) -> int:
    if not part:
        return end
    if end < 0:
        raise EvaluationError(f"index out of range: {end}")
    return -1 if end >= len(text) else text.rfind(part, 0, end + len(part))


@method("lowerAscii", "string -> string")
def _lower(text: str) -> str:
    return text.translate(_LOWER)


@method("upperAscii", "string -> string")
def _upper(text: str) -> str:
    return text.translate(_UPPER)


def _replace_cost(text: str, old: str, new: str, *_: int) -> int:
    return total_weight(text, old) + weight(new) * (len(text) + 1)


@method("replace", "string, string, string -> string", "string, string, string, int -> string", cost=_replace_cost)
def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    return text.replace(old, new, _count(count))


@method("split", "string, string -> list<string>", "string, string, int -> list<string>", cost=lambda *a: 1 + len(a[0]))
def _split(text: str, separator: str, limit: int = -1) -> List:
    if limit == 0:
        return List(())
    if separator:
        return List(tuple(text.split(separator, _count(limit - 1 if limit > 0 else -1))))
    if 0 < limit < len(text):
        return List((*text[: limit - 1], text[limit - 1 :]))
    return List(tuple(text))


@method("substring", "string, int -> string")
def _substring(text: str, start: int) -> str:
    _check(start, text)
    return text[start:]


@method("substring", "string, int, int -> string")
def _substring_between(text: str, start: int, end: int) -> str:
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    _check(start, text)
    _check(end, text)
    return text[start:end]


@method("trim", "string -> string")
def _trim(text: str) -> str:
    return text.strip(_SPACE)


def _join_cost(parts: List, separator: str = "") -> int:
    return total_weight(parts) * weight(separator)


@method("join", "list<string> -> string", "list<string>, string -> string", cost=_join_cost)
def _join(parts: List, separator: str = "") -> str:
    items: tuple[Value, ...] = parts.sequence()
    for item in items:
        if type(item) is not str:
            raise EvaluationError("join: an element is not a string")
    return separator.join(items)


@function("strings.quote", "string -> string")
def _quote(text: str) -> str:
    return f'"{text.translate(_QUOTED)}"'


def _check(index: int, text: str) -> None:
    if not 0 <= index <= len(text):
        raise EvaluationError(f"index out of range: {index}")


def _count(count: int) -> int:
    # To Python any negative number means "all"; a number must fit a machine word.
    return max(-1, min(count, 2**31))
