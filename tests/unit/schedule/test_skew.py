"""While the Configuration is of another version nothing is placed or rolled out, and what exists is kept."""

from typing import Any

from modelplane import __version__
from modelplane.composing.placement_message import read_placements
from modelplane.model.placement import Stamp
from modelplane.step import Object, Request
from unit.schedule.objects import Server, cluster, deployment, member, replica, run


def placed(composite: Object, *observed: Object, version: str, clusters: tuple[Object, ...]) -> tuple[Any, Any]:
    """Return the result and the placements of a pass by a Composition that states a version."""
    result, _ = run(composite, Server(*clusters, *observed), *observed, version=version)
    return result, read_placements(Request(composite, context=result.context))


def names(found: Any) -> list[str]:
    return sorted(each.name for each in found)


def condition(result: Any, kind: str) -> Any:
    return next(each for each in result.conditions if each.type == kind)


def test_nothing_new_is_placed_and_the_condition_says_where_to_look() -> None:
    result, found = placed(deployment(replicas=2), version="9.9.9", clusters=(cluster("a", 3),))
    scheduled = condition(result, "ReplicasScheduled")
    assert found == ()
    assert scheduled.status == "False"
    assert scheduled.message == "0 of 2 replicas scheduled: nothing new is placed, see condition VersionsMatch"
    _, same = placed(deployment(replicas=2), version=__version__, clusters=(cluster("a", 3),))
    assert len(same) == 2


def test_an_edit_is_not_rolled_out_and_what_serves_is_kept() -> None:
    edited = member(template={"spec": {"containers": [{"name": "engine", "image": "vllm:2"}]}})
    composite = deployment(engines=[{"name": "main", "members": [edited]}])
    there = replica("a")
    _, kept = placed(composite, there, version="9.9.9", clusters=(cluster("a", 3),))
    assert [(each.name, each.stamp) for each in kept] == [(there.name, Stamp.HOLD)]
    _, rolled = placed(composite, there, version=__version__, clusters=(cluster("a", 3),))
    assert len(rolled) == 2


def test_a_scale_down_is_carried_out_all_the_same() -> None:
    there = (replica("a", 0, served=False), replica("a", 1, served=False))
    _, found = placed(deployment(replicas=1), *there, version="9.9.9", clusters=(cluster("a", 3),))
    assert len(found) == 1


def test_a_replica_that_would_be_placed_anew_elsewhere_stays() -> None:
    there = replica("gone")
    _, found = placed(deployment(), there, version="9.9.9", clusters=(cluster("a", 3),))
    assert names(found) == [there.name]
