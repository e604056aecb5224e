"""A replica that was stored before a bound was added keeps what it has, and says which field is too large."""

from typing import Any

import pytest

from modelplane.model.conditions import Status
from unit.compose_replica import replicas as given

MANY = [{"name": f"V{number}", "value": "x"} for number in range(10_000)]
TEMPLATE = "spec.engines[main].members[0].template"
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "a word of 1.3 MB": (
        {"containers": [given.container(args=["x" * 1_300_000])]},
        f"{TEMPLATE}.spec.containers[0].args[0]: has 1300000 characters, and at most 65536 are allowed",
    ),
    "ten thousand variables": (
        {"containers": [given.container(env=MANY)]},
        f"{TEMPLATE}.spec.containers[0].env: has 10000 entries, and at most 256 are allowed",
    ),
    "five words as long as may be": (
        {"containers": [given.container(args=["x" * 65_536] * 4 + ["y"], env=[])]},
        "spec.engines: has 262145 characters of command, args, env and annotations, and at most 262144 are allowed",
    ),
    "30,000 pull secrets": (
        {"containers": [given.container()], "imagePullSecrets": [{"name": f"s{number}"} for number in range(30_000)]},
        f"{TEMPLATE}.spec.imagePullSecrets: has 30000 entries, and at most 32 are allowed",
    ),
}


def replica(pod: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return given.replica(given.engine(members=[given.member(template={"spec": pod})]), **fields)


@pytest.mark.parametrize(("pod", "words"), CASES.values(), ids=CASES)
def test_a_replica_that_serves_is_held_and_its_field_is_named(pod: dict[str, Any], words: str) -> None:
    served = given.replica()["spec"]["engines"]
    observed = given.serving(given.replica())
    result = given.run(replica(pod, status={"served": True, "servedEngines": served}), observed)
    assert {name: desired.build()["spec"] for name, desired in result.desired.items()} == {
        name: found["spec"] for name, found in observed.items()
    }
    accepted = given.condition(result, "ModelAccepted")
    assert (accepted.status, accepted.reason) == (Status.FALSE, "InvalidEngine")
    assert words in accepted.message
    assert "Existing resources are unchanged" in accepted.message
    assert given.condition(result, "ModelReady").status is Status.TRUE
    assert result.ready is True
    assert result.status is not None
    assert (result.status["served"], result.status["servedEngines"]) == (True, served)


@pytest.mark.parametrize(("pod", "words"), CASES.values(), ids=CASES)
def test_a_new_replica_composes_nothing_and_asks_for_its_cluster_alone(pod: dict[str, Any], words: str) -> None:
    result = given.run(replica(pod))
    assert result.desired == {}
    assert [asked.kind for asked in result.requirements] == ["InferenceCluster"]
    assert words in given.condition(result, "ModelAccepted").message


def test_on_an_orphaning_cluster_what_is_held_is_orphaned() -> None:
    orphaning = given.cluster(annotations={"modelplane.ai/abandon": "true"})
    (pod, _), *_ = CASES.values()
    result = given.run(replica(pod), given.serving(given.replica()), cluster=[orphaning])
    assert result.desired
    for desired in result.desired.values():
        assert "Delete" not in desired.build()["spec"]["managementPolicies"]
