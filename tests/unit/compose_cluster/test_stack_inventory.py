"""Modelplane's own inventory as a part of the serving stack."""

from typing import Any

import pytest

from modelplane.model.names import INVENTORY
from modelplane.stack import Part
from unit.compose_cluster import clusters as given
from unit.compose_cluster.stacks import Cluster, condition, message, states
from unit.compose_cluster.test_stack import cluster as with_stack

IMAGE = "registry.example.org/modelplane:v1"


@pytest.fixture(autouse=True)
def _image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELPLANE_IMAGE", IMAGE)


def inventory(cluster: Cluster) -> dict[str, str]:
    """Return the kinds of the inventory's objects with their policies."""
    found = {name: body for name, body in cluster.composed.items() if name.startswith("inventory-")}
    return {
        body["spec"]["forProvider"]["manifest"]["kind"]: ",".join(body["spec"]["managementPolicies"])
        for body in found.values()
    }


KINDS = {
    "Namespace",
    "ServiceAccount",
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "NetworkPolicy",
    "ConfigMap",
    "Deployment",
}


def test_it_is_installed_where_it_is_asked_for_and_never_deleted() -> None:
    cluster = Cluster(spec={"parts": {"inventory": "Managed"}})
    result = cluster.settle()
    found = inventory(cluster)
    assert found.keys() == KINDS
    assert found.pop("ConfigMap") == "Observe,Create"
    assert {*found.values()} == {"Observe,Create,Update"}
    assert states(result)[Part.INVENTORY] == "Running"
    (row,) = (row for row in (result.status or {})["parts"] if row["name"] == Part.INVENTORY)
    assert row["origin"] == "Modelplane"


def test_it_is_not_installed_unasked() -> None:
    cluster = Cluster(spec={"parts": {"lws": "Managed"}})
    assert Part.INVENTORY not in states(cluster.settle())
    assert not inventory(cluster)


def test_while_its_pod_does_not_run_it_says_so_and_engines_serve() -> None:
    cluster = Cluster(spec={"parts": {"inventory": "Managed"}}, pods={INVENTORY: 0})
    result = cluster.settle()
    assert states(result)[Part.INVENTORY] == "Installing"
    assert f"Deployment {INVENTORY}/{INVENTORY}: 0 of 1 pods are available" in message(result, Part.INVENTORY)
    assert condition(result).status == "True"


def test_without_a_known_image_it_is_absent_with_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MODELPLANE_IMAGE")
    cluster = Cluster(spec={"parts": {"inventory": "Managed"}})
    result = cluster.settle()
    assert not inventory(cluster)
    assert states(result)[Part.INVENTORY] == "Missing"
    assert "MODELPLANE_IMAGE" in message(result, Part.INVENTORY)
    assert condition(result).status == "True"


def test_on_the_cluster_of_another_it_changes_nothing_and_later_it_does_again() -> None:
    cluster = Cluster(spec={"parts": {"inventory": "Managed"}})
    cluster.settle()
    cluster.spec["observeOnly"] = True
    cluster.turn()
    assert inventory(cluster) == dict.fromkeys(KINDS, "Observe")
    del cluster.spec["observeOnly"]
    cluster.turn()
    assert {*inventory(cluster).values()} == {"Observe,Create,Update", "Observe,Create"}


def test_once_composed_it_stays_without_a_word_on_it() -> None:
    cluster = Cluster(spec={"parts": {"inventory": "Managed"}})
    cluster.settle()
    cluster.spec["parts"] = {"lws": "Managed"}
    cluster.turn()
    assert inventory(cluster).keys() == KINDS


def pod(cluster: Cluster) -> dict[str, Any]:
    """Return the spec of the inventory's pod."""
    manifest = cluster.composed["inventory-deployment"]["spec"]["forProvider"]["manifest"]
    found: dict[str, Any] = manifest["spec"]["template"]["spec"]
    return found


OURS = {"key": "team", "operator": "Equal", "value": "ml", "effect": "NoSchedule"}
SYSTEM = {"key": "system", "operator": "Exists"}


def test_its_pod_tolerates_what_pools_do_and_has_the_clusters_own_values() -> None:
    plain = Cluster(spec={"parts": {"inventory": "Managed"}})
    plain.settle()
    values = {"imagePullSecrets": [{"name": "pull"}], "nodeSelector": {"a": "b"}, "tolerations": [SYSTEM, OURS]}
    cluster = Cluster(spec={"parts": {"inventory": "Managed"}, "tolerations": [OURS], "values": {"inventory": values}})
    cluster.settle()
    found, before = pod(cluster), pod(plain)
    assert (found["imagePullSecrets"], found["nodeSelector"]) == ([{"name": "pull"}], {"a": "b"})
    assert found["tolerations"] == [*before["tolerations"], OURS, SYSTEM]
    own = ("imagePullSecrets", "nodeSelector", "tolerations")
    assert {key: found[key] for key in found if key not in own} == {
        key: before[key] for key in before if key != "tolerations"
    }


def test_with_a_value_that_its_pod_does_not_take_it_stays_as_it_is_and_says_so() -> None:
    present = dict.fromkeys(("certManager", "gateway", "aiGateway", "lws", "dra"), "Present")
    cluster = Cluster(spec={"parts": {**present, "inventory": "Managed"}})
    cluster.settle()
    before = pod(cluster)
    cluster.spec["values"] = {"inventory": {"tolerations": {"key": "x"}}}
    result = cluster.turn()
    assert pod(cluster) == before
    assert "spec.stack.values.inventory.tolerations is {'key': 'x'}, and is to be a list" in condition(result).message


def test_tolerations_of_all_pools_go_to_the_stack_that_has_an_inventory_each_once() -> None:
    pools = [given.pool("a", tolerations=[OURS]), given.pool("b", tolerations=[OURS, SYSTEM]), given.pool("c")]
    for parts, expected in (({"inventory": "Managed"}, [OURS, SYSTEM]), ({"lws": "Managed"}, None)):
        body = with_stack(**parts)
        body["spec"]["nodePools"] = pools
        made = given.bodies(given.run(body, given.reached()))["serving-stack"]
        assert made["spec"].get("tolerations") == expected
