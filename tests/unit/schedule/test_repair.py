"""What has crashed is repaired by its fix: played from the pods over the replica to the rollout."""

from typing import Any

import pytest

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import failing, healthy, unreachable

TEAM = "team"
BROKEN, FIXED = "example.org/engine:broken", "example.org/engine:fixed"


def written(image: str, *, gang: bool = False, copies: int = 1) -> dict[str, Any]:
    """Return a deployment whose only replica takes all nodes of the fleet."""
    found = deployment("chat")
    (engine,) = found["spec"]["engines"]
    engine["copies"] = copies
    (member,) = engine["members"]
    member["template"] = {"spec": {"containers": [{"name": "engine", "image": image, "command": ["serve"]}]}}
    if gang:
        engine["members"] = [{**member, "role": "Leader"}, {**member, "role": "Worker", "worker": {"nodes": 1}}]
    return found


def image_of(control: ControlPlane) -> str:
    (replica,) = control.list("ModelReplica")
    container = replica["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]
    return str(container["image"])


def conditions(control: ControlPlane) -> dict[str, str]:
    (found,) = control.list("ModelDeployment")
    return {each["type"]: each["status"] for each in found["status"]["conditions"]}


@pytest.mark.proves("R48", "P28")
@pytest.mark.parametrize("gang", [False, True], ids=["a pod", "a gang"])
def test_the_only_replica_on_a_full_fleet_that_crashes_after_it_served_is_repaired_by_an_edit(gang: bool) -> None:
    crashes = False

    def rule(replica: dict[str, Any]) -> str | None:
        container = replica["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]
        return "no such file" if crashes and container["image"] == BROKEN else None

    control = ControlPlane((hardware(), cluster("east", nodes=2 if gang else 1)), world=failing(rule))
    control.apply(written(BROKEN, gang=gang))
    assert control.settle()
    assert conditions(control)["Ready"] == "True"
    (replica,) = control.list("ModelReplica")
    assert replica["status"]["served"] is True

    crashes = True
    control.settle()
    (replica,) = control.list("ModelReplica")
    assert replica["status"]["crashed"] is True
    control.apply(written(FIXED, gang=gang))
    control.settle()
    assert image_of(control) == FIXED
    assert conditions(control)["Ready"] == "True"
    (replica,) = control.list("ModelReplica")
    assert "crashed" not in replica["status"]


def test_a_healthy_only_replica_on_a_full_fleet_keeps_what_it_runs() -> None:
    control = ControlPlane((hardware(), cluster("east")), world=healthy)
    control.apply(written(BROKEN))
    assert control.settle()
    control.apply(written(FIXED))
    assert control.settle()
    assert (image_of(control), conditions(control)["Ready"]) == (BROKEN, "False")


def test_a_crashed_replica_on_a_cluster_that_does_not_answer_waits() -> None:
    away: set[str] = set()
    crashes = False
    control = ControlPlane(
        (hardware(), cluster("east")),
        world=unreachable(away, failing(lambda _: "no such file" if crashes else None)),
    )
    control.apply(written(BROKEN))
    assert control.settle()
    crashes = True
    control.settle()
    away.add("east")
    control.settle()
    control.apply(written(FIXED))
    control.settle()
    assert image_of(control) == BROKEN


@pytest.mark.proves("R55", "P31")
@pytest.mark.parametrize("gang", [False, True], ids=["pods", "gangs"])
@pytest.mark.parametrize("good", [True, False], ids=["a good edit", "a bad edit"])
def test_the_only_replica_on_a_full_fleet_is_edited_copy_by_copy_and_serves_all_along(gang: bool, good: bool) -> None:
    def rule(replica: dict[str, Any]) -> str | None:
        container = replica["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]
        return "no such file" if container["image"] == FIXED and not good else None

    control = ControlPlane((hardware(), cluster("east", nodes=4 if gang else 2)), world=failing(rule))
    control.apply(written(BROKEN, gang=gang, copies=2))
    assert control.settle()
    control.apply(written(FIXED, gang=gang, copies=2))
    for _ in range(20):
        settled = control.settle(max_passes=1)
        assert conditions(control)["ReplicasReady"] == "True"
        assert all(endpoint["spec"]["ready"] for endpoint in control.list("ModelEndpoint"))
    (replica,) = control.list("ModelReplica")
    assert (image_of(control), replica["status"]["complete"], settled) == (FIXED, good, True)
