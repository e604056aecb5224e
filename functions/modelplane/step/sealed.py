"""A secret value that a step can carry, compare, prefix and compose, but never print."""

import hashlib
import hmac
import os
import re
import ssl
from typing import Final, NoReturn

from modelplane.lru import Lru

#: The text of every sealed value.
PLACEHOLDER: Final = "<sealed>"
#: A certificate in PEM: lines of base64 between its header and footer.
_CERTIFICATE: Final = re.compile(
    rb"-----BEGIN CERTIFICATE-----\r?\n(?:[A-Za-z0-9+/=]{1,76}\r?\n)+-----END CERTIFICATE-----"
)
_BEGIN: Final = b"-----BEGIN CERTIFICATE-----"
#: The key of sealed values' hashes. It differs between processes, so that no hash can be looked up.
_HASH_KEY: Final = os.urandom(16)


#: Cache of parsed certificates by a digest of their source: parsing some thousand takes a second.
_AUTHORITIES: Final = Lru[bytes](1024 * 1024)


def _written(content: bytes) -> tuple[bytes, int]:
    """Return the certificates within a text, in normal form, and their weight; none if any is not valid X.509."""
    # The library takes 12 MiB, which only the function that reads CAs should need.
    from modelplane.step.x509 import is_certificate  # noqa: PLC0415

    found = _CERTIFICATE.findall(content)
    if not found or content.count(_BEGIN) != len(found):
        return b"", 0
    try:
        ders = [ssl.PEM_cert_to_DER_cert(each.decode()) for each in found]
        written = "".join(map(ssl.DER_cert_to_PEM_cert, ders))
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cadata=written)
    except (ssl.SSLError, ValueError):
        return b"", 0
    return (written.encode(), len(written)) if all(map(is_certificate, ders)) else (b"", 0)


class Sealed:
    """Bytes of a Secret. Equal content is equal; every text of it is `PLACEHOLDER`; it cannot be pickled.

    It is allowed only in the `data` of a Secret that a step composes, where the serializer opens it
    (`modelplane.step.opening`). The serializer refuses a manifest that has it in any other place.
    """

    __slots__ = ("_content",)
    _content: bytes

    def __init__(self, content: bytes) -> None:
        object.__setattr__(self, "_content", bytes(content))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("a sealed value cannot be changed")

    def prefixed(self, prefix: bytes) -> "Sealed":
        """Return the value with known bytes in front, such as `Bearer `."""
        return Sealed(prefix + self._content)

    def __add__(self, other: "Sealed | bytes") -> "Sealed":
        """Return this value followed by another, or by known bytes."""
        return Sealed(self._content + (other._content if isinstance(other, Sealed) else other))

    def matches(self, pattern: re.Pattern[bytes]) -> bool:
        """Tell whether a pattern matches the whole content."""
        return pattern.fullmatch(self._content) is not None

    def certificates(self) -> tuple[str, ...]:
        """Return the X.509 certificates in PEM within the value, each with a final line break, and nothing else.

        They are public: every TLS client is shown them. Private keys are not included.
        """
        return tuple(f"{found.decode()}\n" for found in _CERTIFICATE.findall(self._content))

    def authority(self) -> "Sealed | None":
        """Return the certificates within the value and nothing else; None without any, or if any is not valid X.509.

        They are written in lines of 64 characters: Envoy, unlike OpenSSL, accepts no longer ones. Envoy Gateway passes
        a CA on without parsing it. If Envoy cannot parse one, it also refuses the configuration of other teams that
        comes with it; and it reads keys and revocation lists beside certificates.
        """
        digest = hashlib.blake2b(self._content, key=_HASH_KEY).digest()
        written = _AUTHORITIES.get(digest, lambda: _written(self._content))
        return Sealed(written) if written else None

    def __bool__(self) -> bool:
        """Return whether there is any content."""
        return bool(self._content)

    def __eq__(self, other: object) -> bool:
        """Compare two sealed values in a time that does not depend on where they differ."""
        return hmac.compare_digest(self._content, other._content) if isinstance(other, Sealed) else NotImplemented

    def __hash__(self) -> int:
        return hash(hashlib.blake2b(self._content, key=_HASH_KEY, digest_size=8).digest())

    def __repr__(self) -> str:
        return PLACEHOLDER

    def __format__(self, _spec: str) -> str:
        return PLACEHOLDER

    def __copy__(self) -> "Sealed":
        return self

    def __deepcopy__(self, _memo: object) -> "Sealed":
        return self

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        raise TypeError("a sealed value cannot be pickled")
