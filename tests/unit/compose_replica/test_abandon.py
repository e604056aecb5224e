"""A cluster that is given up is left alone: what stands for its objects goes without a word to it, and says so."""

from typing import Any

import pytest

from modelplane.preview import ControlPlane
from modelplane.preview.pipelines import Pipeline, pipeline_of
from unit.compose_replica import replicas as given
from unit.compose_replica.test_copies import ALL

LEAVE = ["Observe", "Create", "Update"]
GIVEN_UP = {"annotations": {"modelplane.ai/abandon": "true"}}
SAID = "InferenceCluster eu-1 is abandoned: what runs there is left behind when this replica goes"


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
    for name, found in policies(body, observed, **GIVEN_UP, **cluster).items():
        assert found == (["Observe"] if name in looked_at else LEAVE)
    message = given.condition(
        given.run(body, observed, cluster=[given.cluster(**GIVEN_UP, **cluster)]), "ModelAccepted"
    ).message
    assert SAID in message


@pytest.mark.parametrize("value", ["false", "", "True", "yes"])
def test_only_the_word_true_gives_a_cluster_up(value: str) -> None:
    annotated = {"annotations": {"modelplane.ai/abandon": value}}
    assert policies(ALL, {}, **annotated) == policies(ALL, {})
    assert {tuple(found or ()) for found in policies(ALL, {}).values()} == {(), tuple(LEAVE)}


def test_the_reference_to_the_cluster_stays_so_that_its_finalizer_can_go() -> None:
    desired = given.run(given.replica(), cluster=[given.cluster(**GIVEN_UP)]).desired
    assert desired["deployment-main"].build()["spec"]["references"][0]["dependsOn"]["name"] == "eu-1"


def test_a_cluster_that_is_no_longer_given_up_is_cleaned_up_again() -> None:
    observed = given.serving(given.replica())
    for name, found in given.run(given.replica(), observed, cluster=[given.cluster(**GIVEN_UP)]).desired.items():
        observed[name]["spec"] = found.build()["spec"]
    assert policies(given.replica(), observed) == policies(given.replica(), {})


def _replicas_only(kind: str) -> Pipeline | None:
    return pipeline_of(kind) if kind == "ModelReplica.modelplane.ai" else None


def test_an_abandoned_cluster_goes_when_its_last_replica_does() -> None:
    spec = {"cluster": {"source": "Existing", "existing": {"secretRef": {"name": "k"}}}}
    control = ControlPlane([{**given.cluster(**GIVEN_UP), "spec": spec}, given.replica()], pipelines=_replicas_only)
    assert control.settle()
    control.delete("InferenceCluster", None, "eu-1")
    assert control.settle()
    assert control.get("InferenceCluster", None, "eu-1") is not None
    assert all("Delete" not in obj["spec"].get("managementPolicies", ["Delete"]) for obj in control.list("Object"))
    control.delete("ModelReplica", "team", "qwen-0a1b2c3d")
    assert control.settle()
    assert control.list("Object") == []
    assert control.get("InferenceCluster", None, "eu-1") is None
