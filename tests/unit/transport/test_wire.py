"""The parts of a request are read in place just as protobuf reads them, whatever the bytes are."""

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from bench.fleet import others
from modelplane.transport.messages import Request
from modelplane.transport.structs import LARGE, decode, decode_outline, encode
from modelplane.transport.wire import take_apart

_NAMES = st.text(max_size=200)
_OBJECTS = st.binary(max_size=300)


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """Draw a serialized request with fields of every kind, in one or two parts."""
    parts = b""
    for _ in range(draw(st.integers(1, 2))):
        message = Request()
        message.meta.tag = draw(_NAMES)
        if draw(st.booleans()):
            message.observed.composite.resource = draw(_OBJECTS)
            message.observed.composite.connection_details["k"] = b"v"
        for name, wire in draw(st.dictionaries(_NAMES, _OBJECTS, max_size=4)).items():
            message.observed.resources[name].resource = wire
            message.observed.resources[name].ready = 1
        for name, wires in draw(st.dictionaries(_NAMES, st.lists(_OBJECTS, max_size=4), max_size=3)).items():
            message.required_resources[name].SetInParent()
            for wire in wires:
                message.required_resources[name].items.add().resource = wire
            message.extra_resources[name].items.add().resource = b"unread"
        message.desired.resources["d"].resource = draw(_OBJECTS)
        message.context = draw(_OBJECTS)
        message.required_schemas["s"].openapi_v3 = draw(_OBJECTS)
        parts += message.SerializeToString()
    return parts


@given(requests())
def test_a_request_is_taken_apart_as_protobuf_reads_it(wire: bytes) -> None:
    parts, expected = take_apart(wire), Request.FromString(wire)
    assert bytes(parts.composite) == expected.observed.composite.resource
    observed = {name: found.resource for name, found in expected.observed.resources.items()}
    assert {name: bytes(found) for name, found in parts.observed.items()} == observed
    required = {name: [one.resource for one in found.items] for name, found in expected.required_resources.items()}
    assert {name: [bytes(one) for one in found] for name, found in parts.required.items()} == required
    rest = Request.FromString(parts.rest)
    for field in ("observed", "required_resources", "extra_resources"):
        expected.ClearField(field)
    assert rest == expected


@given(st.binary(max_size=400))
def test_bytes_that_are_no_request_are_refused_with_the_one_error_that_says_so(wire: bytes) -> None:
    try:
        parts = take_apart(wire)
    except DecodeError:
        return
    assert isinstance(parts.rest, bytes)


@given(requests(), st.data())
def test_a_request_that_is_cut_off_is_refused_or_read_as_protobuf_does(wire: bytes, data: st.DataObject) -> None:
    cut = wire[: data.draw(st.integers(0, len(wire)))]
    try:
        expected = Request.FromString(cut)
    except DecodeError:
        with pytest.raises(DecodeError):
            Request.FromString(take_apart(cut).rest)
        return
    assert bytes(take_apart(cut).composite) == expected.observed.composite.resource


@pytest.mark.parametrize("wire", [b"\x0b", b"\xff", b"\x12\x05\x0a", b"\x12" + b"\xff" * 11])
def test_what_protobuf_refuses_is_refused(wire: bytes) -> None:
    with pytest.raises(DecodeError):
        Request.FromString(wire)
    with pytest.raises(DecodeError):
        take_apart(wire)


@pytest.mark.parametrize("size", [10, LARGE])
def test_the_outline_of_an_object_of_any_size_is_the_object_without_pod_templates(size: int) -> None:
    replica = next(others(1, 1))
    (engine,) = replica["spec"]["engines"]
    engine["members"][0]["template"]["spec"]["containers"][0]["args"] = ["x" * 90] * (size // 90)
    engine["words"] = {"template": "a text stays", "many": ["y" * 90, 7, None, True] * (size // 90)}
    expected = decode(encode(replica))
    for found in (*expected["spec"]["engines"], *expected["status"]["servedEngines"]):
        for member in found["members"]:
            member.pop("template", None)
    assert decode_outline(encode(replica)) == expected


@pytest.mark.parametrize("cut", [1, 5000, LARGE])
def test_a_large_object_that_is_cut_off_has_no_outline(cut: int) -> None:
    wire = encode({"a": {"many": ["y" * 100] * (LARGE // 50)}})
    with pytest.raises(DecodeError):
        decode_outline(wire[:-cut])
