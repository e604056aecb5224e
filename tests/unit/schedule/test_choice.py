"""Why a replica runs where it does is in the status from its placement on, whatever becomes of the fleet."""

from typing import Any

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from unit.preview.fakes import TEAM, existing
from unit.schedule.objects import Server, replica, run
from unit.schedule.objects import cluster as cluster_object
from unit.schedule.objects import deployment as composite


def whys(control: ControlPlane, name: str = "chat") -> dict[str, Any]:
    found = existing(control, "ModelDeployment", TEAM, name)["status"]["placements"]
    return {entry["cluster"]: entry.get("why") for entry in found}


def test_it_stays_as_it_was_when_the_replica_was_placed_while_the_fleet_changes() -> None:
    control = ControlPlane((hardware(), cluster("east"), deployment()))
    assert control.settle()
    first = whys(control)
    assert first.keys() == {"east"}
    assert "first in order with room" in first["east"]
    control.apply(cluster("west"))
    control.apply(deployment("other"))
    assert control.settle()
    assert control.settle()
    assert whys(control) == first


def test_a_replica_that_is_placed_anew_says_why_it_is_there() -> None:
    control = ControlPlane((hardware(), cluster("east"), deployment()))
    assert control.settle()
    control.apply(cluster("west"))
    control.apply(cluster("east", taints=[{"key": "maintenance", "effect": "NoExecute"}]))
    for _ in range(3):
        assert control.settle()
    assert whys(control).keys() == {"west"}
    assert "first in order with room" in whys(control)["west"]


def test_a_replica_that_an_earlier_version_placed_says_nothing_and_stays_settled() -> None:
    control = ControlPlane((hardware(), cluster("east"), deployment()))
    assert control.settle()
    old = existing(control, "ModelDeployment", TEAM, "chat")
    for entry in old["status"]["placements"]:
        del entry["why"]
    again = ControlPlane((*(each for each in control.everything() if each["kind"] != "ModelDeployment"), old))
    assert again.settle()
    assert whys(again) == {"east": None}


def test_the_decision_is_there_for_the_log_by_replica_and_by_cluster() -> None:
    server = Server(cluster_object("free"), cluster_object("small", memory="80Gi"))
    result, _ = run(composite(replicas=2), server)
    details = result.details()
    assert details["unplaced"] == 1
    assert details["replicas"].keys() == {"free/0"}
    assert details["replicas"]["free/0"].startswith("new: ")
    refused = {name: why.partition(":")[0] for name, why in details["refused"][""].items()}
    assert refused == {"free": "NoRoom", "small": "NoDevice"}


def test_a_settled_deployment_has_nothing_to_log() -> None:
    result, _ = run(composite(), Server(cluster_object("free")), replica("free"))
    assert result.details is None
