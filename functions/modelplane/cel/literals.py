"""The values of CEL's literals: strings and bytes with escapes, integers within their ranges, doubles."""

import re

from modelplane.cel.values import INT_MAX, INT_MIN, UINT_MAX, Uint

_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"} | {c: c for c in "\\'\"`?"}
_ESCAPE = re.compile(r"\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL)
#: More digits than any 64-bit number has, and fewer than Python refuses to convert.
_MAX_DIGITS = 100


class LiteralError(ValueError):
    """A literal of the right form that has no value."""


def text_of(written: str) -> str:
    """Return the value of a string literal as written (quotes, `r` prefix). Raises LiteralError."""
    body, raw = _body(written)
    if raw:
        return body

    def replace(found: re.Match[str]) -> str:
        if found[5]:
            return _SIMPLE[found[5]]
        point = int(found[4], 8) if found[4] else int(found[1] or found[2] or found[3], 16)
        if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            raise LiteralError("invalid unicode code point")
        return chr(point)

    return _ESCAPE.sub(replace, body)


def bytes_of(written: str) -> bytes:
    r"""Return the value of a bytes literal as written (`b` prefix); `\x` and octal escapes are single bytes."""
    body, raw = _body(written[1:])
    if raw:
        return body.encode()
    parts: list[bytes] = []
    end = 0
    for found in _ESCAPE.finditer(body):
        parts.append(body[end : found.start()].encode())
        end = found.end()
        if found[2] or found[3]:
            raise LiteralError("unicode escape in a bytes literal")
        if found[5]:
            parts.append(_SIMPLE[found[5]].encode())
        else:
            parts.append(bytes([int(found[4], 8) if found[4] else int(found[1], 16)]))
    return b"".join(parts) + body[end:].encode()


def int_of(written: str) -> int:
    """Return the value of an int literal, with its sign. Raises LiteralError out of int64."""
    value = _integer(written)
    if not INT_MIN <= value <= INT_MAX:
        raise LiteralError("invalid int literal")
    return value


def uint_of(written: str) -> Uint:
    """Return the value of a uint literal. Raises LiteralError out of uint64."""
    value = _integer(written[:-1])
    if value > UINT_MAX:
        raise LiteralError("invalid uint literal")
    return Uint(value)


def double_of(written: str) -> float:
    """Return the value of a double literal, with its sign. Raises LiteralError beyond the range of a double."""
    value = float(written)
    if value in {float("inf"), float("-inf")}:
        raise LiteralError("invalid double literal")
    return value


def _integer(written: str) -> int:
    if len(written) > _MAX_DIGITS:
        raise LiteralError("integer literal is too long")
    return int(written, 16 if "x" in written else 10)


def _body(written: str) -> tuple[str, bool]:
    raw = written[0] in "rR"
    body = written[1:] if raw else written
    width = 3 if body[:3] in {'"""', "'''"} and len(body) >= 6 else 1
    # Kubernetes reads every kind of line break in a literal as a line feed.
    return body[width:-width].replace("\r\n", "\n").replace("\r", "\n"), raw
