"""What a plan calls certain happens, and what happens else is among the outcomes that it names."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from given.manifests import cluster, deployment, hardware
from modelplane.planning import Apply, Drain, make_plan
from modelplane.planning.events import Name
from modelplane.planning.futures import Future, play
from modelplane.planning.leaving import released
from modelplane.planning.orders import Orders, orders
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import healthy, publishing, unreachable
from property.plans import CLUSTERS, Edited, edited, live, worlds
from property.predictions import assert_predicted, happened
from property.strategies import examples


def exported(control: ControlPlane) -> ControlPlane:
    """Return a fleet as kubectl exports it: with the finalizers that Crossplane sets and nobody plays."""
    found = [obj for obj in control.everything() if obj["apiVersion"].startswith("modelplane.ai/")]
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
    fleet = exported(settled(edit))
    plan = make_plan(fleet, edit.edits, "now")
    control = live(data.draw, settled(edit), edit.edits, worlds(data.draw))
    assert_predicted(plan, happened(fleet.view(), control.view()))


@given(edited(), st.frozensets(st.sampled_from(CLUSTERS), min_size=1, max_size=2), st.data())
@examples(10)
def test_what_is_certain_while_clusters_are_not_ready_happens_whenever_they_return(
    edit: Edited, away: frozenset[str], data: st.DataObject
) -> None:
    control = settled(edit)
    control.world = unreachable(away)
    assert control.settle()
    fleet = exported(control)
    plan = make_plan(fleet, edit.edits, "now")
    stay = data.draw(st.frozensets(st.sampled_from(sorted(away))))
    world = unreachable(away, worlds(data.draw))
    after = live(data.draw, control, edit.edits, world, then=unreachable(stay, healthy))
    assert_predicted(plan, happened(fleet.view(), after.view()))


def test_a_twin_that_ignores_what_clusters_publish_of_other_teams_predicts_what_does_not_happen() -> None:
    other, chat = deployment("other"), deployment("chat")
    other["metadata"]["namespace"] = "others"
    control = ControlPlane([hardware(), cluster("east"), other])
    assert control.settle()
    before = control.view()
    export = [*before.list("InferenceClass"), *before.list("InferenceCluster")]
    control.apply(chat)
    assert control.settle()
    events = happened(before, control.view())
    assert_predicted(make_plan(ControlPlane(export), [Apply(chat)], "now"), events)
    (east,) = (obj for obj in export if obj["kind"] == "InferenceCluster")
    del east["status"]["replicas"]
    for pool in east["status"]["gpuPools"]:
        del pool["charged"]
    with pytest.raises(AssertionError):
        assert_predicted(make_plan(ControlPlane(export), [Apply(chat)], "now"), events)


@given(edited())
@examples(4)
def test_a_plan_leaves_the_fleet_as_it_was(edit: Edited) -> None:
    fleet = exported(settled(edit))
    before = fleet.everything()
    make_plan(fleet, edit.edits, "now")
    assert fleet.everything() == before
    assert fleet.fork(healthy).everything() == before


def ends(futures: list[Future]) -> set[object]:
    """Return how futures end: where the replicas of each deployment are, how many have no place, and what has gone."""
    return {
        frozenset(
            (
                name,
                tuple(sorted((each.cluster, each.revision, each.pools) for each in state.placed.values())),
                state.unplaced,
            )
            for name, state in future.states.items()
        )
        for future in futures
    }


def least(futures: list[Future]) -> dict[Name, int]:
    """Return how many replicas of each deployment serve when the fewest do in any future."""
    names = {name for future in futures for name in future.least}
    return {name: min(future.least.get(name, 0) for future in futures) for name in names}


#: Two replicas have to go, and there is room for one of them.
CONTEST = Edited(
    (hardware(), cluster("east", nodes=3), cluster("west", nodes=3), *(deployment(f"d{at}") for at in range(4))),
    (Drain("east"),),
)


@given(edited())
@example(CONTEST)
@examples(5)
def test_orders_that_are_played_together_end_as_each_does_by_itself(edit: Edited) -> None:
    start = released(exported(settled(edit)), publishing())
    names = [("team", f"d{number}") for number in range(4)]
    tried = orders([[name for name in names if start.get("ModelDeployment", *name)]])
    together = play(start, edit.edits, publishing(), Orders(tuple(tried))) if tried else []
    alone = [future for order in tried for future in play(start, edit.edits, publishing(), Orders((order,)))]
    assert (ends(together), least(together)) == (ends(alone), least(alone))
    assert len(together) <= len(alone)
