"""A cluster is drained while another one does not answer for good."""

from typing import Any

import pytest

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import healthy, unreachable
from unit.preview.fakes import TEAM, conditions_of, existing

OUT, AWAY = {"key": "maintenance", "effect": "NoExecute"}, {"key": "dead", "effect": "NoSchedule"}


def placed(control: ControlPlane) -> list[tuple[str, bool]]:
    entries = existing(control, "ModelDeployment", TEAM, "chat")["status"]["placements"]
    return [(entry["cluster"], entry["leaving"]) for entry in entries]


def scheduled(control: ControlPlane) -> str:
    return conditions_of(existing(control, "ModelDeployment", TEAM, "chat"))["ReplicasScheduled"][2]


def serving(control: ControlPlane) -> int:
    return sum(not each["spec"].get("ending") for each in control.list("ModelReplica"))


def draining(*more: dict[str, Any]) -> ControlPlane:
    """Return a control plane whose only replica is evicted from `east` while `west` does not answer."""
    control = ControlPlane((hardware(), cluster("east"), deployment(), *more))
    assert control.settle()
    control.apply(cluster("west"))
    control.world = unreachable({"west"})
    assert control.settle()
    control.apply(cluster("east", taints=[OUT]))
    for _ in range(3):
        assert control.settle()
    return control


@pytest.mark.proves("R33")
@pytest.mark.parametrize("way_out", ["a taint", "a deletion"])
def test_a_drain_waits_for_a_candidate_that_is_dead_for_good_and_goes_on_once_that_is_tainted_or_deleted(
    way_out: str,
) -> None:
    control = draining()
    assert (placed(control), serving(control)) == ([("east", True)], 1)
    message = scheduled(control)
    assert "evicted replicas stay until these clusters can be asked for room: west (not Ready)" in message
    assert "(taint a cluster NoSchedule, or delete it, to go on without it)" in message
    if way_out == "a taint":
        control.apply(cluster("west", taints=[AWAY]))
    else:
        control.delete("InferenceCluster", None, "west")
    assert control.settle()
    assert (placed(control), serving(control)) == ([], 0)
    assert "can be asked" not in scheduled(control)


def test_a_drain_during_which_a_cluster_does_not_answer_for_a_moment_ends_nothing() -> None:
    control = draining()
    assert serving(control) == 1
    control.world = healthy
    for _ in range(4):
        assert control.settle()
        assert serving(control) >= 1
    assert placed(control) == [("west", False)]


def test_a_drain_that_is_called_off_while_it_waits_changes_nothing() -> None:
    control = draining()
    before = [each["metadata"]["uid"] for each in control.list("ModelReplica")]
    control.apply(cluster("east"))
    assert control.settle()
    assert placed(control) == [("east", False)]
    assert [each["metadata"]["uid"] for each in control.list("ModelReplica")] == before
