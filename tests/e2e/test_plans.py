"""What a plan predicts happens on a real control plane: what is certain, with one outcome of each contest."""

import os
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from e2e.fleet import SOON, Fleet
from e2e.scenes import deployment, engine
from modelplane.planning import Apply, Delete, Drain, Edit, Plan, Scale, make_plan
from modelplane.planning.edits import DRAIN_TAINT
from modelplane.preview import ControlPlane
from modelplane_dev.plane.control_plane import DEPLOYMENT, INFERENCE_CLASS, INFERENCE_CLUSTER, REPLICA
from modelplane_dev.plane.waiting import eventually
from property.predictions import assert_predicted, happened

Manifest = dict[str, Any]
SOAK = "MODELPLANE_SOAK" in os.environ
#: Edits of a run, one after the other, and of a long one, which are new ones each time.
EDITS, SOAK_EDITS = 6, 20
#: Seconds for which what was predicted has to stay.
QUIET = 5.0
NAMES = ("a", "b", "c")


def snapshot(fleet: Fleet) -> ControlPlane:
    """Return the scenario's part of the control cluster, clusters first and replicas last."""
    api = fleet.plane.hub.api
    mine = [api.get(INFERENCE_CLUSTER, name) for name in fleet.clusters]
    classes = [each for each in api.list(INFERENCE_CLASS) if each["metadata"]["name"].startswith(fleet.tag)]
    found = [each for kind in (DEPLOYMENT, REPLICA) for each in api.list(kind, fleet.tag)]
    return ControlPlane([*classes, *(each for each in mine if each), *found])


def edits(fleet: Fleet) -> st.SearchStrategy[Edit]:
    """Return edits of three deployments on a fleet with room for fewer than may be asked for."""
    names = st.sampled_from(NAMES)
    asked = st.builds(lambda name, size, count: Apply(wanted(fleet, name, size, count)), names, gpus(), counts())
    return st.one_of(
        st.builds(Drain, st.sampled_from([*fleet.clusters])),
        st.builds(Scale, st.just(fleet.tag), names, counts()),
        st.builds(Delete, st.just("ModelDeployment"), st.just(fleet.tag), names),
        asked,
    )


def gpus() -> st.SearchStrategy[int]:
    return st.sampled_from([4, 8])


def counts() -> st.SearchStrategy[int]:
    return st.integers(1, 2)


def wanted(fleet: Fleet, name: str, gpus: int, replicas: int) -> Manifest:
    """Return a deployment of the scenario as it would be applied."""
    selector = {"matchLabels": {"scenario": fleet.tag}}
    rollout = {"maxUnavailable": 1}
    return deployment(
        name, fleet.tag, clusterSelector=selector, engines=[engine(gpus)], replicas=replicas, rollout=rollout
    )


def make(fleet: Fleet, edit: Edit) -> None:
    """Make an edit on the control cluster."""
    api = fleet.plane.hub.api
    match edit:
        case Apply(manifest):
            api.apply(manifest)
        case Delete(_, namespace, name):
            api.delete(DEPLOYMENT, name, namespace)
        case Scale(namespace, name, replicas):
            api.patch(DEPLOYMENT, name, {"spec": {"replicas": replicas}}, namespace)
        case Drain(name):
            api.patch(INFERENCE_CLUSTER, name, {"spec": {"taints": [DRAIN_TAINT]}})


def watch(fleet: Fleet, before: ControlPlane, plan: Plan) -> None:
    """Wait until what a plan predicts has happened, nothing leaves any more, and it stays so."""

    def predicted() -> None:
        now = snapshot(fleet)
        assert_predicted(plan, happened(before.view(), now.view()))
        leaving = [each for each in now.list("ModelDeployment") if any(p["leaving"] for p in placements(each))]
        assert not leaving, leaving

    eventually(predicted, within=SOON)
    time.sleep(QUIET)
    predicted()


def placements(obj: Manifest) -> list[Manifest]:
    found: list[Manifest] = obj.get("status", {}).get("placements") or []
    return found


def restore(fleet: Fleet) -> None:
    """Take all taints away, and wait until all is at rest: clusters Ready, deployments placed where there is room.

    A plan takes a cluster for what it is: one that is not Ready for a moment gets nothing.
    """
    api = fleet.plane.hub.api
    for name in fleet.clusters:
        api.patch(INFERENCE_CLUSTER, name, {"spec": {"taints": None}})
    for name, count in zip(NAMES, (8, 4, 4), strict=True):
        if api.get(DEPLOYMENT, name, fleet.tag) is None:
            api.apply(wanted(fleet, name, count, 1))

    def rests() -> None:
        for name in fleet.clusters:
            fleet.assert_condition(fleet.cluster(name), "Ready", "True")
        plan = make_plan(snapshot(fleet), [], "now")
        assert not plan.drift, plan.drift
        found = [obj for name in NAMES if (obj := api.get(DEPLOYMENT, name, fleet.tag))]
        assert len(found) == len(NAMES)
        for obj in found:
            assert not any(p["leaving"] or not p["serving"] for p in placements(obj)), obj
            assert obj["status"].get("replicas"), obj

    eventually(rests, within=SOON)


@pytest.mark.long
def test_what_a_plan_predicts_happens(fleet: Fleet) -> None:
    for site in ("east", "west"):
        fleet.begin_cluster(site)
    fleet.begin_cluster("east", suffix="-b")
    for name in fleet.clusters:
        fleet.wait_cluster(name)

    @settings(
        max_examples=SOAK_EDITS if SOAK else EDITS,
        derandomize=not SOAK,
        phases=[Phase.generate],
        suppress_health_check=[*HealthCheck],
        deadline=None,
        database=None,
    )
    @given(edits(fleet))
    def one_edit(edit: Edit) -> None:
        restore(fleet)
        before = snapshot(fleet)
        plan = make_plan(before, [edit], "now")
        make(fleet, edit)
        watch(fleet, before, plan)

    one_edit()
