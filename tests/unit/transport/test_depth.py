"""Whatever is nested in an object, however deeply, it is read, and costs no other object its reader."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import pytest
from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct

from bench.fleet import NODES, Manifest, cluster, deployment, others
from bench.passes import Scene, Store, run_pass
from modelplane.cli.serve import FUNCTIONS
from modelplane.step.call import dispatch
from modelplane.transport import messages
from modelplane.transport.admission import Received
from modelplane.transport.exchange import answer
from modelplane.transport.structs import LARGE, MAX_LEVELS, decode, decode_outline, encode

#: What Go's reader of JSON takes: nothing deeper can be stored.
DEEPEST = 10_000
#: Tags: a text, a Struct and a list as the kind of a Value; an entry of a Struct, its key and value; an item of a list.
_TEXT, _STRUCT, _LIST, _ENTRY, _KEY, _VALUE, _ITEM = b"\x1a", b"\x2a", b"\x32", b"\x0a", b"\x0a", b"\x12", b"\x0a"


def _field(tag: bytes, content: bytes) -> bytes:
    """Return a serialized field."""
    size, length = b"", len(content)
    while length >= 0x80:
        size, length = size + bytes([length & 0x7F | 0x80]), length >> 7
    return tag + size + bytes([length]) + content


def _entry(key: str, value: bytes) -> bytes:
    return _field(_ENTRY, _field(_KEY, key.encode()) + _field(_VALUE, value))


def nested(levels: int, text: str, *, lists: bool = False) -> bytes:
    """Return a serialized Value: a text in so many maps or lists in one another, written from the inside out."""
    value = _field(_TEXT, text.encode())
    for _ in range(levels):
        value = _field(_LIST, _field(_ITEM, value)) if lists else _field(_STRUCT, _entry("a", value))
    return value


def _levels(value: Any) -> int:
    levels = 0
    while value:
        assert len(value) == 1
        value, levels = (value["a"] if isinstance(value, dict) else value[0]), levels + 1
    return levels + 1  # the innermost, which is empty


@pytest.mark.parametrize("read", [decode, decode_outline])
@pytest.mark.parametrize("lists", [False, True], ids=["maps", "lists"])
@pytest.mark.parametrize("text", ["x", "x" * 2 * LARGE], ids=["small", "large"])
def test_what_is_nested_too_deeply_is_cut_off_and_all_else_is_read(read: Any, text: str, *, lists: bool) -> None:
    beside = {"kind": "Object", "spec": {"n": [1, {"b": True}], "none": None}}
    wire = _entry("deep", nested(DEEPEST, text, lists=lists)) + encode(beside)
    with pytest.raises(DecodeError):
        Struct.FromString(wire)
    found = read(wire)
    assert _levels(found.pop("deep")) == MAX_LEVELS
    assert found == beside


@pytest.mark.parametrize("read", [decode, decode_outline])
def test_what_is_left_out_of_an_object_is_left_out_of_a_deep_one(read: Any) -> None:
    known = {"metadata": {"managedFields": [{"manager": "x"}], "name": "a"}, "template": {"spec": {}}}
    found = read(_entry("deep", nested(100, "x")) + encode(known))
    assert found["metadata"] == {"name": "a"}
    assert ("template" in found) == (read is decode)


def test_what_is_cut_off_can_be_sent_again() -> None:
    found = decode(_entry("deep", nested(DEEPEST, "x")))
    assert decode(encode(found)) == found


def test_bytes_that_are_no_struct_are_refused_however_deep_the_fault_is() -> None:
    wire = _entry("deep", _field(_STRUCT, _entry("a", b"\x2a\x7f")))
    for read in (decode, decode_outline):
        with pytest.raises(DecodeError):
            read(wire)


class _Serialized(NamedTuple):
    """An object of which there are only its bytes, and by what it is asked for."""

    kind: str
    labels: Mapping[str, str]
    wire: bytes


def _with_deep_status(manifest: Manifest, deep: bytes) -> _Serialized:
    """Return an object that is nested deeply in one entry of its `status.servedEngines`."""
    served = encode({**manifest["status"], "servedEngines": []})
    engines = _field(_LIST, _field(_ITEM, _field(_STRUCT, _entry("x", deep))))
    status = _field(_STRUCT, served + _entry("servedEngines", engines))
    wire = encode({key: value for key, value in manifest.items() if key != "status"}) + _entry("status", status)
    return _Serialized(manifest["kind"], manifest["metadata"].get("labels", {}), wire)


class _Sending(Store):
    """A store that sends one object more, as it is serialized."""

    def __init__(self, manifests: Sequence[Manifest], other: _Serialized) -> None:
        super().__init__(manifests)
        self._other = other

    def fetch(self, selector: Any) -> list[bytes]:
        wanted = dict(selector.match_labels.labels).items()
        sent = selector.kind == self._other.kind and wanted <= self._other.labels.items()
        return [*super().fetch(selector), *([self._other.wire] if sent else [])]


def _scheduled(store: Store) -> tuple[Any, ...]:
    """Return what a stranger's pass says of its placement."""
    step = dispatch("schedule", import_module(FUNCTIONS["schedule"]).STEPS)
    scene = Scene(deployment("stranger", 1), {}, store)
    done = run_pass(scene, [("schedule", lambda wire: answer(step, Received(wire)))])
    conditions = messages.Response.FromString(done.exchanges[-1].response).conditions
    return next((one.status, one.reason, one.message) for one in conditions if one.type == "ReplicasScheduled")


def _filling() -> Manifest:
    """Return a replica that takes every node of the pools to which a stranger's deployment can go."""
    (replica,) = others(1, 1)
    (engine,) = replica["spec"]["engines"]
    (member,) = engine["members"]
    engines = [
        {**engine, "name": pool, "copies": NODES, "members": [{**member, "nodePoolName": pool}]}
        for pool in ("h100", "h200")
    ]
    return {**replica, "spec": {**replica["spec"], "engines": engines}}


@pytest.mark.parametrize("levels", [40, DEEPEST])
def test_a_replica_that_is_nested_deeply_is_charged_what_it_claims_and_stops_nobody(levels: int) -> None:
    free = _scheduled(Store([cluster(0)]))
    full = _scheduled(_Sending([cluster(0)], _with_deep_status(_filling(), nested(0, "x"))))
    assert free != full
    assert _scheduled(_Sending([cluster(0)], _with_deep_status(_filling(), nested(levels, "x")))) == full


@pytest.mark.parametrize("levels", [40, DEEPEST])
def test_a_cluster_that_is_nested_deeply_takes_replicas_as_any_other(levels: int) -> None:
    sent = _with_deep_status(cluster(0), nested(levels, "x"))
    assert _scheduled(_Sending([], sent)) == _scheduled(Store([cluster(0)]))


@pytest.mark.parametrize("levels", [40, DEEPEST])
def test_a_composite_that_is_nested_deeply_is_composed(levels: int) -> None:
    request = messages.Request()
    request.observed.composite.resource = _with_deep_status(_filling(), nested(levels, "x")).wire
    step = dispatch("compose-replica", import_module(FUNCTIONS["compose-replica"]).STEPS)
    response = messages.Response.FromString(answer(step, Received(request.SerializeToString())))
    assert not any(result.severity == 1 for result in response.results)
    assert response.requirements.resources
