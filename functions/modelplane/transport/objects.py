"""Observed objects: they arrive as bytes, and become dicts with sealed secret values when a step reads them.

A dict is cached by the object's version, so that an object is parsed once however often it is sent.
"""

import hashlib
from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import Any, Final, cast
from zlib import adler32

from modelplane.lru import Lru, weigh
from modelplane.step import Manifest, Object
from modelplane.step.secrets import seal_secrets
from modelplane.transport.messages import Fields, Peek
from modelplane.transport.structs import LARGE, decode, decode_outline, pick_fields
from modelplane.transport.wire import Wire

#: Upper bound of the bytes of cached dicts; they usually take less than half. Values that steps read from a fleet have
#: a cache of their own (`observed.memo`), so this one is sized for the objects of a large composite, not for a fleet.
_KEPT: Final = 55 * 1024 * 1024
_BODIES: Final = Lru[Manifest](_KEPT)

#: A dict takes less than so many times its serialized bytes, and so many bytes more for each object, list and text in
#: it. The bytes are their tags in a serialized Struct; that they occur in texts too only adds weight.
_EXPANSION: Final = 3
_VALUES: Final = {b"\x2a": 184, b"\x32": 64, b"\x1a": 56}

#: What stands before a time in managedFields: the key `time`, and the tags and lengths of a text of 20 characters.
_TIME: Final = b"\x04time\x12\x16\x1a\x14"
_TIME_LENGTH: Final = 20
_IDENTIFYING: Final = frozenset({"apiVersion", "kind", "metadata"})
#: Kubernetes takes no longer kind than 63 characters; what is longer is not cached.
_KIND_LENGTH: Final = 72


class WireObject(Object):
    """An object whose `body` is parsed when a step looks inside; `key` and `kind` are read without that.

    It is a view of the request, and does not hold its `body`, which only the cache holds: so a call over thousands of
    objects keeps few of them alive.
    """

    __slots__ = ("_fields", "_key", "_kind", "_wire")
    _wire: Wire
    #: What identifies the object, between its kind being asked for and its key: mostly both are.
    _fields: Mapping[str, bytes] | None
    _kind: str | None
    _key: Hashable

    def __init__(self, wire: Wire) -> None:
        object.__setattr__(self, "_wire", wire)
        object.__setattr__(self, "_fields", None)
        object.__setattr__(self, "_kind", None)
        object.__setattr__(self, "_key", None)

    @property
    def body(self) -> Manifest:
        """Return the whole object; raises `google.protobuf.message.DecodeError` if it is not a Struct."""
        return _BODIES.get(self.key, lambda: self._read(decode))

    @property
    def size(self) -> int:
        """Return how many bytes of the request the object takes."""
        return len(self._wire)

    @property
    def outline(self) -> Object:
        """Return the object without its pod templates, which are not parsed."""
        return _Outline(self)

    @property
    def outline_body(self) -> Manifest:
        """Return the body of the outline; raises as `body` does."""
        return _BODIES.get((self.key, "outline"), lambda: self._read(decode_outline))

    def _read(self, decoder: Callable[[Wire], dict[str, Any]]) -> tuple[Manifest, int]:
        body = seal_secrets(decoder(self._wire))
        return body, _weight(bytes(self._wire)) if len(self._wire) < LARGE else weigh(body)

    @property
    def key(self) -> Hashable:
        """Return what identifies this version of the object."""
        if self._key is None:
            object.__setattr__(self, "_key", _identify(self._wire, self._fields or _outer(self._wire)))
            object.__setattr__(self, "_fields", None)
        return self._key

    @property
    def identity(self) -> bytes:
        """Return what all versions of the object have in common and no other object has, empty without a uid."""
        if self._fields is None:
            object.__setattr__(self, "_fields", _outer(self._wire))
        fields = cast("Mapping[str, bytes]", self._fields)
        uid = _metadata(fields).get("uid")
        return b"|".join((fields.get("apiVersion", b""), fields.get("kind", b""), uid)) if uid else b""

    @property
    def kind(self) -> str:
        """Return `kind`."""
        if self._kind is None:
            fields = _outer(self._wire)
            object.__setattr__(self, "_fields", None if self._key else fields)
            object.__setattr__(self, "_kind", _kind(fields))
        return cast("str", self._kind)


class _Outline(Object):
    """An object without its pod templates. It is the same version, so it has the same key.

    It holds its body, because it exists only while one object is read.
    """

    __slots__ = ("_body", "_whole")
    _whole: WireObject
    _body: Manifest | None

    def __init__(self, whole: WireObject) -> None:
        object.__setattr__(self, "_whole", whole)
        object.__setattr__(self, "_body", None)

    @property
    def body(self) -> Manifest:
        """Return the whole object but for pod templates."""
        if self._body is None:
            object.__setattr__(self, "_body", self._whole.outline_body)
        return cast("Manifest", self._body)

    @property
    def key(self) -> Hashable:
        """Return what identifies this version of the object."""
        return self._whole.key


def _weight(wire: bytes) -> int:
    """Return an upper bound of the bytes of a serialized object's dict, usually more than twice the true size.

    It is computed without the dict, because weighing that takes as long as parsing.
    """
    return _EXPANSION * len(wire) + sum(size * wire.count(tag) for tag, size in _VALUES.items())


def _kind(fields: Mapping[str, bytes]) -> str:
    """Return the kind, which is all that is read of many objects."""
    kind = fields.get("kind", b"")
    return _text(kind) if len(kind) <= _KIND_LENGTH else str(Peek.FromString(kind).text)


def _outer(wire: Wire) -> Mapping[str, bytes]:
    """Return the fields that identify an object, and maybe others, each a serialized Value."""
    if len(wire) < LARGE:
        fields: Mapping[str, bytes] = Fields.FromString(bytes(wire)).fields
        return fields
    return pick_fields(wire, _IDENTIFYING)


def _identify(wire: Wire, fields: Mapping[str, bytes]) -> bytes:
    """Return the key, read from the fields that identify the object, without parsing the rest.

    uid and resourceVersion only count on an object that an API server has written, which its managedFields show:
    manifests from files repeat them. So does a control plane that was restored from a backup, hence the digest. All
    other objects go by content (the same content in another order has another key, which costs a parse and nothing
    else). The key is one text of the values as they are serialized, each of which begins with its kind and length: it
    is hashed once however often it is looked up.
    """
    metadata = _metadata(fields)
    uid, version, written = metadata.get("uid"), metadata.get("resourceVersion"), metadata.get("managedFields")
    if uid and version and written is not None:
        return b"|".join((fields.get("apiVersion", b""), fields.get("kind", b""), uid, version, _digest(wire, written)))
    return hashlib.sha256(wire).digest()


def _metadata(fields: Mapping[str, bytes]) -> Mapping[str, bytes]:
    found: Mapping[str, bytes] = Peek.FromString(fields.get("metadata", b"")).struct.fields
    return found


@lru_cache(maxsize=256)
def _text(value: bytes) -> str:
    return str(Peek.FromString(value).text)


def _digest(wire: Wire, written: bytes) -> bytes:
    """Return a digest of a serialized object that is the same whatever the order in which its maps were written.

    Crossplane writes maps in another order every time: a digest of the bytes as they are would never be met again, and
    sorting them (tried) costs more than the rest of a warm call. No order changes the length, the sum of the bytes
    (the lower half of Adler-32) and the times at which the object was written, which `written`, its managedFields,
    tell: two contents under one version were written at two times. A large object goes without the sum, which guards
    against two writes in one second: to add up its bytes takes longer than all else that is done with it.
    """
    times = sorted({piece[:_TIME_LENGTH] for piece in written.split(_TIME)[1:]})
    total = adler32(wire) & 0xFFFF if len(wire) < LARGE else 0
    return b"%d|%d|%b" % (len(wire), total, b"".join(times))
