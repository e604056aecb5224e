"""What a plan calls certain happens, and what happens else is among the outcomes that it names."""

from hypothesis import given
from hypothesis import strategies as st

from modelplane.planning import make_plan
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import healthy
from property.plans import Edited, edited, live, worlds
from property.predictions import assert_predicted, happened
from property.strategies import examples


def exported(edit: Edited) -> ControlPlane:
    """Return a settled fleet as kubectl exports it: with the finalizers that Crossplane sets and nobody plays."""
    found = [obj for obj in settled(edit).everything() if obj["apiVersion"].startswith("modelplane.ai/")]
    for obj in found:
        obj["metadata"]["finalizers"] = ["composite.apiextensions.crossplane.io"]
    return ControlPlane(found)


def settled(edit: Edited) -> ControlPlane:
    control = ControlPlane(edit.fleet)
    assert control.settle()
    return control


@given(edited(), st.data())
@examples(15)
def test_what_happens_is_what_a_plan_calls_certain_with_one_outcome_of_each_contest(
    edit: Edited, data: st.DataObject
) -> None:
    fleet = exported(edit)
    plan = make_plan(fleet, edit.edits, "now")
    control = live(data.draw, settled(edit), edit.edits, worlds(data.draw))
    assert_predicted(plan, happened(fleet.view(), control.view()))


@given(edited())
@examples(4)
def test_a_plan_leaves_the_fleet_as_it_was(edit: Edited) -> None:
    fleet = exported(edit)
    before = fleet.everything()
    make_plan(fleet, edit.edits, "now")
    assert fleet.everything() == before
    assert fleet.fork(healthy).everything() == before
