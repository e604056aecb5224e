"""Tells whether bytes are one X.509 certificate in the form that every TLS library takes (RFC 5280, X.690 DER).

OpenSSL, which Python asks, takes more than Envoy's BoringSSL does: lengths that are not minimal, versions and dates
that do not exist. So this reads the structure itself, and refuses whatever it does not know.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

#: Tags of X.690: universal types, and the fields of a certificate, with the bit of what is constructed.
_BOOLEAN, _INTEGER, _BITS, _OCTETS, _NULL, _OID, _UTF8 = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x0C
_UTC_TIME, _TIME, _BMP, _UNIVERSAL, _SEQUENCE, _SET = 0x17, 0x18, 0x1E, 0x1C, 0x30, 0x31
_VERSION, _ISSUER_ID, _SUBJECT_ID, _EXTENSIONS = 0xA0, 0x81, 0x82, 0xA3
#: Numeric, printable, teletex, IA5 and visible strings: each byte is a character, and nobody keeps to which.
_BYTES: Final = (0x12, 0x13, 0x14, 0x16, 0x1A)
#: What a name may be written in.
_STRINGS: Final = (*_BYTES, _UTF8, _BMP, _UNIVERSAL)
#: An arc of an object identifier has at most 63 bits, and no leading zeros.
_OBJECT: Final = re.compile(rb"(?:(?!\x80)[\x80-\xff]{0,8}[\x00-\x7f])+", re.DOTALL)
_LONG: Final = 0x80
#: Bytes of a length: 16 MiB at most.
_LENGTH_BYTES: Final = 3
_DEPTH: Final = 16
_UNUSED_BITS: Final = 7
_SIGN: Final = 0x80
_LAST_SECOND: Final = "59"


class _InvalidError(Exception):
    """The bytes are no certificate."""


class _Element(NamedTuple):
    """One value: its tag and its content."""

    tag: int
    content: bytes


def is_certificate(der: bytes) -> bool:
    """Tell whether the bytes are one certificate, whole and nothing else. Its signature and dates are not checked."""
    try:
        fields = _Fields(_only(der, _SEQUENCE))
        _to_be_signed(fields.take(_SEQUENCE))
        _algorithm(fields.take(_SEQUENCE))
        _check(_Element(_BITS, fields.take(_BITS)))
        fields.end()
    except (_InvalidError, IndexError, ValueError):
        return False
    return True


class _Fields:
    """The elements of a sequence, taken one after the other."""

    def __init__(self, content: bytes) -> None:
        self._elements = [*_elements(content)][::-1]

    @property
    def ended(self) -> bool:
        """Tell whether nothing is left."""
        return not self._elements

    @property
    def tag(self) -> int:
        """Return the tag of the next element, 0 if there is none."""
        return self._elements[-1].tag if self._elements else 0

    def any(self) -> _Element:
        """Take the next element."""
        return self._elements.pop()

    def take(self, *tags: int) -> bytes:
        """Take the next element, which has one of the tags, and return its content."""
        if self.tag not in tags:
            raise _InvalidError
        return self.any().content

    def end(self) -> None:
        """Refuse what is left."""
        if self._elements:
            raise _InvalidError


def _elements(content: bytes) -> Iterator[_Element]:
    """Yield the elements: tags of one byte, lengths that are definite and minimal."""
    at, end = 0, len(content)
    while at < end:
        if at + 2 > end or content[at] & 0x1F == 0x1F:
            raise _InvalidError
        tag, length, at = content[at], content[at + 1], at + 2
        if length >= _LONG:
            size = length - _LONG
            length = int.from_bytes(content[at : at + size])
            if not 1 <= size <= _LENGTH_BYTES or length < _LONG or length >> 8 * (size - 1) == 0:
                raise _InvalidError
            at += size
        if at + length > end:
            raise _InvalidError
        yield _Element(tag, content[at : at + length])
        at += length


def _only(content: bytes, tag: int) -> bytes:
    fields = _Fields(content)
    found = fields.take(tag)
    fields.end()
    return found


def _to_be_signed(content: bytes) -> None:
    fields = _Fields(content)
    version = 0
    if fields.tag == _VERSION:
        version = {b"\1": 1, b"\2": 2}.get(_only(fields.take(_VERSION), _INTEGER), 0)
        if not version:
            raise _InvalidError
    _check(_Element(_INTEGER, fields.take(_INTEGER)))
    _algorithm(fields.take(_SEQUENCE))
    _name(fields.take(_SEQUENCE))
    validity = _Fields(fields.take(_SEQUENCE))
    for _ in ("not before", "not after"):
        _date(validity.any())
    validity.end()
    _name(fields.take(_SEQUENCE))
    key = _Fields(fields.take(_SEQUENCE))
    _algorithm(key.take(_SEQUENCE))
    _check(_Element(_BITS, key.take(_BITS)))
    key.end()
    for identifier in (_ISSUER_ID, _SUBJECT_ID):
        if version and fields.tag == identifier:
            _check(_Element(_BITS, fields.take(identifier)))
    if version == 2 and fields.tag == _EXTENSIONS:
        _extensions(_only(fields.take(_EXTENSIONS), _SEQUENCE))
    fields.end()


def _algorithm(content: bytes) -> None:
    fields = _Fields(content)
    _check(_Element(_OID, fields.take(_OID)))
    if not fields.ended:
        _check(fields.any())
    fields.end()


def _name(content: bytes) -> None:
    """Refuse what is no name: sets, none of them empty, of pairs of an identifier and a string."""
    for part in _elements(content):
        pairs = _Fields(part.content)
        if part.tag != _SET or pairs.ended:
            raise _InvalidError
        while not pairs.ended:
            pair = _Fields(pairs.take(_SEQUENCE))
            _check(_Element(_OID, pair.take(_OID)))
            _check(_Element(pair.tag, pair.take(*_STRINGS)))
            pair.end()


def _date(element: _Element) -> None:
    formats = {_UTC_TIME: (r"\d{12}Z", "%y%m%d%H%M%SZ"), _TIME: (r"\d{14}Z", "%Y%m%d%H%M%SZ")}
    if element.tag not in formats:
        raise _InvalidError
    pattern, written = formats[element.tag]
    date = element.content.decode("ascii")
    if not re.fullmatch(pattern, date, re.ASCII) or date[-3:-1] > _LAST_SECOND:
        raise _InvalidError
    dt.datetime.strptime(date, written)


def _extensions(content: bytes) -> None:
    """Refuse what are no extensions, at least one: an identifier, perhaps whether it is critical, and a value."""
    found = _Fields(content)
    if found.ended:
        raise _InvalidError
    while not found.ended:
        extension = _Fields(found.take(_SEQUENCE))
        _check(_Element(_OID, extension.take(_OID)))
        if extension.tag == _BOOLEAN:
            _check(extension.any())
        extension.take(_OCTETS)
        extension.end()


def _bits(content: bytes) -> bool:
    """Tell whether content is a string of bits, those that are not used zero."""
    unused, last = content[0], content[-1] if len(content) > 1 else 0
    return unused <= _UNUSED_BITS and (len(content) > 1 or not unused) and last & (1 << unused) - 1 == 0


def _integer(content: bytes) -> bool:
    """Tell whether content is a number in as few bytes as it takes."""
    return len(content) == 1 or (content[0], content[1] >= _SIGN) not in ((0x00, False), (0xFF, True))


def _decodes(encoding: str) -> Callable[[bytes], bool]:
    def decodes(content: bytes) -> bool:
        content.decode(encoding)  # ValueError, which says no
        return True

    return decodes


#: Whether the content of a tag is what it stands for. An IndexError or ValueError says no.
_RULES: Final[Mapping[int, Callable[[bytes], bool]]] = {
    _BOOLEAN: lambda content: content in (b"\x00", b"\xff"),
    _INTEGER: _integer,
    _BITS: _bits,
    **dict.fromkeys((_OCTETS, *_BYTES), lambda _content: True),
    _NULL: lambda content: not content,
    _OID: lambda content: _OBJECT.fullmatch(content) is not None,
    _UTF8: _decodes("utf-8"),
    _BMP: _decodes("utf-16-be"),
    _UNIVERSAL: _decodes("utf-32-be"),
}


def _check(element: _Element, depth: int = 0) -> None:
    """Refuse a value of no known type, or not of its type, and so within it."""
    if element.tag in (_SEQUENCE, _SET) and depth < _DEPTH:
        for each in _elements(element.content):
            _check(each, depth + 1)
    elif element.tag not in _RULES or not _RULES[element.tag](element.content):
        raise _InvalidError
