"""Observed objects: known by version or content, parsed once, secret values sealed."""

from typing import Any

import pytest

from modelplane.step.sealed import Sealed
from modelplane.transport import objects
from modelplane.transport.objects import WireObject
from modelplane.transport.structs import decode, encode


def _object(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n", **metadata}}


_FROM_SERVER = _object(uid="u", resourceVersion="7", managedFields=[{"manager": "x"}])


def test_an_object_reads_as_it_was_sent_without_its_managed_fields() -> None:
    found = WireObject(encode(_FROM_SERVER))
    assert found.body == _object(uid="u", resourceVersion="7")
    assert (found.kind, found.namespace, found.name) == ("ConfigMap", "n", "a")


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({**_FROM_SERVER, "data": {"status": "as the server has it, in whatever order"}}, True),
        (_object(uid="u", resourceVersion="8", managedFields=[{"manager": "x"}]), False),
        (_object(uid="v", resourceVersion="7", managedFields=[{"manager": "x"}]), False),
        ({**_FROM_SERVER, "kind": "Secret"}, False),
        ({**_FROM_SERVER, "apiVersion": "v2"}, False),
    ],
)
def test_an_object_of_an_api_server_is_known_by_its_uid_and_version(other: dict[str, Any], same: bool) -> None:
    assert (WireObject(encode(_FROM_SERVER)).key == WireObject(encode(other)).key) is same


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
            {"kind": "SecretList", "items": [{"data": {"token": "hush"}}]},
            {"kind": "SecretList"},
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
