"""The walls between teams on an inference cluster, and what an engine's container may do there."""

from typing import Any

import pytest

from unit.compose_replica import replicas as given

DROPPED = ["AUDIT_WRITE", "MKNOD", "NET_RAW", "SETFCAP", "SYS_CHROOT"]


def engine(**container: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [given.container(**container)]}}
    return given.engine(members=[given.member(template=template)])


def pod_of(*engines: dict[str, Any]) -> dict[str, Any]:
    manifest = given.manifest_of(given.run(given.replica(*engines)), "deployment-main")
    pod: dict[str, Any] = manifest["spec"]["template"]["spec"]
    return pod


def walled(**stack: Any) -> dict[str, Any]:
    return given.cluster() | {"spec": {"stack": stack}}


def test_an_engine_has_no_token_of_its_cluster() -> None:
    assert pod_of()["automountServiceAccountToken"] is False


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, {"capabilities": {"drop": DROPPED}}),
        ({"capabilities": {"add": ["IPC_LOCK"]}}, {"capabilities": {"add": ["IPC_LOCK"], "drop": DROPPED}}),
        (
            {"seccompProfile": {"type": "RuntimeDefault"}},
            {"capabilities": {"drop": DROPPED}, "seccompProfile": {"type": "RuntimeDefault"}},
        ),
    ],
)
def test_an_engine_drops_what_no_engine_needs_and_keeps_what_was_asked_for(
    asked: dict[str, Any], found: dict[str, Any]
) -> None:
    (container,) = pod_of(engine(securityContext=asked) if asked else engine())["containers"]
    assert container["securityContext"] == found


def test_the_members_of_a_gang_drop_it_too() -> None:
    gang = given.manifest_of(given.run(given.replica(given.gang())), "leaderworkerset-main")
    template = gang["spec"]["leaderWorkerTemplate"]
    for pod in (template["leaderTemplate"]["spec"], template["workerTemplate"]["spec"]):
        assert pod["automountServiceAccountToken"] is False
        assert pod["containers"][0]["securityContext"] == {"capabilities": {"drop": DROPPED}}


def labels_of(cluster: dict[str, Any]) -> dict[str, str]:
    manifest = given.manifest_of(given.run(given.replica(), cluster=[cluster]), "namespace")
    labels: dict[str, str] = manifest["metadata"]["labels"]
    return {key.partition("/")[2]: value for key, value in labels.items() if key.startswith("pod-security")}


def test_pods_outside_of_the_baseline_are_recorded_and_refused_only_where_the_platform_asks() -> None:
    assert labels_of(given.cluster()) == {"audit": "baseline", "warn": "baseline"}
    assert labels_of(walled(podSecurity="Enforce")) == {"audit": "baseline", "enforce": "baseline", "warn": "baseline"}


def test_an_isolated_cluster_lets_the_team_gateways_and_named_networks_in_alone() -> None:
    cluster = walled(isolation="Enforced", gatewayCIDRs=["192.0.2.0/24"])
    policy = given.manifest_of(given.run(given.replica(), cluster=[cluster]), "network-policy")
    assert policy["metadata"] == {"name": "modelplane", "namespace": "mp-team"}
    gateways = {"namespaceSelector": {"matchLabels": {"modelplane.ai/reaches-engines": "true"}}}
    allowed = [{"podSelector": {}}, gateways, {"ipBlock": {"cidr": "192.0.2.0/24"}}]
    assert policy["spec"] == {"podSelector": {}, "policyTypes": ["Ingress"], "ingress": [{"from": allowed}]}


def test_isolation_that_is_taken_back_lets_everything_in_again_and_nothing_is_composed_where_it_never_was() -> None:
    body = given.replica()
    assert "network-policy" not in given.run(body).desired
    made = given.run(body, cluster=[walled(isolation="Enforced")]).desired["network-policy"].build()
    observed = given.serving(body) | {"network-policy": given.provided(made)}
    assert given.manifest_of(given.run(body, observed), "network-policy")["spec"]["ingress"] == [{}]
