"""Whatever happens to a replica's inputs, what it runs stays exactly as it is, and the reason is given."""

from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.model.conditions import Status
from modelplane.step import AWAITING
from unit.compose_replica import replicas as given

#: Reasons of ClusterReady with which a cluster is not the one that it is said to be.
MISTAKEN = ("IdentityChanged", "DuplicateCluster", "OtherInstallation")


def _mistaken(reason: str) -> dict[str, Any]:
    row = {"type": "ClusterReady", "status": "False", "reason": reason, "message": "it is another one"}
    return given.cluster({"providerConfigRef": {"name": given.CLUSTER}, "conditions": [row]})


OUT_OF_REACH = {
    "not fetched yet": (None, "is not fetched yet"),
    "absent": ([], "does not exist"),
    "without status": (
        [given.cluster({})],
        "is not reached yet, its status.providerConfigRef is empty. See its condition ClusterReady.",
    ),
    "half-written": (
        [given.cluster({"providerConfigRef": {}})],
        "is not reached yet, its status.providerConfigRef is empty. See its condition ClusterReady.",
    ),
    "malformed reference": ([given.cluster({"providerConfigRef": "eu-1"})], "names no config"),
    "malformed name": ([given.cluster({"providerConfigRef": {"name": 7}})], "names no config"),
    "malformed status": (
        [given.cluster("none")],
        "is not reached yet, its status.providerConfigRef is empty. See its condition ClusterReady.",
    ),
    **{reason: ([_mistaken(reason)], "accepts no new replicas: it is another one") for reason in MISTAKEN},
    "deleted": ([given.cluster(deletionTimestamp="2026-01-01T00:00:00Z")], "is being deleted"),
}


def without_policies(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec of a resource without its policies, of which `test_foreign_cluster.py` has the rules."""
    return {field: value for field, value in body["spec"].items() if field != "managementPolicies"}


@pytest.mark.parametrize(("cluster", "words"), OUT_OF_REACH.values(), ids=OUT_OF_REACH)
def test_a_cluster_out_of_reach_changes_nothing_of_a_serving_replica(cluster: Any, words: str) -> None:
    body = given.replica(status={"served": True, "servedEngines": [given.engine()]})
    observed = given.serving(body)
    result = given.run(body, observed, cluster=cluster)
    assert {name: without_policies(desired.build()) for name, desired in result.desired.items()} == {
        name: without_policies(found) for name, found in observed.items()
    }
    accepted, ready = given.condition(result, "ModelAccepted"), given.condition(result, "ModelReady")
    assert (accepted.status, accepted.reason) == (Status.FALSE, "WaitingForCluster")
    assert words in accepted.message
    assert "Existing resources are unchanged" in accepted.message
    assert (ready.status, ready.reason) == (Status.TRUE, "Serving")
    assert result.ready is True
    assert result.status is not None
    assert result.status["served"] is True
    assert result.status["servedEngines"] == [given.engine()]


@pytest.mark.parametrize(("cluster", "words"), OUT_OF_REACH.values(), ids=OUT_OF_REACH)
def test_a_new_replica_waits_for_a_cluster_out_of_reach(cluster: Any, words: str) -> None:
    result = given.run(given.replica(), cluster=cluster)
    assert result.desired == {}
    assert result.ready is False
    assert result.ttl == AWAITING
    assert words in given.condition(result, "ModelAccepted").message
    assert given.condition(result, "ModelReady").reason == "WaitingForModel"


def test_the_cluster_is_asked_for_by_name_whatever_its_state() -> None:
    for cluster in (None, [], [given.cluster()]):
        (asked,) = given.run(given.replica(), cluster=cluster).requirements
        assert (asked.kind, asked.match_name, asked.namespace) == ("InferenceCluster", "eu-1", None)


MALFORMED = {
    "no spec": (None, "spec"),
    "no engines": ({"clusterName": "eu-1"}, "spec.engines"),
    "empty engines": ({"clusterName": "eu-1", "engines": []}, "spec.engines"),
    "no cluster": ({"engines": [given.engine()]}, "spec.clusterName"),
    "no members": ({"clusterName": "eu-1", "engines": [given.engine(members=[])]}, "engines[main].members"),
    "no template": (
        {"clusterName": "eu-1", "engines": [given.engine(members=[{"nodePoolName": "l4"}])]},
        "spec.engines[0].members[0].template",
    ),
    "no container": (
        {"clusterName": "eu-1", "engines": [given.engine(members=[given.member(template={})])]},
        "engines[main].members[0].template.spec.containers",
    ),
    "copies as text": ({"clusterName": "eu-1", "engines": [given.engine(copies="2")]}, "spec.engines[0].copies"),
}


@pytest.mark.parametrize(("spec", "field"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_spec_keeps_what_runs_and_names_the_field(spec: Any, field: str) -> None:
    observed = given.serving(given.replica())
    result = given.run(given.replica(spec=spec, status={"served": True, "endpoint": "host"}), observed)
    assert result.desired.keys() == observed.keys()
    assert field in given.condition(result, "ModelAccepted").message
    assert result.ready is True
    assert result.status is not None
    assert (result.status["served"], result.status["endpoint"]) == (True, "host")


NOT_YET = {
    "half a pair": (
        {"serving": {"mode": "PrefillDecode"}, "engines": [given.engine(phase="Prefill")]},
        "InvalidEngine",
        "spec.engines: found phases Prefill, serving.mode PrefillDecode needs two engines",
    ),
    "a leader alone": (
        {"engines": [given.engine(members=[given.member(role="Leader")])]},
        "InvalidEngine",
        "spec.engines[main].members: found Leader, an engine needs one Standalone",
    ),
    "cache": ({"modelCacheRef": {"name": "weights"}, "engines": [given.engine()]}, "WaitingForCache", "weights"),
}


@pytest.mark.parametrize(("spec", "reason", "words"), NOT_YET.values(), ids=NOT_YET)
def test_what_cannot_be_composed_is_reported_and_takes_nothing_away(
    spec: dict[str, Any], reason: str, words: str
) -> None:
    observed = given.serving(given.replica())
    for found in ({}, observed):
        result = given.run(given.replica(spec={"clusterName": "eu-1", **spec}), found, cache=[])
        accepted = given.condition(result, "ModelAccepted")
        assert result.desired.keys() == found.keys()
        assert (accepted.status, accepted.reason) == (Status.FALSE, reason)
        assert words in accepted.message
        assert result.ready is bool(found)


@pytest.mark.proves("P139")
def test_a_replica_that_runs_elsewhere_is_not_moved_by_an_edit() -> None:
    observed = given.serving(given.replica())
    moved = given.replica(spec={"clusterName": "us-1", "engines": [given.engine()]})
    there = given.cluster({"providerConfigRef": {"name": "us-1"}})
    result = given.run(moved, observed, cluster=[there])
    assert {d.build()["spec"]["providerConfigRef"]["name"] for d in result.desired.values()} == {"eu-1"}
    assert "runs on eu-1 and cannot move" in given.condition(result, "ModelAccepted").message


def test_what_is_held_keeps_the_annotations_that_were_composed_and_its_external_name() -> None:
    body = given.replica()
    observed = given.serving(body)
    composed = dict(observed["deployment-main"]["metadata"]["annotations"])
    assert composed
    external = {"crossplane.io/external-name": "x"}
    theirs = {"crossplane.io/composition-resource-name": "deployment-main"}
    observed["deployment-main"]["metadata"] |= {"annotations": composed | external | theirs, "uid": "u"}
    held = given.run(body, observed, cluster=[]).desired["deployment-main"].build()["metadata"]
    assert (held["annotations"], "uid" in held) == (composed | external, False)
