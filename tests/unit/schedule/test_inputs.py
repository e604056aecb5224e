"""What a pass fetches in each situation: by name first, by label second, and never the fleet without need."""

from typing import Any

import pytest

from modelplane.model.names import LABEL_DEPLOYMENT
from modelplane.schedule import STEPS
from modelplane.step import AWAITING, SETTLED, Object, Request
from unit.schedule.objects import Server, cache, cluster, deployment, replica, run

EU: dict[str, Any] = {"clusterSelector": {"matchLabels": {"region": "eu"}}}


def fleet(size: int) -> list[Object]:
    clusters = [cluster(f"c{index:03}", nodes=2) for index in range(size)]
    return clusters + [replica(f"c{index:03}", owner=f"other{index}") for index in range(size)]


@pytest.mark.proves("R1")
@pytest.mark.parametrize("size", [3, 100])
def test_a_settled_deployment_fetches_only_its_clusters_by_name_whatever_the_fleet(size: int) -> None:
    server, own = Server(*fleet(size)), [replica("c000"), replica("c001")]
    result, calls = run(deployment(replicas=2, **EU), server, *own)
    assert (server.asked, calls, result.ttl) == ({"cluster-c000": 1, "cluster-c001": 1}, 2, SETTLED)


class _Unread(Object):
    """A replica that must not be read."""

    @property
    def kind(self) -> str:
        raise AssertionError("it was read")


def test_the_first_call_reads_no_replica_to_know_which_clusters_it_asks_for() -> None:
    observed = {f"replica-c000-{index}": _Unread({}, index) for index in range(2)}
    result = STEPS["ModelDeployment"](Request(deployment(replicas=2, **EU), observed=observed))
    assert ([wanted.name for wanted in result.requirements], result.fatal) == (["cluster-c000"], None)


def residents(server: Server) -> list[str]:
    return sorted(name.removeprefix("residents-") for name in server.asked if name.startswith("residents-"))


@pytest.mark.proves("R1")
@pytest.mark.parametrize("size", [30, 100])
def test_a_deployment_with_something_to_place_reads_the_replicas_of_a_few_clusters_whatever_the_fleet(
    size: int,
) -> None:
    server = Server(*fleet(size))
    result, calls = run(deployment(**EU), server)
    read = residents(server)
    assert len(read) == 9
    assert server.asked == {"siblings": 0} | {f"cluster-{name}": 1 for name in read} | {
        f"residents-{name}": 1 for name in read
    }
    assert (calls, result.ttl) == (3, AWAITING)
    assert next(placed["cluster"] for placed in result.status["placements"]) in read


def full(name: str, *, told: bool) -> list[Object]:
    """Return a cluster of one node that is taken, and says so or still says that it is free, with its replica."""
    status = {"replicas": 1 if told else 0}
    published = cluster(name, status=status)
    (entry,) = published.body["status"]["gpuPools"]
    entry["charged"] = "1*1x8" if told else ""
    return [published, replica(name, owner="other")]


def free(name: str) -> Object:
    published = cluster(name)
    published.body["status"]["gpuPools"][0]["charged"] = ""
    return published


@pytest.mark.proves("R6")
def test_only_clusters_that_say_they_have_room_are_read_and_one_that_names_what_none_has() -> None:
    fleet = [obj for number in range(20) for obj in full(f"full-{number:02}", told=True)]
    server = Server(*fleet, free("free"))
    result, calls = run(deployment(**EU), server)
    assert ([placed["cluster"] for placed in result.status["placements"]], residents(server)) == (["free"], ["free"])
    assert calls == 3
    server = Server(*fleet)
    result, _ = run(deployment(**EU), server)
    assert (result.status["placements"], residents(server)) == ([], ["full-00"])
    assert set(server.asked) == {"candidates", "siblings", "residents-full-00"}


@pytest.mark.proves("R2")
def test_where_the_chosen_and_the_spare_clusters_turn_out_full_the_next_are_read_in_the_same_pass() -> None:
    stale = [obj for number in range(12) for obj in full(f"stale-{number:02}", told=False)]
    server = Server(*stale, *(free(f"small-{number}") for number in range(3)))
    result, calls = run(deployment(**EU), server)
    assert [placed["cluster"][:5] for placed in result.status["placements"]] == ["small"]
    assert calls <= 6


@pytest.mark.proves("R2")
def test_a_cluster_that_was_not_read_by_the_last_call_is_not_chosen_and_the_next_pass_comes_soon() -> None:
    stale = [obj for number in range(150) for obj in full(f"stale-{number:02}", told=False)]
    server = Server(*stale)
    result, calls = run(deployment(**EU), server)
    assert (result.status["placements"], calls, result.ttl) == ([], 6, AWAITING)
    assert "not checked in this pass" in next(
        each.message for each in result.conditions if each.type == "ReplicasScheduled"
    )


@pytest.mark.proves("R4")
def test_an_unpublished_cluster_is_read_before_it_is_chosen_and_comes_after_those_that_say_they_have_room() -> None:
    server = Server(*(cluster(f"silent-{number}") for number in range(12)), free("told"))
    result, _ = run(deployment(**EU), server)
    assert [placed["cluster"] for placed in result.status["placements"]] == ["told"]
    server = Server(cluster("silent"), replica("silent", owner="other"))
    result, _ = run(deployment(**EU), server)
    assert (result.status["placements"], residents(server)) == ([], ["silent"])


def test_candidates_are_asked_for_by_the_labels_of_the_selector_and_of_the_cache() -> None:
    staged = cache(spec={"clusterSelector": {"matchLabels": {"tier": "a"}}}, status={"clusters": []})
    both = cluster("both", metadata={"labels": {"region": "eu", "tier": "a"}})
    server = Server(*fleet(3), staged, both)
    result, _ = run(deployment(modelCacheRef={"name": "weights"}, **EU), server)
    assert residents(server) == ["both"]
    assert [placed["cluster"] for placed in result.status["placements"]] == ["both"]


def test_the_namespace_is_asked_for_only_where_a_candidate_selects_namespaces() -> None:
    selective = {"allowedNamespaces": {"from": "Selector", "selector": {"matchLabels": {"tier": "gold"}}}}
    metadata = {"name": "ml", "labels": {"tier": "gold"}}
    team = Object({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}, "ml")
    server = Server(*fleet(3), cluster("gold", nodes=2, spec=selective, metadata={"labels": {"region": "gold"}}), team)
    result, _ = run(deployment(clusterSelector={"matchLabels": {"region": "gold"}}), server)
    assert (server.asked["namespace-ml"], result.status["unplaced"]) == (1, 0)
    run(deployment(**EU), server)
    assert "namespace-ml" not in server.asked


def test_the_namespace_stays_asked_for_where_the_chosen_clusters_select_none() -> None:
    selective = {"allowedNamespaces": {"from": "Selector", "selector": {"matchLabels": {"tier": "gold"}}}}
    server = Server(cluster("gold", spec=selective), *(free(f"free-{number}") for number in range(3)))
    result, calls = run(deployment(), server)
    assert ([placed["cluster"][:4] for placed in result.status["placements"]], calls) == (["free"], 4)
    assert {"namespace-ml"} < set(server.asked)
    assert "candidates" not in server.asked


def test_a_pass_decides_within_six_calls_where_a_listed_sibling_and_a_namespace_are_asked_for_between() -> None:
    selective = {"allowedNamespaces": {"from": "Selector", "selector": {"matchLabels": {"tier": "gold"}}}}
    labels = {"modelplane.ai/cluster": "gold", LABEL_DEPLOYMENT: "qwen"}
    listed = replica("gold", metadata={"labels": labels})
    server = Server(*full("stale", told=False), cluster("gold", nodes=0, spec=selective), listed)
    result, _ = run(deployment(), server)
    assert [placed["cluster"] for placed in result.status["placements"]] == ["gold"]


@pytest.mark.proves("R8")
def test_selectors_that_contradict_each_other_match_nothing_and_fetch_no_cluster() -> None:
    staged = cache(spec={"clusterSelector": {"matchLabels": {"region": "us"}}}, status={"clusters": []})
    server = Server(*fleet(3), staged)
    result, _ = run(deployment(modelCacheRef={"name": "weights"}, **EU), server)
    assert "candidates" not in server.asked
    assert result.conditions[0].reason == "NoClusters"


def test_a_replica_that_does_not_serve_yet_is_checked_against_the_replicas_of_its_cluster_alone() -> None:
    server = Server(*fleet(50))
    own = replica("c000", served=False)
    run(deployment(**EU), Server(*server.objects, own), own)
    asked = Server(*server.objects, own)
    run(deployment(**EU), asked, own)
    assert set(asked.asked) == {"cluster-c000", "residents-c000"}
    assert asked.asked["residents-c000"] == 2


def test_nothing_is_fetched_for_a_deployment_that_is_parked() -> None:
    server = Server(*fleet(5))
    result, _ = run(deployment(replicas=0), server)
    assert server.asked == {}
    assert [(c.type, c.reason) for c in result.conditions] == [
        ("ReplicasScheduled", "ScaledToZero"),
        ("ReplicasReady", "ScaledToZero"),
        ("RolloutProgressing", "RolloutComplete"),
        ("PlacementDrifted", "AsAsked"),
        ("ModelCacheResolved", "NotRequired"),
        ("ModelResolved", "NotRequired"),
    ]
