"""The fake DNS answers as RFC 1035 says."""

import pytest

from modelplane_dev.plane.gateways.names import answer

ADDRESSES = {"web.team.svc.cluster.local": "10.1.2.3"}
KNOWN, OTHER = b"\x03web\x04team\x03svc\x07cluster\x05local\x00", b"\x03web\x00"
A, AAAA = b"\x00\x01\x00\x01", b"\x00\x1c\x00\x01"
FOUND = b"\xc0\x0c" + A + b"\x00\x00\x00\x02" + b"\x00\x04\x0a\x01\x02\x03"


@pytest.mark.parametrize(
    ("question", "flags", "answers"),
    [
        (KNOWN + A, b"\x85\x80", FOUND),
        (KNOWN.upper() + A, b"\x85\x80", FOUND),
        (KNOWN + AAAA, b"\x85\x80", b""),
        (OTHER + A, b"\x85\x83", b""),
    ],
    ids=["a known name", "in capitals", "no IPv6 address", "an unknown name"],
)
def test_a_query_is_answered_with_the_address_that_the_name_has(question: bytes, flags: bytes, answers: bytes) -> None:
    query = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + question
    counts = b"\x00\x01\x00" + bytes([bool(answers)]) + b"\x00\x00\x00\x00"
    assert answer(query, ADDRESSES) == b"\x12\x34" + flags + counts + question + answers
