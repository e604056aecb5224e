"""Nothing of an abandoned cluster is deleted there: its Objects go and orphan what they represent, and it says so."""

from typing import Any

import pytest

from modelplane.preview import ControlPlane
from unit.compose_replica import replicas as given
from unit.compose_replica.test_copies import ALL

LEAVE = ["Observe", "Create", "Update"]
#: Of what all replicas of a team share, which is always left there.
SHARED = {name: ["Observe", "Create"] for name in ("namespace", "network-policy")}
ABANDONED = {"annotations": {"modelplane.ai/abandon": "true"}}
SAID = "InferenceCluster eu-1 is abandoned: what runs there is orphaned when this replica goes"


def policies(body: dict[str, Any], observed: dict[str, Any], **cluster: Any) -> dict[str, Any]:
    desired = given.run(body, observed, cluster=[given.cluster(**cluster)]).desired
    return {name: desired[name].build()["spec"].get("managementPolicies") for name in desired}


CASES: dict[str, dict[str, Any]] = {
    "reachable": {},
    "being deleted": {"deletionTimestamp": "2026-01-01T00:00:00Z"},
    "without a way to it": {"status": {}},
}


@pytest.mark.parametrize("cluster", CASES.values(), ids=CASES)
@pytest.mark.parametrize("body", [ALL, given.replica(given.gang())], ids=["standalone", "gang"])
def test_nothing_of_an_abandoned_cluster_is_removed_from_it(body: dict[str, Any], cluster: dict[str, Any]) -> None:
    observed = given.serving(body)
    looked_at = {name for name, found in observed.items() if found["spec"].get("managementPolicies") == ["Observe"]}
    for name, found in policies(body, observed, **ABANDONED, **cluster).items():
        assert found == (["Observe"] if name in looked_at else SHARED.get(name, LEAVE))
    message = given.condition(
        given.run(body, observed, cluster=[given.cluster(**ABANDONED, **cluster)]), "ModelAccepted"
    ).message
    assert SAID in message


def test_that_a_cluster_is_abandoned_is_reported_before_all_that_it_does_not_answer() -> None:
    observed = given.serving(ALL)
    for name, found in observed.items():
        found["status"]["conditions"] = [given.synced("False", f"cannot observe {name}: connection refused" * 9)]
    message = given.condition(given.run(ALL, observed, cluster=[given.cluster(**ABANDONED)]), "ModelAccepted").message
    assert message.startswith(SAID)
    assert len(message) > 2 * len(SAID)


@pytest.mark.parametrize("value", ["false", "", "True", "yes"])
def test_only_the_word_true_gives_a_cluster_up(value: str) -> None:
    annotated = {"annotations": {"modelplane.ai/abandon": value}}
    observed = given.serving(ALL)
    found = policies(ALL, observed, **annotated)
    assert found == policies(ALL, observed)
    assert {name: each for name, each in found.items() if each and "Delete" not in each} == SHARED


def test_the_reference_to_the_cluster_stays_so_that_its_finalizer_can_go() -> None:
    desired = given.run(given.replica(), cluster=[given.cluster(**ABANDONED)]).desired
    assert desired["httproute"].build()["spec"]["references"][0]["dependsOn"]["name"] == "eu-1"


def test_an_object_that_has_a_reference_to_the_cluster_keeps_it_beside_its_others() -> None:
    observed, cluster = given.serving(ALL), {"dependsOn": {"kind": "InferenceCluster", "name": "eu-1"}}
    earlier = ("deployment-main", "service", "copy-secret-token")
    for name in earlier:
        observed[name]["spec"]["references"] = [cluster]
    desired = given.run(ALL, observed).desired
    found = {name: desired[name].build()["spec"].get("references", []) for name in desired}
    assert [found[name].count(cluster) for name in earlier] == [1, 1, 1]
    assert "patchesFrom" in found["copy-secret-token"][0]
    assert not any("dependsOn" in each for name in found.keys() - {*earlier, "httproute"} for each in found[name])


def given_up() -> dict[str, Any]:
    """Return what is observed of a replica whose cluster is abandoned."""
    observed = given.serving(ALL)
    for name, found in given.run(ALL, observed, cluster=[given.cluster(**ABANDONED)]).desired.items():
        observed[name]["spec"] = found.build()["spec"]
    return observed


@pytest.mark.parametrize("held", [False, True])
def test_a_cluster_that_is_no_longer_given_up_is_cleaned_up_again(held: bool) -> None:
    assert policies(ALL, given_up(), **({"status": {}} if held else {})) == policies(ALL, given.serving(ALL))


ELSEWHERE = given.cluster({"providerConfigRef": {"name": "us-1"}}, name="us-1")


@pytest.mark.parametrize(("name", "cluster"), [("eu-1", []), ("us-1", [ELSEWHERE])])
def test_what_is_orphaned_stays_orphaned_while_its_own_cluster_does_not_say_otherwise(
    name: str, cluster: list[dict[str, Any]]
) -> None:
    body = {**ALL, "spec": {**ALL["spec"], "clusterName": name}}
    desired = given.run(body, given_up(), cluster=cluster).desired
    found = {each: desired[each].build()["spec"].get("managementPolicies") for each in desired}
    assert found == dict.fromkeys(desired, LEAVE) | SHARED


def test_an_abandoned_cluster_goes_when_its_last_replica_does() -> None:
    spec = {"cluster": {"source": "Existing", "existing": {"secretRef": {"name": "k"}}}}
    control = ControlPlane([{**given.cluster(**ABANDONED), "spec": spec}, given.replica()], pipelines=given.alone)
    assert control.settle()
    control.delete("InferenceCluster", None, "eu-1")
    assert control.settle()
    assert control.get("InferenceCluster", None, "eu-1") is not None
    assert all("Delete" not in obj["spec"].get("managementPolicies", ["Delete"]) for obj in control.list("Object"))
    control.delete("ModelReplica", "team", "qwen-0a1b2c3d")
    assert control.settle()
    assert control.list("Object") == []
    assert control.get("InferenceCluster", None, "eu-1") is None
