"""Certificates that Envoy refuses are refused, also those that OpenSSL takes; each of them was given to Envoy 1.38.

What one CA says that Envoy does not take stops what comes together with it, that of other teams too.
"""

import base64
import ssl

import pytest

from modelplane.step.sealed import Sealed
from modelplane.step.x509 import is_certificate
from property.externals import CERTIFICATE


def der(tag: int, *parts: bytes) -> bytes:
    """Return a value of a tag in DER; its length is minimal."""
    content = b"".join(parts)
    size = len(content)
    long = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes([tag, size] if size < 0x80 else [tag, 0x80 + len(long), *long]) + content


def sequence(*parts: bytes) -> bytes:
    return der(0x30, *parts)


COMMON_NAME, RSA, SHA256 = bytes.fromhex("0603550403"), "06092a864886f70d010101", "06092a864886f70d01010b"
SIGNED_WITH = sequence(bytes.fromhex(SHA256), der(5))
MODULUS = der(2, b"\0\xc1", b"\x11" * 254, b"\x13")
KEY = sequence(sequence(bytes.fromhex(RSA), der(5)), der(3, b"\0", sequence(MODULUS, bytes.fromhex("0203010001"))))
OF_AN_AUTHORITY = der(4, sequence(der(1, b"\xff")))
BASIC = bytes.fromhex("0603551d13")


def name(*values: bytes) -> bytes:
    return sequence(*(der(0x31, sequence(COMMON_NAME, value)) for value in values))


def dates(tag: int, text: bytes) -> bytes:
    return sequence(der(tag, text), der(tag, text))


VERSION_3, DATES = der(0xA0, der(2, b"\2")), dates(0x17, b"250101000000Z")
AUTHORITY = sequence(sequence(BASIC, der(1, b"\xff"), OF_AN_AUTHORITY))


def certificate(
    *,
    version: bytes = VERSION_3,
    serial: bytes = der(2, b"\1"),
    validity: bytes = DATES,
    subject: bytes = name(der(12, b"x")),
    extensions: bytes = der(0xA3, AUTHORITY),
    signature: bytes = der(3, b"\0", b"\x22" * 256),
    signed_with: bytes = SIGNED_WITH,
) -> bytes:
    """Return a certificate with some of its fields as they are given; nobody has signed it."""
    issuer = name(der(12, b"x"))
    signed = sequence(version, serial, signed_with, issuer, validity, subject, KEY, extensions)
    return sequence(signed, signed_with, signature)


WHOLE = certificate()
REFUSED = {
    "version 1, said": certificate(version=der(0xA0, der(2, b"\0")), extensions=b""),
    "version 1 with extensions": certificate(version=b""),
    "version 2 with extensions": certificate(version=der(0xA0, der(2, b"\1"))),
    "version 4": certificate(version=der(0xA0, der(2, b"\3"))),
    "a length that is not definite": b"\x30\x80" + WHOLE[4:] + b"\0\0",
    "a length that is not minimal": b"\x30\x83\0" + WHOLE[2:4] + WHOLE[4:],
    "something after it": WHOLE + b"\0\0",
    "two in one": WHOLE * 2,
    "its last byte missing": WHOLE[:-1],
    "nothing": b"",
    "a serial number without bytes": certificate(serial=der(2)),
    "a date without seconds": certificate(validity=dates(0x17, b"2501010000Z")),
    "a month that is none": certificate(validity=dates(0x17, b"259901000000Z")),
    "a day that is none": certificate(validity=dates(0x18, b"20250229000000Z")),
    "a second that leaps": certificate(validity=dates(0x17, b"250101000060Z")),
    "a part of a second": certificate(validity=dates(0x18, b"20250101000000.5Z")),
    "a date that is text": certificate(validity=dates(0x17, b"hello")),
    "an empty date": certificate(validity=dates(0x17, b"")),
    "bits that are not used and set": certificate(signature=der(3, b"\7", b"\xff" * 256)),
    "bits without their count": certificate(signature=der(3)),
    "a text in parts": certificate(subject=name(der(0x2C, der(12, b"ab")))),
    "bits in parts": certificate(signature=der(0x23, der(3, b"\0", b"\x22" * 256))),
    "an extension in parts": certificate(extensions=der(0xA3, sequence(sequence(BASIC, der(0x24, OF_AN_AUTHORITY))))),
    "an empty part of a name": certificate(subject=sequence(der(0x31))),
    "a name that is no text": certificate(subject=name(der(2, b"\1"))),
    "a noncharacter in a name": certificate(subject=name(der(12, "\ufdd0".encode()))),
    "the last noncharacter of a plane in a name": certificate(subject=name(der(12, "\U0010ffff".encode()))),
    "surrogates in a name": certificate(subject=name(der(0x1E, bytes.fromhex("d800dc00")))),
    "an algorithm nobody knows": certificate(signed_with=sequence(bytes.fromhex("06032a0304"), der(0x17, b"x"))),
    "a name that is no UTF-8": certificate(subject=name(der(12, b"\xff\xfe"))),
    "an identifier that ends within a number": certificate(
        subject=sequence(der(0x31, sequence(bytes.fromhex("06025584"), der(12, b"x"))))
    ),
    "no extension where there are some": certificate(extensions=der(0xA3, sequence())),
}
TAKEN = {
    "one of OpenSSL": ssl.PEM_cert_to_DER_cert(CERTIFICATE.decode()),
    "with every field": WHOLE,
    "version 1, unsaid": certificate(version=b"", extensions=b""),
    "a negative serial number": certificate(serial=der(2, b"\xff")),
    "dates in four digits": certificate(validity=dates(0x18, b"20240229000000Z")),
    "a name in a type of old": certificate(subject=name(der(0x14, b"x"))),
    "a name of nothing": certificate(subject=sequence()),
}


def in_lines(content: bytes, of: int) -> bytes:
    """Return a certificate in PEM in lines of so many characters."""
    text = base64.b64encode(content).decode()
    lines = [text[at : at + of] for at in range(0, len(text), of)]
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""]).encode()


@pytest.mark.parametrize("found", REFUSED.values(), ids=REFUSED)
def test_a_certificate_that_envoy_does_not_take_is_refused(found: bytes) -> None:
    assert not is_certificate(found)
    assert Sealed(CERTIFICATE + in_lines(found, 64)).authority() is None


@pytest.mark.filterwarnings("ignore:Parsed a serial number which wasn't positive")
@pytest.mark.parametrize("found", TAKEN.values(), ids=TAKEN)
def test_a_certificate_that_envoy_takes_is_one(found: bytes) -> None:
    assert is_certificate(found)
    assert Sealed(in_lines(found, 64)).authority() == Sealed(in_lines(found, 64))


@pytest.mark.parametrize("length", [4, 60, 76])
def test_an_authority_is_written_in_the_lines_that_envoy_reads(length: int) -> None:
    assert Sealed(in_lines(WHOLE, length)).authority() == Sealed(in_lines(WHOLE, 64))
