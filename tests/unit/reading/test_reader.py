"""What is printed of a fleet needs nothing of a reader but the protocol, and is the same by any reader."""

import io
from collections.abc import Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest
from rich.console import Console

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from modelplane.reading import Reader
from modelplane.reading.deployments import deployments, refusals
from modelplane.reading.kinds import qualify
from modelplane.reading.tables import show, total
from modelplane.reading.trace import show_trace, trace
from modelplane.reading.unread import Unread
from unit.preview.fakes import existing


class Listed:
    """A reader of a plain list of objects, with nothing but what the protocol has."""

    origin: Hashable = "listed"
    unread: Mapping[str, Unread] = MappingProxyType({})

    def __init__(self, objects: Sequence[dict[str, Any]]) -> None:
        self._objects = objects

    def get(self, kind: str, namespace: str | None, name: str) -> dict[str, Any] | None:
        """Return an object."""
        found = (obj for obj in self.list(kind) if obj["metadata"]["name"] == name)
        return next((obj for obj in found if obj["metadata"].get("namespace") == (namespace or None)), None)

    def list(self, kind: str) -> list[dict[str, Any]]:
        """Return the objects of a kind."""
        found = [obj for obj in self._objects if kind in {obj["kind"], qualify(obj["apiVersion"], obj["kind"])}]
        return sorted(found, key=lambda obj: (obj["metadata"].get("namespace") or "", obj["metadata"]["name"]))

    def schema(self, api_version: str, kind: str) -> dict[str, Any] | None:
        """Return the schema of no kind but those that are listed."""
        return {} if any((obj["apiVersion"], obj["kind"]) == (api_version, kind) for obj in self._objects) else None


@pytest.fixture(scope="module")
def fleet() -> ControlPlane:
    """Return a fleet on which one replica of three is not placed and one class is refused."""
    broken = hardware("broken")
    broken["spec"]["devices"][0]["attributes"] = {"driverVersion": {"version": "not semver"}}
    control = ControlPlane([hardware(), broken, cluster("east"), cluster("west"), deployment(replicas=3)])
    assert control.settle()
    return control


def printed(reader: Reader) -> str:
    """Return what all tables say of a fleet."""
    console = Console(file=io.StringIO(), width=100)
    found = deployments(reader)
    refused = [(key.name, why) for key, why in sorted(refusals(reader).items())]
    show(console, reader, found, refused)
    console.print(total(found))
    for replica in reader.list("ModelReplica"):
        show_trace(console, replica, trace(reader, replica))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_tables_and_traces_are_the_same_over_any_reader(fleet: ControlPlane) -> None:
    text = printed(Listed(fleet.everything()))
    assert text == printed(fleet.view())
    for expected in ("2 of 3 replicas of 1 deployment placed", "broken", "Deployment chat-", "0 of 1"):
        assert expected in text


def test_a_trace_finds_an_object_by_its_group_where_another_kind_has_its_name(fleet: ControlPlane) -> None:
    (replica, _) = fleet.list("ModelReplica")
    other = existing(fleet, "ModelReplica", "team", replica["metadata"]["name"])
    refs = other["spec"]["crossplane"]["resourceRefs"]
    decoys = [{"apiVersion": "a.example.org/v1", **{k: ref[k] for k in ("kind",)}} for ref in refs]
    objects = [
        {**decoy, "metadata": {"name": ref["name"], "namespace": "team"}, "spec": {}}
        for decoy, ref in zip(decoys, refs, strict=True)
    ]
    assert trace(Listed([*objects, *fleet.everything()]), replica) == trace(fleet.view(), replica)


def test_of_the_kinds_of_a_store_the_schema_is_known(fleet: ControlPlane) -> None:
    reader: Reader = fleet.view()
    own = reader.schema("modelplane.ai/v1alpha1", "ModelReplica") or {}
    assert set(own["properties"]) == {"spec", "status"}
    assert reader.schema("v1", "Secret") is not None
    assert reader.schema("example.org/v1", "Unheard") is None
