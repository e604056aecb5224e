"""Structs become plain values and back."""

from typing import Any

import pytest
from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct
from hypothesis import given
from hypothesis import strategies as st

from modelplane.step.secrets import MOST_KEYS
from modelplane.transport.structs import LARGE, decode, encode

_LEAVES = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text()
#: A list under this key is left out, at whatever depth.
_KEYS = st.text().filter(lambda key: key != "managedFields")
_VALUES = st.recursive(_LEAVES, lambda inner: st.lists(inner) | st.dictionaries(_KEYS, inner), max_leaves=20)


@given(st.dictionaries(_KEYS, _VALUES))
def test_what_is_encoded_decodes_to_the_same(content: dict[str, Any]) -> None:
    assert decode(encode(content)) == content


@given(st.dictionaries(_KEYS, _VALUES, min_size=2))
def test_the_order_of_keys_does_not_change_the_bytes(content: dict[str, Any]) -> None:
    assert encode(dict(reversed(content.items()))) == encode(content)


@pytest.mark.parametrize(("sent", "seen"), [(3.0, int), (-2.0, int), (2.5, float), (1e300, int)])
def test_an_integral_number_reads_as_an_integer(sent: float, seen: type) -> None:
    message = Struct()
    message.update({"n": sent})
    value = decode(message.SerializeToString())["n"]
    assert (type(value), value) == (seen, sent)


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        ({"metadata": {"name": "a", "managedFields": [{"manager": "x"}]}}, {"metadata": {"name": "a"}}),
        ({"manifest": {"metadata": {"managedFields": []}}}, {"manifest": {"metadata": {}}}),
        ({"properties": {"managedFields": {"type": "array"}}}, {"properties": {"managedFields": {"type": "array"}}}),
    ],
)
def test_lists_of_managed_fields_are_left_out_and_schemas_that_speak_of_them_are_not(content: Any, seen: Any) -> None:
    assert decode(encode(content)) == seen


@pytest.mark.parametrize("content", [{}, {"kind": "Object", "status": {"of": "the cluster"}}], ids=["alone", "inside"])
@pytest.mark.parametrize(("keys", "read"), [(MOST_KEYS, True), (MOST_KEYS + 1, False), (90_000, False)])
def test_of_a_large_secret_with_too_many_keys_none_is_read(content: dict[str, Any], keys: int, read: bool) -> None:
    secret = {"kind": "Secret", "type": "Opaque", "data": {f"{key:040}": "" for key in range(keys)}}
    large = {**content, "manifest": secret, "annotations": {"of": "x" * LARGE}} if content else secret
    seen = {**secret} if read else {"kind": "Secret", "type": "Opaque"}
    assert decode(encode(large)) == ({**large, "manifest": seen} if content else seen)


@pytest.mark.parametrize("field", ["labels", "annotations"])
@pytest.mark.parametrize(("keys", "read"), [(MOST_KEYS, True), (MOST_KEYS + 1, False)])
def test_of_a_large_object_with_too_many_labels_none_is_read(field: str, keys: int, read: bool) -> None:
    metadata = {"name": "x", field: {f"{key:040}": "" for key in range(keys)}}
    found = decode(encode({"kind": "ModelService", "metadata": metadata}))
    assert found["metadata"] == (metadata if read else {"name": "x"})


def test_what_is_called_data_and_is_no_map_is_read_however_long_it_is() -> None:
    content = {"data": ["x"] * LARGE}
    assert decode(encode(content)) == content


def test_bytes_that_are_no_struct_are_refused() -> None:
    with pytest.raises(DecodeError):
        decode(b"\x0a\xff")


@pytest.mark.parametrize("value", [b"bytes", {1, 2}, object()])
def test_what_json_cannot_express_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="Unexpected type"):
        encode({"value": value})
