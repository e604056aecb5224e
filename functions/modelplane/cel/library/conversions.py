"""Conversions between the simple types, as Go does them, and `size`, `type` and `dyn`."""

import math
import re

from modelplane.cel.library.operators import natural, whole
from modelplane.cel.library.registry import function, method
from modelplane.cel.values import EvaluationError, List, Map, TypeValue, Uint, Value, type_name

#: Functions that Kubernetes computes while it compiles when their argument is a literal: an error refuses the selector.
FOLDED = frozenset({"bool", "bytes", "double", "dyn", "int", "string", "type", "uint"})

_INTEGER = re.compile(r"[+-]?[0-9]{1,100}")
_NATURAL = re.compile(r"[0-9]{1,100}")
_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})


@function("size", "bytes -> int", "string -> int")
@method("size", "bytes -> int", "string -> int")
def _length(value: str | bytes) -> int:
    return len(value)


@function("size", "list<A> -> int")
@method("size", "list<A> -> int")
def _list_size(value: List) -> int:
    return len(value.items)


@function("size", "map<A, B> -> int")
@method("size", "map<A, B> -> int")
def _map_size(value: Map) -> int:
    return len(value.entries)


@function("type", "A -> type<A>")
def _type(value: Value) -> TypeValue:
    return TypeValue(type_name(value))


@function("dyn", "A -> dyn")
@function("bool", "bool -> bool")
@function("bytes", "bytes -> bytes")
@function("double", "double -> double")
@function("int", "int -> int")
@function("string", "string -> string")
@function("uint", "uint -> uint")
def _same(value: Value) -> Value:
    return value


@function("bool", "string -> bool")
def _bool(text: str) -> bool:
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise _inconvertible(text, "bool")


@function("bytes", "string -> bytes")
def _bytes(text: str) -> bytes:
    return text.encode()


@function("double", "int -> double", "uint -> double")
def _double(value: int) -> float:
    return float(value)


@function("double", "string -> double")
def _double_of_text(text: str) -> float:
    # Go also reads hexadecimal, `inf` and `nan`; those are an error here.
    value = float(text) if _DOUBLE.fullmatch(text) else math.inf
    if math.isinf(value):
        raise _inconvertible(text, "double")
    return value


@function("int", "double -> int")
def _int_of_double(value: float) -> int:
    # The bounds are exclusive: the doubles next to them are not within int64.
    if not -(2.0**63) < value < 2.0**63:
        raise EvaluationError("double is outside the range of int")
    return int(value)


@function("int", "string -> int")
def _int_of_text(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise _inconvertible(text, "int")
    return whole(int(text))


@function("int", "uint -> int")
def _int_of_uint(value: Uint) -> int:
    return whole(int(value))


@function("uint", "double -> uint")
def _uint_of_double(value: float) -> Uint:
    if not 0.0 <= value < 2.0**64:
        raise EvaluationError("double is outside the range of uint")
    return Uint(value)


@function("uint", "int -> uint")
def _uint_of_int(value: int) -> Uint:
    return natural(value)


@function("uint", "string -> uint")
def _uint_of_text(text: str) -> Uint:
    if not _NATURAL.fullmatch(text):
        raise _inconvertible(text, "uint")
    return natural(int(text))


@function("string", "bool -> string")
def _string_of_bool(value: bool) -> str:  # noqa: FBT001 (a CEL value)
    return "true" if value else "false"


@function("string", "bytes -> string")
def _string_of_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


@function("string", "double -> string")
def _string_of_double(value: float) -> str:
    # Go's %g: the shortest digits that give the same number again, with an exponent from a million on.
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    written = next(text for places in range(17) if float(text := f"{value:.{places}e}") == value)
    mantissa, _, exponent = written.partition("e")
    if -4 <= int(exponent) < 6:
        return f"{value:.{max(0, len(mantissa.lstrip('-').replace('.', '')) - 1 - int(exponent))}f}"
    return written


@function("string", "int -> string", "uint -> string")
def _string_of_int(value: int) -> str:
    return str(int(value))


def _inconvertible(text: str, kind: str) -> EvaluationError:
    return EvaluationError(f"type conversion error: {text[:64]!r} is no {kind}")
