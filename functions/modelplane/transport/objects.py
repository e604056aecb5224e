"""Observed objects as they arrive: bytes, of which a step sees a dict once it looks inside, secret values sealed.

A dict is kept by the object's version for the calls to come, so that an object is parsed once however often it is sent.
"""

import hashlib
from collections.abc import Hashable
from functools import lru_cache
from typing import Final, cast

from modelplane.lru import Lru
from modelplane.step import Manifest, Object
from modelplane.step.secrets import seal_secrets
from modelplane.transport.messages import Fields, Peek
from modelplane.transport.structs import decode

#: Bytes of serialized objects whose dicts are kept; a dict takes about four times as much.
_KEPT: Final = 32 * 1024 * 1024
_BODIES: Final = Lru[Manifest](_KEPT)


class WireObject(Object):
    """An object whose `body` is parsed when somebody looks, and whose `key` and `kind` are read without that."""

    __slots__ = ("_body", "_identity", "_wire")
    _wire: bytes
    _body: Manifest | None
    _identity: tuple[str, Hashable] | None

    def __init__(self, wire: bytes) -> None:
        object.__setattr__(self, "_wire", wire)
        object.__setattr__(self, "_body", None)
        object.__setattr__(self, "_identity", None)

    @property
    def body(self) -> Manifest:
        """Return the whole object; raises `google.protobuf.message.DecodeError` when it is no Struct."""
        if self._body is None:
            wire = self._wire
            body = _BODIES.get(self.key, lambda: (seal_secrets(decode(wire)), len(wire)))
            object.__setattr__(self, "_body", body)
        return cast("Manifest", self._body)

    @property
    def key(self) -> Hashable:
        """Return what identifies this version of the object."""
        return self._identified()[1]

    @property
    def kind(self) -> str:
        """Return `kind`."""
        return self._identified()[0]

    def _identified(self) -> tuple[str, Hashable]:
        if self._identity is None:
            object.__setattr__(self, "_identity", _identify(self._wire))
        return cast("tuple[str, Hashable]", self._identity)


def _identify(wire: bytes) -> tuple[str, Hashable]:
    """Return kind and key, read without parsing the rest.

    uid and resourceVersion only count on an object that an API server has written, which its managedFields show:
    manifests from files repeat them. The others go by content (the same content in another order has another key,
    which costs a parse and nothing else). The key holds values as they are serialized: nobody reads them.
    """
    fields = Fields.FromString(wire).fields
    metadata = Peek.FromString(fields.get("metadata", b"")).struct.fields
    kind, uid, version = fields.get("kind", b""), metadata.get("uid"), metadata.get("resourceVersion")
    if uid and version and "managedFields" in metadata:
        return _text(kind), (fields.get("apiVersion"), kind, uid, version)
    return _text(kind), hashlib.sha256(wire).digest()


@lru_cache(maxsize=1024)
def _text(value: bytes) -> str:
    return str(Peek.FromString(value).text)
