"""Modelplane's own inventory as a part of the serving stack."""

import pytest

from modelplane.model.names import INVENTORY
from modelplane.stack import Part
from unit.compose_cluster.stacks import Cluster, condition, message, states

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
