"""What becomes of a composed ModelReplica that a person edits: its deployment restores it, and nothing moves."""

import pytest

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import healthy
from unit.preview.fakes import TEAM, conditions_of, existing


def plane() -> ControlPlane:
    control = ControlPlane((hardware(), cluster("east"), cluster("far-west", nodes=4)), world=healthy)
    control.apply(deployment())
    return control


def runs_on(control: ControlPlane) -> set[str]:
    """Return the clusters on which the replicas have put anything."""
    objects = [each for each in control.list("Object") if each["metadata"]["namespace"] == TEAM]
    return {each["spec"]["providerConfigRef"]["name"] for each in objects}


def edit(control: ControlPlane, name: str, where: str, *, relabel: bool) -> None:
    """Write another cluster into a replica, and into its label if so."""
    replica = existing(control, "ModelReplica", TEAM, name)
    replica["spec"]["clusterName"] = where
    if relabel:
        replica["metadata"]["labels"]["modelplane.ai/cluster"] = where
    control.apply(replica)


@pytest.mark.proves("R42", "P84")
@pytest.mark.parametrize("relabel", [False, True], ids=["the spec", "the label too"])
@pytest.mark.parametrize("first", ["ModelReplica", "ModelDeployment"])
@pytest.mark.parametrize("where", ["east", "nowhere"])
def test_a_composed_replica_whose_cluster_is_edited_is_restored_and_never_runs_there(
    where: str, first: str, relabel: bool
) -> None:
    control = plane()
    assert control.settle()
    (replica,) = control.list("ModelReplica")
    name, uid = replica["metadata"]["name"], replica["metadata"]["uid"]
    assert replica["spec"]["clusterName"] == "far-west"
    edit(control, name, where, relabel=relabel)
    passes = [("ModelReplica", name), ("ModelDeployment", "chat")]
    for kind, called in (passes if first == "ModelReplica" else passes[::-1]) * 5:
        control.reconcile(kind, TEAM, called)
        assert runs_on(control) == {"far-west"}
        if kind == "ModelDeployment":
            (found,) = control.list("ModelReplica")
            labelled = found["metadata"]["labels"]["modelplane.ai/cluster"]
            assert (found["spec"]["clusterName"], labelled, found["metadata"]["uid"]) == ("far-west", "far-west", uid)
    assert control.settle()
    assert conditions_of(existing(control, "ModelDeployment", TEAM, "chat"))["ReplicasReady"][0] == "True"


def test_one_that_is_edited_before_it_runs_composes_nothing_elsewhere() -> None:
    control = plane()
    control.settle(max_passes=3)
    for _ in range(3):
        control.reconcile("ModelDeployment", TEAM, "chat")
    (replica,) = control.list("ModelReplica")
    edit(control, replica["metadata"]["name"], "east", relabel=True)
    control.reconcile("ModelReplica", TEAM, replica["metadata"]["name"])
    message = conditions_of(existing(control, "ModelReplica", TEAM, replica["metadata"]["name"]))["ModelAccepted"][2]
    assert runs_on(control) <= {"far-west"}
    assert "spec.clusterName is east, the ModelDeployment has placed this replica on far-west" in message
    assert control.settle()
    assert runs_on(control) == {"far-west"}
