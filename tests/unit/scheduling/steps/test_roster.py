"""Our own replicas are never lost, whatever their labels say, and no index is given twice."""

from dataclasses import replace

from modelplane.model.fleet import Effect
from modelplane.model.placement import EndCause, FleetView, Schedule
from modelplane.model.replica import Replica
from modelplane.scheduling import schedule
from modelplane.scheduling.steps.roster import build_roster
from unit.scheduling.scene import Scene, cluster, deployment, nodes, places, pool, replica

OURS = deployment(replicas=3)


def indices(*own: Replica) -> dict[str, int]:
    return {each.replica.uid: each.index for each in build_roster(OURS, FleetView(own=own)).members}


def test_the_resource_name_is_the_index_where_the_label_is_missing_or_edited() -> None:
    first, second = replica(OURS, "a/0"), replica(OURS, "a/1")
    for label in (None, 0, 7):
        assert indices(first, replace(second, index=label)) == {first.uid: 0, second.uid: 1}


def test_a_resource_name_that_is_not_ours_is_no_index() -> None:
    for odd in ("replica-a-²", "replica-a-00", "replica-a-" + "9" * 5000, "replica-b-1", "replica-a-"):
        named = replace(replica(OURS, "a/4"), resource=odd)
        assert indices(named) == {named.uid: 4}


def test_an_edited_label_ends_no_replica() -> None:
    own = [replica(OURS, "a/0"), replace(replica(OURS, "a/1"), index=0), replace(replica(OURS, "a/2"), index=None)]
    decided = Scene(nodes(a=3), own).decide(OURS)
    assert (places(decided), decided.ending) == (["a/0", "a/1", "a/2"], ())


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
    assert [(end.replica.uid, end.cause) for end in decided.ending] == [("young", EndCause.DUPLICATE)]


def listed_view(scene: Scene, *listed_only: Replica, listed: frozenset[str] | None = None) -> FleetView:
    """Return a view in which these of our replicas are in the list of the deployment and not among the observed.

    `listed` are the names in the deployment's own status, None before it has any.
    """
    there = tuple(scene.clusters.values())
    own = tuple(scene.replicas.values())
    siblings = (*own, *listed_only)
    residents = {c.name: tuple(r for r in siblings if r.cluster == c.name) for c in there}
    return FleetView(own, {c.name: c for c in there}, there, residents, siblings, listed=listed)


def test_one_of_ours_that_only_a_list_shows_is_composed_again() -> None:
    shown = replica(OURS, "a/2")
    scene = Scene(nodes(a=4), [replica(OURS, "a/0")])
    found = build_roster(OURS, listed_view(scene, shown)).members
    assert [(own.replica.uid, own.listed_only) for own in found] == [("uid-team-model-a-0", False), (shown.uid, True)]


def test_one_that_a_lagging_list_still_shows_is_composed_again_only_if_the_status_lists_it_or_it_serves() -> None:
    idle, serving = replica(OURS, "a/2", serves=False), replica(OURS, "a/2")
    table = [
        (idle, None, True),
        (idle, frozenset({idle.name}), True),
        (idle, frozenset({"another"}), False),
        (idle, frozenset[str](), False),
        (serving, frozenset[str](), True),
    ]
    for shown, listed, again in table:
        roster = build_roster(OURS, listed_view(Scene(nodes(a=4)), shown, listed=listed))
        assert [own.replica for own in roster.members] == [shown] * again, (shown.has_served, listed)
        assert [roster.reserve("a") for _ in range(3)] == [0, 1, 3], "an index is not given again while a list shows it"


def test_no_replica_ends_because_one_that_only_a_list_shows_serves() -> None:
    leaving = replica(OURS, "a/0")
    bare = cluster("a", pool(4), taints=[("gone", Effect.NO_EXECUTE)])
    scene = Scene([bare, *nodes(b=1)], [leaving])
    decided = schedule(replace(OURS, replicas=1), listed_view(scene, replica(OURS, "b/0")))
    assert isinstance(decided, Schedule)
    assert (places(decided), decided.ending) == (["-a/0", "b/0"], ())


def test_a_list_that_shows_the_predecessor_of_an_observed_replica_charges_it_once() -> None:
    now = replica(OURS, "a/0", serves=False)
    before = replace(now, uid="predecessor", created="2024-01-01T00:00:00Z")
    decided = schedule(replace(OURS, replicas=2), listed_view(Scene(nodes(a=1), [now]), before))
    assert isinstance(decided, Schedule)
    assert (places(decided), decided.ending, decided.unplaced) == (["a/0"], (), 1)


def test_one_of_another_owner_or_namespace_is_not_ours() -> None:
    others = replace(replica(OURS, "a/1"), owner="another"), replace(replica(OURS, "a/2"), namespace="other")
    assert build_roster(OURS, listed_view(Scene(nodes(a=4)), *others)).members == []


def test_a_hand_written_replica_belongs_to_no_deployment_without_uid() -> None:
    nameless = replace(OURS, uid="")
    assert build_roster(nameless, listed_view(Scene(nodes(a=4)), replica(None, "a/0"))).members == []


def test_one_of_ours_that_is_being_deleted_only_keeps_its_index() -> None:
    going = replace(replica(OURS, "a/0"), deleting=True)
    roster = build_roster(OURS, listed_view(Scene(nodes(a=4)), going))
    assert roster.members == []
    assert [roster.reserve("a"), roster.reserve("a"), roster.reserve("b")] == [1, 2, 0]
