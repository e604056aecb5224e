"""A claim template is immutable: other content is another template, and the old one goes when nothing needs it."""

from typing import Any

import pytest

from modelplane.step import Result
from unit.compose_replica import replicas as given

TWO = {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 2}
BEFORE = given.replica()
AFTER = given.replica(given.engine(members=[given.member(deviceRequests=[TWO])]))


def _claims(result: Result) -> set[str]:
    return {name for name in result.desired if name.startswith("resourceclaimtemplate-")}


(OLD,) = _claims(given.run(BEFORE))
(NEW,) = _claims(given.run(AFTER))


def _edited(manifest: dict[str, Any] | None) -> dict[str, Any]:
    """Return the replica's Objects after the edit, its Deployment on the cluster as `manifest`."""
    observed = given.serving(BEFORE) | given.serving(AFTER)
    observed["deployment-main"]["status"]["atProvider"] = {"manifest": manifest} if manifest else {}
    return observed


def _running(body: dict[str, Any], **status: int) -> dict[str, Any]:
    found: dict[str, Any] = given.serving(body)["deployment-main"]["status"]["atProvider"]["manifest"]
    found["status"].update(status)
    return found


def test_other_content_is_another_template() -> None:
    assert OLD != NEW
    observed = given.serving(BEFORE)
    assert _claims(given.run(AFTER, observed)) == {OLD, NEW}


CASES = {
    "the cluster still runs the old pods": (_running(BEFORE), True),
    "the rollout is under way": (_running(AFTER, updatedReplicas=0), True),
    "the rollout is not seen yet": (_running(AFTER, observedGeneration=0), True),
    "the rollout is done": (_running(AFTER), False),
    "the workload was never seen": (None, False),
}


@pytest.mark.parametrize(("manifest", "kept"), CASES.values(), ids=CASES)
def test_an_old_template_goes_when_no_pod_can_be_made_from_it(manifest: dict[str, Any] | None, kept: bool) -> None:
    observed = _edited(manifest)
    result = given.run(AFTER, observed)
    assert _claims(result) == ({OLD, NEW} if kept else {NEW})
    if kept:
        assert result.desired[OLD].build()["spec"] == observed[OLD]["spec"]


def test_a_template_that_was_never_rolled_out_stays_while_the_object_names_it() -> None:
    observed = given.serving(BEFORE)
    del observed["deployment-main"]["status"]
    assert _claims(given.run(AFTER, observed)) == {OLD, NEW}


def test_an_engine_that_is_taken_out_goes_with_its_workload() -> None:
    body = given.replica(given.engine("a"), given.engine("b"))
    result = given.run(given.replica(given.engine("a")), given.serving(body))
    assert "deployment-b" not in result.desired
    assert "deployment-a" in result.desired


@pytest.mark.proves("P107")
def test_a_member_without_requests_claims_nothing_and_is_not_kept_apart() -> None:
    claimless = given.member()
    del claimless["deviceRequests"]
    result = given.run(given.replica(given.engine(members=[claimless])))
    pod = given.manifest_of(result, "deployment-main")["spec"]["template"]["spec"]
    assert _claims(result) == set()
    assert "resourceClaims" not in pod
    assert "resources" not in pod["containers"][0]
    assert list(pod["affinity"]["podAntiAffinity"]) == ["preferredDuringSchedulingIgnoredDuringExecution"]


def test_replicas_keep_to_distinct_nodes_unless_the_engine_says_that_they_need_not() -> None:
    def rules(**fields: str) -> list[str]:
        result = given.run(given.replica(given.engine(**fields)))
        pod = given.manifest_of(result, "deployment-main")["spec"]["template"]["spec"]
        return sorted(rule.partition("During")[0] for rule in pod["affinity"]["podAntiAffinity"])

    assert rules() == rules(replicasAcrossNodes="preferred") == ["preferred", "required"]
    assert rules(replicasAcrossNodes="none") == ["required"]
