"""The work of a preview grows with what changes: objects visited are counted, time is not measured."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from modelplane.preview.links import Links
from modelplane.reading.kinds import Key
from modelplane.reading.manifest_store import ManifestStore
from modelplane.reading.table import Table
from unit.preview.fakes import TEAM, config_map, plane

#: Growth over growth of the fleet that still counts as linear: what is done once makes the small fleet's share larger.
LINEAR = 1.1


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count the objects that are read one by one, listed, and found by a link of theirs, in the only item."""
    count = [0]
    peek, labelled, sources = ManifestStore.peek, Table.labelled, Links.sources

    def counted_peek(store: ManifestStore, key: Key) -> Any:
        count[0] += 1
        return peek(store, key)

    def counted_labelled(table: Table, *labels: Any) -> Iterator[Any]:
        for obj in labelled(table, *labels):
            count[0] += 1
            yield obj

    def counted_sources(links: Links, *named: Any) -> list[Key]:
        found = sources(links, *named)
        count[0] += len(found)
        return found

    monkeypatch.setattr(ManifestStore, "peek", counted_peek)
    monkeypatch.setattr(Table, "labelled", counted_labelled)
    monkeypatch.setattr(Links, "sources", counted_sources)
    return count


def _served(size: int) -> ControlPlane:
    """Return a settled fleet of half as many clusters as replicas."""
    clusters = (cluster(f"c{number}", nodes=2) for number in range(size // 2))
    control = ControlPlane([hardware(), *clusters, deployment(replicas=size)])
    assert control.settle()
    assert len(control.list("ModelReplica")) == size
    return control


def _scale_to_zero(control: ControlPlane) -> None:
    control.apply(deployment(replicas=0))
    assert control.settle()
    assert control.list("ModelReplica") == []


def _delete_the_deployment(control: ControlPlane) -> None:
    assert control.delete("ModelDeployment", "team", "chat")
    assert control.settle()
    assert control.list("ModelReplica") == []


def _edit(control: ControlPlane) -> None:
    edited = deployment(replicas=len(control.list("ModelReplica")))
    edited["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["image"] = "example.org/engine:v2"
    control.apply(edited)
    assert control.settle()


def _reload(control: ControlPlane) -> None:
    assert ControlPlane(control.everything()).settle()


ACTS = {
    "scaling to zero": _scale_to_zero,
    "deleting the deployment": _delete_the_deployment,
    "editing every replica": _edit,
    "reading an export": _reload,
}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_a_fleet_four_times_as_large_is_four_times_the_work(visits: list[int], act: Callable[..., None]) -> None:
    taken = []
    for size in (10, 40):
        control = _served(size)
        visits[0] = 0
        act(control)
        taken.append(visits[0])
    assert taken[1] <= 4 * LINEAR * taken[0]


def test_placing_four_times_as_much_is_four_times_the_work(visits: list[int]) -> None:
    taken = []
    for size in (10, 40):
        visits[0] = 0
        _served(size)
        taken.append(visits[0])
    assert taken[1] <= 4 * LINEAR * taken[0]


def test_what_is_held_costs_nothing_while_something_else_is_deleted(visits: list[int]) -> None:
    taken = []
    for held in (0, 40):
        waiting = (config_map(f"held-{number}", finalizers=["example.org/hold"]) for number in range(held))
        control = plane(*waiting, config_map("a"))
        for number in range(held):
            control.delete("ConfigMap", TEAM, f"held-{number}")
        visits[0] = 0
        control.delete("ConfigMap", TEAM, "a")
        taken.append(visits[0])
    assert taken[0] == taken[1]


class _Counted(dict[str, Any]):
    """An object that counts how often it is looked into."""

    looks = 0

    def get(self, *key: Any) -> Any:
        """Return a value, and count."""
        _Counted.looks += 1
        return super().get(*key)


def test_a_list_by_labels_looks_at_what_carries_the_rarest_of_them() -> None:
    table = Table()
    for number in range(100):
        labels = {"all": "x", "some": str(number // 10)}
        table.put(("", f"{number:02}"), _Counted(metadata={"name": str(number), "labels": labels}))
    listed = list(table.labelled({"all": "x", "some": "3"}))
    _Counted.looks = 0
    assert list(table.labelled({"all": "x", "some": "3"})) == listed
    assert [obj["metadata"]["name"] for obj in listed] == [str(number) for number in range(30, 40)]
    assert _Counted.looks == 10
