"""`google.protobuf.Struct` as plain dicts, and plain dicts as the bytes of a serialized Struct.

Reading and writing the wire format by hand was rejected: it is up to a third faster, which no target needs.
"""

from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from sys import intern
from typing import Any, Final

from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct, Value

from modelplane.step.secrets import MOST_KEYS
from modelplane.transport.wire import Wire, entry_of, fields_of

#: Fields that are left out if their value is of this kind: managedFields is the API server's bookkeeping, often half of
#: an object, and no decision depends on it.
_ALWAYS: Final = {"managedFields": "list_value"}
#: Fields that an outline leaves out as well: pod templates, the largest part of a replica, which placing does not read.
_OF_OUTLINES: Final = {**_ALWAYS, "template": "struct_value"}


#: Maps with arbitrary keys, such as values of Secrets and ConfigMaps: left out above `MOST_KEYS` keys.
_FREE: Final = frozenset({"data", "labels", "annotations"})
#: The bytes that begin a serialized Value of these kinds.
_TAGS: Final = {"list_value": 0x32, "struct_value": 0x2A}
#: The most maps and lists in one another of what is read of an object that protobuf refuses: it reads a hundred
#: messages in one another, which are 34 maps. A field that a schema knows lies within 20.
MAX_LEVELS: Final = 32
#: From this size on it is faster to read each level of an object than to parse all of it.
LARGE: Final = 32 * 1024


def decode(wire: Wire) -> dict[str, Any]:
    """Return the dict of a serialized Struct, with integral numbers as int, without `managedFields` lists.

    In a large object, maps of data, labels and annotations with more than `MOST_KEYS` keys are left out as well. Values
    nested more deeply than protobuf reads are cut off at `MAX_LEVELS`.

    Raises `google.protobuf.message.DecodeError` for bytes that are no Struct.
    """
    return _decode(wire, _ALWAYS)


def _decode(wire: Wire, left_out: Mapping[str, str]) -> dict[str, Any]:
    if len(wire) < LARGE:
        try:
            return _read(Struct.FromString(bytes(wire)), left_out)
        except DecodeError:  # too deep, or garbled, which reading in place tells
            return _InPlace(left_out, whole=0).read(wire)
    return _InPlace(left_out, whole=LARGE).read(wire)


def decode_outline(wire: Wire) -> dict[str, Any]:
    """Do as `decode`, without pod templates, which are not even parsed in a large object."""
    return _decode(wire, _OF_OUTLINES)


def pick_fields(wire: Wire, names: Container[str]) -> dict[str, bytes]:
    """Return the fields of a serialized Struct that have these names, each a serialized Value; no other is copied.

    Raises `google.protobuf.message.DecodeError` for bytes that are no Struct.
    """
    with _garbled():
        entries = (entry_of(wire, begin, stop) for _, begin, stop in fields_of(wire, 0, len(wire)))
        return {name: bytes(wire[at:until]) for name, (at, until) in entries if name in names}


@contextmanager
def _garbled() -> Iterator[None]:
    """Raise `google.protobuf.message.DecodeError` for whatever reading bytes that are no Struct raises."""
    try:
        yield
    except (IndexError, UnicodeDecodeError, ValueError) as error:
        raise DecodeError(f"an object is cut off or garbled: {error}") from error


@dataclass(frozen=True, slots=True)
class _InPlace:
    """Reads a serialized Struct level by level, instead of all at once like protobuf.

    `left_out` is as in `_read`. Values of fewer bytes than `whole` are parsed by protobuf if it accepts their depth.
    """

    left_out: Mapping[str, str]
    whole: int

    def read(self, wire: Wire) -> dict[str, Any]:
        """Return the dict; raises `google.protobuf.message.DecodeError` for bytes that are no Struct."""
        with _garbled():
            return self._struct(wire, 0, len(wire), MAX_LEVELS)

    def _struct(self, wire: Wire, start: int, end: int, levels: int) -> dict[str, Any]:
        read: dict[str, Any] = {}
        for _, begin, stop in fields_of(wire, start, end) if levels else ():
            key, (at, until) = entry_of(wire, begin, stop)
            if key in _FREE and _is_crowded(wire, at, until):
                continue
            if at == until or wire[at] != _TAGS.get(self.left_out.get(key, "")):
                read[intern(key)] = self.value(wire, at, until, levels - 1)
        return read

    def value(self, wire: Wire, start: int, end: int, levels: int) -> Any:
        """Return a Value's, of which so many levels are read; raises what reading garbled bytes does."""
        if start == end or wire[start] not in _TAGS.values():
            return _read_value(Value.FromString(bytes(wire[start:end])), self.left_out)
        if end - start < self.whole:
            try:
                return _read_value(Value.FromString(bytes(wire[start:end])), self.left_out)
            except DecodeError:  # too deep, or garbled, which reading in place tells
                return _InPlace(self.left_out, whole=0).value(wire, start, end, levels)
        ((_, begin, stop),) = fields_of(wire, start, end)
        if wire[start] == _TAGS["struct_value"]:
            return self._struct(wire, begin, stop, levels)
        items = fields_of(wire, begin, stop) if levels else ()
        return [self.value(wire, at, until, levels - 1) for _, at, until in items]


def _is_crowded(wire: Wire, start: int, end: int) -> bool:
    """Tell whether a Value is a map with more than `MOST_KEYS` keys, without reading more of them."""
    if start == end or wire[start] != _TAGS["struct_value"]:
        return False
    ((_, begin, stop),) = fields_of(wire, start, end)
    return next(islice(fields_of(wire, begin, stop), MOST_KEYS, None), None) is not None


def _read(message: Struct, left_out: Mapping[str, str]) -> dict[str, Any]:
    fields = message.fields  # iterated by key: protobuf's `items()` costs twice as much
    read = {}
    for key in fields:
        value = fields[key]
        if key not in left_out or value.WhichOneof("kind") != left_out[key]:
            read[intern(key)] = _read_value(value, left_out)  # a fleet's objects share their field names: held once
    return read


def _read_value(message: Value, left_out: Mapping[str, str]) -> Any:
    match message.WhichOneof("kind"):
        case "string_value":
            return message.string_value
        case "struct_value":
            return _read(message.struct_value, left_out)
        case "list_value":
            return [_read_value(value, left_out) for value in message.list_value.values]
        case "number_value":
            number = message.number_value
            return int(number) if number.is_integer() else number
        case "bool_value":
            return message.bool_value
    return None


def encode(fields: Mapping[str, Any]) -> bytes:
    """Return the serialized Struct of a JSON-like mapping: equal content, equal bytes.

    Raises ValueError for a value that JSON cannot express, TypeError for a key that is no string.
    """
    message = Struct()
    message.update(fields)
    return message.SerializeToString(deterministic=True)
