"""An export of some namespaces says the same of them and of the room as the export of all."""

from collections.abc import Collection
from typing import Any

from hypothesis import given

from modelplane.observed.cluster import read_cluster
from modelplane.observed.replica import read_replica
from modelplane.preview import ControlPlane
from modelplane.reading.deployments import deployments
from modelplane.reading.reader import as_object, list_residents
from modelplane.scheduling import PoolRoom, capacity
from property.exports import TEAMS, Manifest, Teams, teams
from property.strategies import examples


def export(control: ControlPlane, namespaces: Collection[str]) -> list[Manifest]:
    """Return what `kubectl get modelplane` exports of these namespaces."""
    found = (obj for obj in control.everything() if obj["apiVersion"].startswith("modelplane.ai/"))
    return [obj for obj in found if obj["metadata"].get("namespace") in {None, "", *namespaces}]


def room(control: ControlPlane) -> tuple[PoolRoom, ...]:
    view = control.view()
    clusters = [read_cluster(as_object(view, obj)) for obj in view.list("InferenceCluster")]
    return capacity(clusters, map(read_replica, list_residents(view)))


def outcomes(control: ControlPlane, namespaces: Collection[str]) -> list[dict[str, Any]]:
    """Return where the deployments of these namespaces run, and why what is not placed is not."""
    fields = ("namespace", "name", "placed", "unplaced", "reasons")
    found = [each for each in deployments(control.view()) if each["namespace"] in namespaces]
    return [{field: each[field] for field in fields} for each in found]


def settled(*objects: Manifest) -> ControlPlane:
    control = ControlPlane(objects)
    assert control.settle()
    return control


@given(teams())
@examples(12)
def test_a_partial_export_has_the_room_and_the_placements_of_the_full_one(drawn: Teams) -> None:
    fleet = settled(*drawn.fleet)
    whole, part = export(fleet, TEAMS), export(fleet, drawn.exported)
    assert room(ControlPlane(part)) == room(fleet)
    full, partial = settled(*whole, drawn.newcomer), settled(*part, drawn.newcomer)
    known = drawn.exported | {drawn.newcomer["metadata"]["namespace"]}
    assert outcomes(partial, known) == outcomes(full, known)
    assert room(partial) == room(full)
