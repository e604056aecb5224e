"""While a kubeconfig leads to another cluster, or to one of another installation, a replica's Objects only observe."""

from typing import Any

import pytest

from modelplane.model.conditions import Status
from modelplane.step import Result
from unit.compose_replica import replicas as given
from unit.compose_replica.test_copies import ALL

FOREIGN = ("IdentityChanged", "OtherInstallation")
BODIES = {"standalone": ALL, "gang": given.replica(given.gang())}
ABANDONED = {"modelplane.ai/abandon": "true"}


def foreign(reason: str = "IdentityChanged", **metadata: Any) -> dict[str, Any]:
    row = {"type": "ClusterReady", "status": "False", "reason": reason, "message": "it is another one"}
    return given.cluster({"providerConfigRef": {"name": given.CLUSTER}, "conditions": [row]}, **metadata)


def policies(result: Result) -> dict[str, Any]:
    bodies = {name: desired.build() for name, desired in result.desired.items()}
    return {name: each["spec"].get("managementPolicies") for name, each in bodies.items() if each["kind"] == "Object"}


def then(body: dict[str, Any], result: Result) -> dict[str, dict[str, Any]]:
    """Return what is observed once the Objects are as a result wants them, on a cluster that shows nothing new."""
    observed = given.serving(body)
    for name, desired in result.desired.items():
        found = desired.build()
        observed[name]["spec"] = found["spec"]
        observed[name]["metadata"] |= {"annotations": found["metadata"].get("annotations", {})}
    return observed


def away(body: dict[str, Any], reason: str = "IdentityChanged") -> tuple[Result, dict[str, dict[str, Any]]]:
    result = given.run(body, given.serving(body), cluster=[foreign(reason)])
    return result, then(body, result)


@pytest.mark.parametrize("reason", FOREIGN)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_every_object_only_observes_and_what_it_would_apply_stays(body: dict[str, Any], reason: str) -> None:
    observed, (result, _) = given.serving(body), away(body, reason)
    assert policies(result).values() and set(map(tuple, policies(result).values())) == {("Observe",)}
    assert result.desired.keys() == observed.keys()
    for name, desired in result.desired.items():
        assert desired.build()["spec"].get("forProvider") == observed[name]["spec"].get("forProvider")


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_the_replica_serves_on_by_its_last_state_in_every_pass(body: dict[str, Any]) -> None:
    first, seen = away(body)
    again = given.run(body, seen, cluster=[foreign()])
    for result in (first, again):
        assert result.ready is True
        assert given.condition(result, "ModelReady").status is Status.TRUE
        assert "it is another one" in given.condition(result, "ModelAccepted").message
    assert {name: each.build() for name, each in again.desired.items()} == {
        name: each.build() for name, each in first.desired.items()
    }


#: Why a replica may be held when the kubeconfig leads back.
BACK: dict[str, dict[str, Any]] = {
    "composed": {},
    "held": {"cluster": [given.cluster(deletionTimestamp="2026-01-01T00:00:00Z")]},
}


@pytest.mark.parametrize("how", BACK.values(), ids=BACK)
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_they_are_managed_as_before_once_the_kubeconfig_leads_back(body: dict[str, Any], how: dict[str, Any]) -> None:
    before = given.run(body, given.serving(body), **how)
    back = given.run(body, away(body)[1], **how)
    assert {name: each.build() for name, each in back.desired.items()} == {
        name: each.build() for name, each in before.desired.items()
    }


def test_they_do_not_change_while_it_is_not_known_where_the_kubeconfig_leads() -> None:
    result, seen = away(ALL)
    unknown = given.run(ALL, seen, cluster=None)
    assert policies(unknown) == policies(result)


def test_an_ending_replica_stays_whole_until_the_kubeconfig_leads_back_and_ends_then() -> None:
    body, (_, seen) = {**ALL, "spec": {**ALL["spec"], "ending": True}}, away(ALL)
    waiting = given.run(body, seen, cluster=[foreign()])
    assert waiting.desired.keys() == seen.keys()
    assert "ended" not in (waiting.status or {}) or (waiting.status or {})["ended"] is False
    managed = given.run(body, seen, cluster=[given.cluster()])
    assert policies(managed)["deployment-main"] != ["Observe"], "if it only observed, its pods would stay"
    ends = given.run(body, then(ALL, managed), cluster=[given.cluster()])
    assert "deployment-main" not in ends.desired


def test_what_an_edit_has_replaced_meanwhile_is_managed_again_before_it_goes() -> None:
    seen = away(ALL)[1]
    engine = {**ALL["spec"]["engines"][0], "name": "other"}
    body = {**ALL, "spec": {**ALL["spec"], "engines": [engine, *ALL["spec"]["engines"][1:]]}}
    back = given.run(body, seen, cluster=[given.cluster()])
    assert "deployment-other" in back.desired
    assert policies(back)["deployment-main"] != ["Observe"]


def test_one_whose_cluster_is_abandoned_as_well_ends_and_deletes_nothing_there() -> None:
    body, (_, seen) = {**ALL, "spec": {**ALL["spec"], "ending": True}}, away(ALL)
    ends = given.run(body, seen, cluster=[foreign(annotations=ABANDONED)])
    assert "deployment-main" not in ends.desired
    assert set(map(tuple, policies(ends).values())) == {("Observe",)}
