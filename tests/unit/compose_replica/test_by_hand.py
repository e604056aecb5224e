"""A ModelReplica written by hand composes nothing where it may not run, until it has served."""

from typing import Any

import pytest

from unit.compose_replica import replicas as given

L4 = {"name": "gpu", "driver": "gpu.nvidia.com", "deviceClassName": "gpu.nvidia.com", "count": 1}
LABELS = {"modelplane.ai/cluster": given.CLUSTER}


def cluster(nodes: int = 1, **spec: Any) -> dict[str, Any]:
    """Return the replica's cluster, with a pool of nodes of one GPU each."""
    pools = [{"name": "l4", "nodes": nodes, "devices": [L4]}]
    return given.cluster({"providerConfigRef": {"name": given.CLUSTER}, "gpuPools": pools}) | {"spec": spec}


def by_hand(*engines: dict[str, Any], name: str = "by-hand", born: str = "02", **fields: Any) -> dict[str, Any]:
    """Return a replica written by hand in minute `born`."""
    created = f"2026-01-01T00:{born}:00Z"
    metadata = {"name": name, "namespace": "team", "uid": name, "labels": LABELS, "creationTimestamp": created}
    return given.replica(*engines, metadata=metadata, **fields)


def run(body: dict[str, Any], there: dict[str, Any], *beside: dict[str, Any], **more: Any) -> tuple[list[str], str]:
    """Return what a pass composes on the cluster, and the message of ModelAccepted."""
    found = {f"residents-{given.CLUSTER}": [body, *beside], "namespace-team": more.pop("namespace", [])}
    result = given.run(body, more.pop("observed", None), cluster=[there], **found)
    return list(result.desired), given.condition(result, "ModelAccepted").message


NEVER: dict[str, tuple[dict[str, Any], str]] = {
    "pool system": (
        given.engine(members=[given.member(nodePoolName="system")]),
        "engine main names pool system, cluster eu-1 publishes l4",
    ),
    "a DeviceClass that the pool does not declare": (
        given.engine(members=[given.member(deviceRequests=[{"name": "nic", "deviceClassName": "nic.example.com"}])]),
        "engine main: request nic names DeviceClass nic.example.com, pool l4 declares gpu.nvidia.com",
    ),
    "more devices than a node has": (
        given.engine(
            members=[given.member(deviceRequests=[{"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": 2}])]
        ),
        "engine main: request gpu needs 2 devices that satisfy its selectors, no node of pool l4 has as many",
    ),
}


@pytest.mark.proves("R25")
@pytest.mark.parametrize(("engine", "words"), NEVER.values(), ids=NEVER)
def test_a_replica_by_hand_that_can_never_bind_composes_nothing_and_says_why(
    engine: dict[str, Any], words: str
) -> None:
    composed, message = run(by_hand(engine), cluster())
    assert composed == []
    assert message.startswith(f"{words}. Correct spec.engines")


@pytest.mark.proves("R27")
def test_a_replica_by_hand_without_room_composes_nothing_until_it_fits() -> None:
    older, younger = by_hand(name="older", born="01"), by_hand()
    composed, message = run(younger, cluster(1), older)
    assert composed == []
    assert message == (
        "NoRoom on cluster eu-1: pool l4: no room for engine main: needs 1 node, 0 free (pool l4 of eu-1 is held by "
        "older). Free nodes by scaling something down, or add nodes."
    )
    assert "deployment-main" in run(younger, cluster(2), older)[0]
    assert "deployment-main" in run(older, cluster(1), younger)[0]


def test_what_holds_the_pool_of_a_replica_by_hand_is_named_other_namespaces_as_a_count() -> None:
    first, second, waiting = (
        by_hand(name="first", born="00"),
        by_hand(name="second", born="00"),
        by_hand(name="waiting"),
    )
    second["metadata"]["namespace"] = "elsewhere"
    _, message = run(by_hand(born="03"), cluster(2), first, second, waiting)
    assert "needs 1 node, 0 free (pool l4 of eu-1 is held by first and 1 replica of other namespaces)." in message


def test_what_a_replica_by_hand_has_composed_goes_when_it_has_to_yield_before_it_served() -> None:
    older, younger = by_hand(name="older", born="01"), by_hand()
    observed = given.serving(younger)
    observed["deployment-main"]["status"]["atProvider"]["manifest"]["status"] = {}
    assert run(younger, cluster(1), older, observed=observed)[0] == []


@pytest.mark.parametrize("recorded", [{}, {"served": True}], ids=["not recorded yet", "recorded"])
def test_a_replica_by_hand_that_serves_keeps_its_room(recorded: dict[str, Any]) -> None:
    older, younger = by_hand(name="older", born="01"), by_hand(status=recorded)
    assert "deployment-main" in run(younger, cluster(1), older, observed=given.serving(younger))[0]


@pytest.mark.proves("R28")
def test_a_replica_by_hand_composes_nothing_new_on_a_tainted_cluster() -> None:
    tainted = cluster(taints=[{"key": "dedicated", "effect": "NoSchedule"}])
    composed, message = run(by_hand(), tainted)
    assert composed == []
    assert message.startswith("InferenceCluster eu-1 is tainted (dedicated). A ModelReplica tolerates no taint")
    assert "deployment-main" in run(by_hand(), tainted, observed=given.serving(by_hand()))[0]


@pytest.mark.proves("R28")
def test_a_replica_by_hand_composes_nothing_on_a_cluster_that_does_not_allow_its_namespace() -> None:
    gold = cluster(allowedNamespaces={"from": "Selector", "selector": {"matchLabels": {"tier": "gold"}}})
    team = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", "labels": {"tier": "gold"}}}
    composed, message = run(by_hand(), gold)
    assert composed == []
    assert message.startswith("InferenceCluster eu-1 is closed to namespace team, which lacks label tier=gold.")
    assert "deployment-main" in run(by_hand(), gold, namespace=[team])[0]
    assert "deployment-main" in run(by_hand(), gold, observed=given.serving(by_hand()))[0]
