"""What a deployment says to do about replicas that wait for room or have drifted fits what it asks for."""

from typing import Any

import pytest

from modelplane.model.conditions import Condition
from unit.schedule.objects import Server, cluster, deployment, replica, run

IN_PLACE = "allow spec.rollout.maxUnavailable to change them where they stand"
NO_CLUSTER = "no cluster carries the labels of spec.clusterSelector: label one, or correct the selector"
FULL = "no cluster has room for another replica beside the ones that serve: free one"
MARS = {"clusterSelector": {"matchLabels": {"region": "mars"}}}
FOLLOW = {**MARS, "rollout": {"followSelectors": True}}


def reported(kind: str, **spec: Any) -> Condition:
    """Return a condition of a deployment with a replica that serves on the full cluster `a`."""
    own = replica("a")
    on_mars = [cluster("b", nodes=0, metadata={"labels": {"region": "mars"}})] if spec.pop("mars", False) else []
    result, _ = run(deployment(**spec), Server(cluster("a"), *on_mars, own), own)
    found: Condition = next(condition for condition in result.conditions if condition.type == kind)
    return found


DRIFTED: dict[str, tuple[dict[str, Any], str]] = {
    "they are not followed": (MARS, "; they stay until spec.rollout.followSelectors is true"),
    "no cluster is left": (FOLLOW, f"; they stay: {NO_CLUSTER}"),
    "no cluster has room": ({**FOLLOW, "mars": True}, "; each moves once a cluster that is allowed has room for it"),
}


@pytest.mark.parametrize(("spec", "remedy"), DRIFTED.values(), ids=DRIFTED)
def test_a_replica_that_has_drifted_is_shown_what_would_move_it(spec: dict[str, Any], remedy: str) -> None:
    assert remedy in reported("PlacementDrifted", **spec).message


@pytest.mark.parametrize(("mars", "lacking"), [(True, FULL), (False, NO_CLUSTER)])
def test_what_only_a_new_replica_can_replace_is_not_promised_a_change_where_it_stands(mars: bool, lacking: str) -> None:
    found = reported("RolloutProgressing", mars=mars, **FOLLOW)
    assert (found.reason, lacking in found.message, IN_PLACE in found.message) == ("WaitingForRoom", True, False)


def test_what_can_change_where_it_stands_is_shown_the_budget_for_that() -> None:
    found = reported("RolloutProgressing", modelCacheRef=None, serving={"mode": "PrefillDecode"})
    assert (found.reason, IN_PLACE in found.message) == ("WaitingForRoom", True)
