"""Our own replicas are never lost, whatever their labels say, and no index is given twice."""

from dataclasses import replace

from modelplane.model.placement import EndCause, View
from modelplane.model.replica import Replica
from modelplane.scheduling.roster import muster
from unit.scheduling.scene import Scene, deployment, nodes, places, replica

OURS = deployment(replicas=3)


def indices(*own: Replica) -> dict[str, int]:
    return {each.replica.uid: each.index for each in muster(OURS, View(own=own)).crew}


def test_the_resource_name_is_the_index_where_the_label_is_missing_or_edited() -> None:
    first, second = replica(OURS, "a/0"), replica(OURS, "a/1")
    for label in (None, 0, 7):
        assert indices(first, replace(second, index=label)) == {first.uid: 0, second.uid: 1}


def test_a_resource_name_that_is_not_ours_is_no_index() -> None:
    for odd in ("replica-a-²", "replica-a-00", "replica-a-" + "9" * 5000, "replica-b-1", "replica-a-"):
        named = replace(replica(OURS, "a/4"), resource=odd)
        assert indices(named) == {named.uid: 4}


def test_an_edited_label_ends_nobody() -> None:
    own = [replica(OURS, "a/0"), replace(replica(OURS, "a/1"), index=0), replace(replica(OURS, "a/2"), index=None)]
    decided = Scene(nodes(a=3), own).decide(OURS)
    assert (places(decided), decided.ended) == (["a/0", "a/1", "a/2"], ())


def test_the_label_counts_where_the_resource_name_says_nothing() -> None:
    named = replace(replica(OURS, "a/4"), resource="serving")
    assert indices(named) == {named.uid: 4}


def test_without_either_a_replica_gets_a_free_index_of_its_cluster() -> None:
    first = replica(OURS, "a/0")
    bare = replace(replica(OURS, "a/9"), resource="serving", index=None)
    assert indices(bare, first) == {first.uid: 0, bare.uid: 1}


def test_of_two_with_one_cluster_and_index_the_older_stays() -> None:
    older, younger = replica(OURS, "a/0", age=5), replace(replica(OURS, "a/0", age=1), uid="young", resource="other")
    decided = Scene(nodes(a=4), [younger, older]).decide(replace(OURS, replicas=1))
    assert places(decided) == ["a/0"]
    assert [(end.replica.uid, end.cause) for end in decided.ended] == [("young", EndCause.DUPLICATE)]


def stray_view(scene: Scene, *strays: Replica) -> View:
    """Return a view in which these of our replicas are in the fleet list and not among the observed."""
    there = tuple(scene.clusters.values())
    own = tuple(scene.replicas.values())
    return View(own, {c.name: c for c in there}, there, fleet=(*own, *strays))


def test_one_of_ours_that_only_the_fleet_list_shows_is_composed_again() -> None:
    stray = replica(OURS, "a/2")
    scene = Scene(nodes(a=4), [replica(OURS, "a/0")])
    found = muster(OURS, stray_view(scene, stray)).crew
    assert [(own.replica.uid, own.stray) for own in found] == [("uid-team-model-a-0", False), (stray.uid, True)]


def test_one_of_another_owner_or_namespace_is_not_ours() -> None:
    others = replace(replica(OURS, "a/1"), owner="somebody"), replace(replica(OURS, "a/2"), namespace="other")
    assert muster(OURS, stray_view(Scene(nodes(a=4)), *others)).crew == []


def test_a_hand_written_replica_belongs_to_no_deployment_without_uid() -> None:
    nameless = replace(OURS, uid="")
    assert muster(nameless, stray_view(Scene(nodes(a=4)), replica(None, "a/0"))).crew == []


def test_one_of_ours_that_is_being_deleted_only_keeps_its_index() -> None:
    going = replace(replica(OURS, "a/0"), deleting=True)
    roster = muster(OURS, stray_view(Scene(nodes(a=4)), going))
    assert roster.crew == []
    assert [roster.reserve("a"), roster.reserve("a"), roster.reserve("b")] == [1, 2, 0]
