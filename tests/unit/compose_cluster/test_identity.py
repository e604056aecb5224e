"""An InferenceCluster is one cluster, known by the uid of its Namespace kube-system, and no two are the same one."""

from typing import Any

import pytest

from modelplane.compose_cluster.gateway_kinds import APIS
from modelplane.model.conditions import Status
from modelplane.observed.cluster import read_cluster
from modelplane.step import Result
from unit.compose_cluster import clusters as given


def reached(uid: str = "uid-1") -> dict[str, Any]:
    return given.reached(**{"kube-system": given.looking("Namespace", {"metadata": {"uid": uid}})})


def before(uid: str = "uid-1") -> dict[str, Any]:
    pools = [{"name": "l4", "nodes": 2, "devices": [given.L4]}]
    return given.cluster(status={"clusterUID": uid, "gpuPools": pools, "conditions": []})


def marked(name: str, created: str = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    labels = {"modelplane.ai/cluster-uid": "uid-1"}
    metadata = {"name": name, "labels": labels, "creationTimestamp": created}
    return {"apiVersion": "kubernetes.m.crossplane.io/v1alpha1", "kind": "ClusterProviderConfig", "metadata": metadata}


def is_placed_on(result: Result, body: dict[str, Any]) -> bool:
    """Tell whether the scheduler places on a cluster with the conditions and status of a result."""
    conditions = [{"type": each.type, "status": each.status, "reason": each.reason} for each in result.conditions]
    conditions.append({"type": "Ready", "status": "True" if result.ready else "False"})
    return read_cluster(given.obj(body | {"status": {**given.status(result), "conditions": conditions}})).ready


def test_the_uid_of_a_cluster_is_published_once_it_was_seen_and_its_provider_config_is_marked_with_it() -> None:
    result = given.run(given.cluster(), reached(), same_cluster=[])
    assert given.status(result)["clusterUID"] == "uid-1"
    labels = given.bodies(result)["provider-config"]["metadata"]["labels"]
    assert labels == {"modelplane.ai/cluster-uid": "uid-1"}
    assert given.condition(result, "ClusterReady").status is Status.TRUE
    wanted = next(each for each in result.requirements if each.name == "same-cluster")
    assert (wanted.kind, dict(wanted.match_labels)) == ("ClusterProviderConfig", labels)


def test_a_cluster_that_was_not_seen_yet_has_no_uid_and_asks_for_no_other() -> None:
    result = given.run(given.cluster(), given.reached())
    assert "clusterUID" not in given.status(result)
    assert "same-cluster" not in {each.name for each in result.requirements}


def test_a_kubeconfig_that_leads_to_another_cluster_takes_nothing_new_and_says_so() -> None:
    result = given.run(before(), reached("uid-2"), same_cluster=[])
    found = given.condition(result, "ClusterReady")
    assert (found.status, found.reason) == (Status.FALSE, "IdentityChanged")
    assert "is uid-2, and was uid-1. Correct the kubeconfig's Secret" in found.message
    assert not is_placed_on(result, given.cluster())
    # What is published is the cluster that the replicas were placed on, and what exists stays composed.
    assert given.status(result)["clusterUID"] == "uid-1"
    assert given.bodies(result).keys() >= reached().keys()
    back = given.run(before(), reached("uid-1"), same_cluster=[])
    assert given.condition(back, "ClusterReady").status is Status.TRUE


def test_what_runs_on_a_cluster_that_is_another_one_is_not_known() -> None:
    conditions = [{"type": "ClusterReady", "status": "False", "reason": "IdentityChanged"}]
    assert not read_cluster(given.obj(given.cluster(status={"conditions": conditions}))).answers


def test_of_two_that_reach_one_cluster_the_first_is_placed_on_and_the_other_names_it() -> None:
    others = [marked("eu-0"), marked("eu-1", created="2026-01-02T00:00:00Z")]
    second = given.run(given.cluster(), reached(), same_cluster=others)
    found = given.condition(second, "ClusterReady")
    assert (found.status, found.reason) == (Status.FALSE, "DuplicateCluster")
    assert found.message.startswith("InferenceCluster eu-0 has this cluster already")
    assert not is_placed_on(second, given.cluster())
    shared = given.cluster()
    shared["metadata"]["annotations"] = {"modelplane.ai/shares-cluster": "true"}
    assert given.condition(given.run(shared, reached(), same_cluster=others), "ClusterReady").status is Status.TRUE
    first = given.run(given.cluster(), reached(), same_cluster=[marked("eu-1"), marked("eu-2")])
    assert given.condition(first, "ClusterReady").status is Status.TRUE


def test_a_uid_belongs_to_whoever_published_it_first_and_not_to_an_older_one_that_answers_later() -> None:
    younger = [marked("eu-9", created="2026-02-01T00:00:00Z")]
    late = given.run(given.cluster(), reached(), same_cluster=younger)
    assert given.condition(late, "ClusterReady").reason == "DuplicateCluster"
    # It has neither published the uid nor marked its config, so that the younger one never hears of it.
    assert "clusterUID" not in given.status(late)
    assert "labels" not in given.bodies(late)["provider-config"]["metadata"]
    freed = given.run(given.cluster(), reached(), same_cluster=[])
    assert given.status(freed)["clusterUID"] == "uid-1"
    unknown = given.run(given.cluster(), reached(), same_cluster=None)
    assert "clusterUID" not in given.status(unknown)


def test_one_that_shares_a_cluster_publishes_its_uid_and_does_not_take_the_mark() -> None:
    shared = given.cluster()
    shared["metadata"]["annotations"] = {"modelplane.ai/shares-cluster": "true"}
    result = given.run(shared, reached(), same_cluster=[marked("eu-9", created="2026-02-01T00:00:00Z")])
    assert given.condition(result, "ClusterReady").status is Status.TRUE
    assert given.status(result)["clusterUID"] == "uid-1"
    labels = given.bodies(result)["provider-config"]["metadata"]["labels"]
    assert labels == {"modelplane.ai/shares-cluster-uid": "uid-1"}


@pytest.mark.parametrize("others", [[marked("eu-1"), marked("eu-0")], [], None])
def test_a_mark_that_was_made_stays(others: list[dict[str, Any]] | None) -> None:
    result = given.run(before(), reached(), same_cluster=others)
    assert given.bodies(result)["provider-config"]["metadata"]["labels"] == {"modelplane.ai/cluster-uid": "uid-1"}


def test_a_cluster_that_claims_to_be_another_keeps_its_own_mark() -> None:
    others = [marked("eu-9")]
    result = given.run(before("uid-0"), reached(), same_cluster=others)
    assert given.condition(result, "ClusterReady").reason == "IdentityChanged"
    assert given.bodies(result)["provider-config"]["metadata"]["labels"] == {"modelplane.ai/cluster-uid": "uid-0"}


def test_another_cluster_that_does_not_answer_stays_another_cluster_and_says_both() -> None:
    lost = reached("uid-2") | {
        "kube-system": given.looking("Namespace", {"metadata": {"uid": "uid-2"}}, "dial tcp: connection refused")
    }
    found = given.condition(given.run(before(), lost, same_cluster=[]), "ClusterReady")
    assert found.reason == "IdentityChanged", "as Unreachable its replicas would write there once it answers"
    assert "the kubeconfig leads to another cluster than before" in found.message
    assert "connection refused" in found.message


def test_a_cluster_that_does_not_answer_says_so_whoever_has_it() -> None:
    lost = reached() | {
        "kube-system": given.looking("Namespace", {"metadata": {"uid": "uid-1"}}, "dial tcp: connection refused")
    }
    found = given.condition(given.run(before(), lost, same_cluster=[marked("eu-0")]), "ClusterReady")
    assert found.reason == "Unreachable"


def test_the_second_of_two_that_reach_one_cluster_makes_no_gateway_there_nor_takes_the_firsts() -> None:
    absent = given.looking("Gateway", None, "external resource does not exist")
    served = {name: given.looking("APIService", {"metadata": {}}) for name in APIS}
    others = [marked("eu-0"), marked("eu-1", created="2026-01-02T00:00:00Z")]
    trusted = [{"kind": "InferenceGateway", "metadata": {"name": "default"}, "status": {"caBundle": "PEM"}}]

    def made(observed: dict[str, Any]) -> list[str]:
        seen = observed | {"gateway": absent, **served}
        result = given.run(given.cluster(), seen, same_cluster=others, gateway=trusted)
        return [name for name in result.desired if name.startswith("gateway-part-")]

    unseen = given.reached(**{"kube-system": given.looking("Namespace", None)})
    assert made(reached()) == []
    assert made(unseen) == []
    seen = reached() | {"gateway": absent, **served}
    first = given.run(given.cluster(), seen, same_cluster=[marked("eu-1")], gateway=trusted)
    assert [name for name in first.desired if name.startswith("gateway-part-")]
