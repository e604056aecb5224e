"""Observed objects: known by version or content, parsed once, secret values sealed."""

import gc
import tracemalloc
from typing import Any

import pytest
from google.protobuf.message import DecodeError

from bench.fleet import cluster, others
from modelplane.lru import Lru
from modelplane.observed.replica import read_replica
from modelplane.step import Object
from modelplane.step.sealed import Sealed
from modelplane.transport import objects
from modelplane.transport.objects import WireObject
from modelplane.transport.structs import LARGE, decode, encode
from unit.transport.orders import encode_in_any_order


def _object(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n", **metadata}}


_FROM_SERVER = _object(uid="u", resourceVersion="7", managedFields=[{"manager": "x"}])
#: As large and as nested as objects of a fleet are.
_LARGE = cluster(3)


def test_an_object_reads_as_it_was_sent_without_its_managed_fields() -> None:
    found = WireObject(encode(_FROM_SERVER))
    assert found.body == _object(uid="u", resourceVersion="7")
    assert (found.kind, found.namespace, found.name) == ("ConfigMap", "n", "a")


@pytest.mark.parametrize(
    "other",
    [
        _object(uid="u", resourceVersion="8", managedFields=[{"manager": "x"}]),
        _object(uid="v", resourceVersion="7", managedFields=[{"manager": "x"}]),
        {**_FROM_SERVER, "kind": "Secret"},
        {**_FROM_SERVER, "apiVersion": "v2"},
    ],
)
@pytest.mark.parametrize("size", [1, LARGE])
def test_an_object_of_an_api_server_is_known_by_its_uid_and_version(other: dict[str, Any], size: int) -> None:
    data = {"data": {"a": "x" * size}}
    one, two, another = (WireObject(encode(each | data)) for each in (_FROM_SERVER, _FROM_SERVER, other))
    assert one.key == two.key
    assert one.key != another.key
    assert one.kind == "ConfigMap"


@pytest.mark.parametrize("added", [{}, {"data": {"a": "x" * LARGE}}], ids=["of a fleet", "large"])
def test_an_object_of_an_api_server_is_known_in_whatever_order_its_maps_are_written(added: dict[str, Any]) -> None:
    wires = [encode_in_any_order(_LARGE | added, seed) for seed in range(20)]
    assert len(set(wires)) == 20
    assert {WireObject(wire).key for wire in wires} == {WireObject(encode(_LARGE | added)).key}


@pytest.mark.parametrize("cut", [1, 5000, LARGE])
def test_a_large_object_that_is_cut_off_is_known_by_nothing(cut: int) -> None:
    wire = encode(_FROM_SERVER | {"data": {"a": "x" * 2 * LARGE}})[:-cut]
    with pytest.raises(DecodeError):
        _ = WireObject(wire).key
    with pytest.raises(DecodeError):
        _ = WireObject(wire).kind


def _written(seconds: int, **fields: Any) -> dict[str, Any]:
    """Return an object under one uid and version, written at a time of day."""
    time = f"2026-01-01T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"
    return {**_object(uid="u", resourceVersion="7", managedFields=[{"time": time}]), **fields}


@pytest.mark.parametrize(
    "other",
    [
        _written(0, spec={"nodes": 3, "pools": ["a", "b"]}),
        _written(0, spec={"nodes": 2, "pools": ["a", "c"]}),
        _written(0, spec={"nodes": 2, "pools": ["a", "b", ""]}),
        _written(1, spec={"nodes": 2, "pools": ["b", "a"]}),
    ],
)
def test_a_version_that_a_restored_control_plane_gives_out_again_is_another_object(other: dict[str, Any]) -> None:
    before = WireObject(encode(_written(0, spec={"nodes": 2, "pools": ["a", "b"]})))
    assert before.body["spec"] == {"nodes": 2, "pools": ["a", "b"]}
    assert WireObject(encode(other)).body == decode(encode(other))


def test_every_second_makes_another_object() -> None:
    assert len({WireObject(encode(_written(seconds))).key for seconds in range(5000)}) == 5000


@pytest.mark.parametrize("metadata", [{}, {"uid": "u"}, {"uid": "u", "resourceVersion": "7"}])
def test_an_object_that_no_api_server_wrote_is_known_by_its_content(metadata: dict[str, str]) -> None:
    one, other = _object(**metadata), {**_object(**metadata), "data": {"a": "b"}}
    assert WireObject(encode(one)).key == WireObject(encode(one)).key
    assert WireObject(encode(one)).key != WireObject(encode(other)).key


def test_one_version_of_an_object_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []

    def counted(wire: bytes) -> dict[str, Any]:
        parsed.append(wire)
        return decode(wire)

    monkeypatch.setattr(objects, "decode", counted)
    wire = encode(_object(uid="once", resourceVersion="1", managedFields=[]))
    assert [WireObject(wire).name for _ in range(3)] == ["a", "a", "a"]
    assert len(parsed) == 1


def test_a_call_does_not_hold_the_bodies_of_the_objects_that_it_has_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "_BODIES", Lru[Any](100_000))
    fleet = [WireObject(encode(replica)) for replica in others(10, 200)]
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    assert {found.kind for found in fleet if found.body["spec"]} == {"ModelReplica"}
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert taken < 400_000


_SHAPES: dict[str, Any] = {
    "a cluster": cluster(1),
    "a replica": next(others(1, 1)),
    "empty objects": {"a": [{} for _ in range(5000)]},
    "empty lists": {"a": [[] for _ in range(5000)]},
    "empty texts": {"a": [""] * 5000},
    "numbers": {"a": [number + 1000.5 for number in range(5000)]},
    "one long text": {"a": "x" * 100_000},
    "short texts": {"a": [str(number) for number in range(5000)]},
    "short keys": {"a": [{"k": {"k": {"k": "v"}}} for _ in range(1000)]},
}


@pytest.mark.parametrize("shape", _SHAPES)
def test_a_body_takes_no_more_than_it_is_counted_with(shape: str) -> None:
    wires = [encode({**_SHAPES[shape], "number": number}) for number in range(5)]
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    bodies = [decode(wire) for wire in wires]
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert len(bodies) == 5
    assert taken <= sum(map(objects._weight, wires))


@pytest.mark.parametrize("wire", [b"", encode({"metadata": "text", "kind": 7})])
def test_what_is_missing_or_malformed_reads_as_empty(wire: bytes) -> None:
    found = WireObject(wire)
    assert (found.kind if not wire else "", found.name, found.namespace, dict(found.metadata)) == ("", "", "", {})


LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s", "annotations": {LAST_APPLIED: "hush", "a": "b"}},
    "type": "Opaque",
    "data": {"token": "aHVzaA=="},
    "stringData": {"other": "hush"},
}
_SEEN = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s", "annotations": {"a": "b"}},
    "type": "Opaque",
    "data": {"token": Sealed(b"hush"), "other": Sealed(b"hush")},
}


def _applied(manifest: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {"name": "o", "annotations": {LAST_APPLIED: "hush"}},
        "spec": {"forProvider": {"manifest": manifest}},
        "status": {"atProvider": {"manifest": manifest}},
    }


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        (_SECRET, _SEEN),
        (_applied(_SECRET), {**_applied(_SEEN), "metadata": {"name": "o", "annotations": {}}}),
        (_applied("no manifest"), _applied("no manifest")),
        (_applied({"kind": "ConfigMap", "data": {"a": "b"}}), _applied({"kind": "ConfigMap", "data": {"a": "b"}})),
        (
            {"kind": "SecretList", "items": [{"data": {"token": "aHVzaA=="}}]},
            {"kind": "SecretList", "items": [{"data": {"token": Sealed(b"hush")}}]},
        ),
        (
            {"kind": "Secret", "metadata": "malformed", "data": {"token": "no base64"}},
            {"kind": "Secret", "metadata": "malformed"},
        ),
        ({"kind": "Object", "spec": None, "status": []}, {"kind": "Object", "spec": None, "status": []}),
    ],
)
def test_a_step_sees_the_values_of_secrets_sealed(sent: dict[str, Any], seen: dict[str, Any]) -> None:
    assert WireObject(encode(sent)).body == seen


def test_an_outline_has_all_but_pod_templates_and_is_of_the_same_version() -> None:
    replica = next(others(1, 1))
    found = WireObject(encode(replica))
    (engine,) = found.outline.body["spec"]["engines"]
    assert [sorted(member) for member in engine["members"]] == [["deviceRequests", "nodePoolName", "role"]]
    assert "template" in found.body["spec"]["engines"][0]["members"][0]
    assert (found.outline.key, found.outline.name, found.outline.kind) == (found.key, found.name, found.kind)


def test_a_replica_is_read_from_its_outline_as_from_the_whole() -> None:
    replica = next(others(1, 1))
    whole = Object(decode(encode(replica)), "another key")
    assert read_replica(WireObject(encode(replica))) == read_replica(whole)
