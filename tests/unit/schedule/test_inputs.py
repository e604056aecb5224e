"""What a pass fetches in each situation: by name first, by label second, and never the fleet without need."""

from typing import Any

import pytest

from modelplane.schedule import STEPS
from modelplane.step import AWAITING, SETTLED, Object, Request
from unit.schedule.objects import Server, cache, cluster, deployment, replica, run

EU: dict[str, Any] = {"clusterSelector": {"matchLabels": {"region": "eu"}}}


def fleet(size: int) -> list[Object]:
    clusters = [cluster(f"c{index:03}", nodes=2) for index in range(size)]
    return clusters + [replica(f"c{index:03}", owner=f"other{index}") for index in range(size)]


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


def test_a_deployment_with_something_to_place_fetches_candidates_and_the_fleets_replicas() -> None:
    server = Server(*fleet(5))
    result, calls = run(deployment(**EU), server)
    assert server.asked == {"candidates": 5, "fleet": 5}
    assert calls <= 3
    assert result.ttl == AWAITING


def test_candidates_are_asked_for_by_the_labels_of_the_selector_and_of_the_cache() -> None:
    staged = cache(spec={"clusterSelector": {"matchLabels": {"tier": "a"}}}, status={"clusters": []})
    both = cluster("both", metadata={"labels": {"region": "eu", "tier": "a"}})
    server = Server(*fleet(3), staged, both)
    result, _ = run(deployment(modelCacheRef={"name": "weights"}, **EU), server)
    assert server.asked["candidates"] == 1
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
