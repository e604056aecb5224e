"""The ServingStack of an InferenceCluster: when it is composed, what it changes, and what it never takes away."""

from typing import Any

import pytest
from hypothesis import given as examples
from hypothesis import strategies as st

from modelplane.compose_cluster.gateway import PART
from modelplane.step import Result
from unit.compose_cluster import clusters as given
from unit.compose_cluster.test_own_gateway import ABSENT, TRUSTED, empty

RUNNING = [{"name": name, "state": "Running"} for name in ("gateway", "aiGateway")]


def cluster(**stack: str) -> dict[str, Any]:
    found = given.cluster()
    return {**found, "spec": {**found["spec"], "stack": stack}}


def composed(**status: Any) -> dict[str, Any]:
    """Return the ServingStack of a cluster as it is observed."""
    body = given.bodies(given.run(cluster(lws="Managed"), given.reached()))["serving-stack"]
    return {**body, "status": status}


def told(serves: bool | None, reason: str = "Installing", message: str = "") -> dict[str, Any]:
    """Return a ServingStack that says so."""
    ready = {"type": "PartsReady", "status": str(serves is True), "reason": reason, "message": message}
    return composed(conditions=[ready], parts=RUNNING, **({} if serves is None else {"serves": serves}))


def backend(result: Result) -> tuple[str, str, str]:
    found = given.condition(result, "BackendReady")
    return found.status, found.reason, found.message


def test_a_cluster_without_a_word_on_parts_has_none() -> None:
    for stack in ({}, {"isolation": "Open"}):
        assert "serving-stack" not in given.run(cluster(**stack), given.reached()).desired


def test_one_part_that_is_set_brings_the_stack_with_the_kubeconfig_of_the_cluster() -> None:
    body = given.bodies(given.run(cluster(metrics="Present"), given.reached()))["serving-stack"]
    assert body == {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ServingStack",
        "metadata": {"name": "eu-1", "namespace": "modelplane-system"},
        "spec": {
            "clusterName": "eu-1",
            "kubeconfig": {"name": "eu-1", "key": "kubeconfig"},
            "parts": {"metrics": "Present"},
        },
    }


def test_values_of_charts_reach_the_stack() -> None:
    body = cluster(lws="Managed")
    body["spec"]["stack"]["values"] = {"lws": {"replicaCount": 2}}
    made = given.bodies(given.run(body, given.reached()))["serving-stack"]
    assert made["spec"]["values"] == {"lws": {"replicaCount": 2}}


def test_nothing_is_installed_on_a_cluster_that_has_not_answered() -> None:
    seen = {"provider-config": given.config()}
    result = given.run(cluster(lws="Managed"), seen)
    assert "serving-stack" not in result.desired
    assert backend(result)[1] == "WaitingForCluster"


def test_a_stack_stays_as_it_was_when_the_spec_no_longer_speaks_of_parts() -> None:
    before = composed()
    after = given.bodies(given.run(given.cluster(), given.reached(**{"serving-stack": before})))
    assert after["serving-stack"]["spec"] == before["spec"]


def test_on_another_cluster_than_before_the_stack_only_observes() -> None:
    moved = given.looking("Namespace", {"metadata": {"uid": "another"}})
    seen = given.reached(**{"serving-stack": composed(), "kube-system": moved})
    body = {**cluster(lws="Managed"), "status": {"clusterUID": "first"}}
    result = given.run(body, seen)
    assert given.bodies(result)["serving-stack"]["spec"]["observeOnly"] is True


#: The spec of an InferenceCluster that has stopped asking for parts, and one that is invalid.
STANDING = {"without parts": given.cluster(), "invalid": given.cluster(given.pool(nodeCount="two"))}


@pytest.mark.parametrize("body", STANDING.values(), ids=STANDING)
def test_it_installs_as_before_once_the_cluster_is_known_again_and_not_before(body: dict[str, Any]) -> None:
    only = composed()
    only["spec"] = {**only["spec"], "observeOnly": True}
    back = given.bodies(given.run(body, given.reached(**{"serving-stack": only})))
    assert back["serving-stack"]["spec"] == composed()["spec"]
    silent = given.looking("Namespace", {}, "dial tcp: connection refused")
    unknown = given.bodies(given.run(body, given.reached(**{"serving-stack": only, "kube-system": silent})))
    assert unknown["serving-stack"]["spec"] == only["spec"]


def test_a_part_that_does_not_run_keeps_new_replicas_away_and_says_which() -> None:
    seen = given.reached(**{"serving-stack": told(serves=False, reason="PartFailed", message="LWS: x.")})
    result = given.run(cluster(lws="Managed"), seen)
    assert backend(result) == ("False", "PartFailed", "LWS: x.")
    assert result.ready is False
    assert given.status(result)["gateway"]["address"] == "gw.example.org", "replicas there are still reached"


SERVED = {"conditions": [{"type": "BackendReady", "status": "True"}]}


def test_a_cluster_that_serves_is_not_taken_away_by_a_stack_that_is_not_seen_yet() -> None:
    for stack in (told(serves=None), composed()):
        body = {**cluster(lws="Managed"), "status": SERVED}
        result = given.run(body, given.reached(**{"serving-stack": stack}))
        assert backend(result)[:2] == ("True", "BackendHealthy")


def test_a_new_cluster_that_has_a_gateway_waits_until_its_stack_is_seen() -> None:
    for seen in ({}, {"serving-stack": composed()}, {"serving-stack": told(serves=None)}):
        assert backend(given.run(cluster(lws="Managed"), given.reached(**seen)))[:2] == ("False", "Installing")


def test_what_a_part_lacks_that_engines_do_not_need_is_said_of_a_cluster_that_is_ready() -> None:
    stack = told(serves=True, reason="PartsRunning", message="Prometheus: 0 of 1 pods are available.")
    result = given.run(cluster(lws="Managed"), given.reached(**{"serving-stack": stack}))
    assert backend(result)[0] == "True"
    assert backend(result)[2].endswith("Prometheus: 0 of 1 pods are available.")


@pytest.mark.parametrize("late", ["gateway", "aiGateway", None])
def test_a_gateway_is_made_once_envoy_gateway_and_ai_gateway_can_be_used(late: str | None) -> None:
    parts = [{**row, "state": "Installing" if row["name"] == late else "Running"} for row in RUNNING]
    seen = empty(gateway=ABSENT, **{"serving-stack": composed(serves=late is None, parts=parts)})
    result = given.run(cluster(lws="Managed"), seen, gateway=TRUSTED)
    assert any(name.startswith(PART) for name in result.desired) is (late is None)


_ANYTHING = st.none() | st.booleans() | st.text(max_size=4) | st.lists(st.integers(), max_size=2)
_STATUSES = st.fixed_dictionaries(
    {},
    optional={
        "serves": _ANYTHING,
        "parts": _ANYTHING | st.lists(st.dictionaries(st.sampled_from(["name", "state"]), _ANYTHING), max_size=2),
        "conditions": _ANYTHING
        | st.lists(
            st.fixed_dictionaries(
                {"type": st.just("PartsReady")},
                optional={"status": _ANYTHING, "reason": _ANYTHING, "message": _ANYTHING},
            ),
            max_size=2,
        ),
    },
)


@examples(_STATUSES)
def test_whatever_a_stack_says_its_pools_and_itself_stay(status: dict[str, Any]) -> None:
    plain = given.status(given.run(given.cluster(), given.reached()))
    result = given.run(cluster(lws="Managed"), given.reached(**{"serving-stack": composed(**status)}))
    assert given.status(result)["gpuPools"] == plain["gpuPools"]
    assert given.status(result)["gateway"] == plain["gateway"]
    assert given.bodies(result)["serving-stack"]["spec"]["parts"] == {"lws": "Managed"}
