"""Serializes objects as Crossplane does: Go writes the entries of a map in another order every time."""

import random
import struct
from collections.abc import Mapping
from typing import Any


def encode_in_any_order(manifest: Mapping[str, Any], seed: int) -> bytes:
    """Return the serialized `google.protobuf.Struct` of a manifest, every map in a random order."""
    return _struct(manifest, random.Random(seed))  # noqa: S311 - only an order


def _varint(number: int) -> bytes:
    if number < 0x80:
        return bytes([number])
    return bytes([number & 0x7F | 0x80]) + _varint(number >> 7)


def _part(tag: int, content: bytes) -> bytes:
    return bytes([tag]) + _varint(len(content)) + content


def _struct(fields: Mapping[str, Any], order: random.Random) -> bytes:
    entries = [
        _part(0x0A, _part(0x0A, key.encode()) + _part(0x12, _value(each, order))) for key, each in fields.items()
    ]
    order.shuffle(entries)
    return b"".join(entries)


def _value(value: Any, order: random.Random) -> bytes:
    match value:
        case Mapping():
            return _part(0x2A, _struct(value, order))
        case list():
            return _part(0x32, b"".join(_part(0x0A, _value(each, order)) for each in value))
        case str():
            return _part(0x1A, value.encode())
        case bool():
            return bytes([0x20, value])
        case None:
            return b"\x08\x00"
    return b"\x11" + struct.pack("<d", value)
