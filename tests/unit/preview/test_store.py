"""How objects are kept: identity, versions, time, and snapshots."""

import sys

import pytest

from modelplane.preview import InvalidObject
from unit.preview.fakes import TEAM, config_map, endpoint, existing, inference_class, plane


def test_an_object_gets_what_a_server_adds() -> None:
    made = plane(config_map()).get("ConfigMap", TEAM, "c")
    assert made is not None
    assert made["metadata"]["creationTimestamp"] == "2026-01-01T00:00:01Z"
    assert (made["metadata"]["generation"], made["metadata"]["resourceVersion"]) == (1, "1")


def test_the_uid_depends_on_the_identity_alone() -> None:
    first, second = plane(config_map("a"), config_map("b")), plane(config_map("b"))
    assert (
        existing(first, "ConfigMap", TEAM, "b")["metadata"]["uid"]
        == existing(second, "ConfigMap", TEAM, "b")["metadata"]["uid"]
    )
    uids = {obj["metadata"]["uid"] for obj in first.list("ConfigMap")}
    assert len(uids) == 2


def test_an_object_that_was_deleted_comes_back_as_another() -> None:
    control = plane(config_map())
    before = existing(control, "ConfigMap", TEAM, "c")["metadata"]["uid"]
    control.delete("ConfigMap", TEAM, "c")
    control.apply(config_map())
    assert existing(control, "ConfigMap", TEAM, "c")["metadata"]["uid"] != before


def test_what_an_export_says_of_itself_is_kept() -> None:
    born, managed = "2025-05-05T00:00:00Z", [{"manager": "kubectl"}]
    exported = endpoint(uid="u-1", creationTimestamp=born, managedFields=managed)
    control = plane({**exported, "status": {"routing": {"hostname": "h"}}})
    made = existing(control, "ModelEndpoint", TEAM, "e")
    assert made["metadata"]["uid"] == "u-1"
    assert made["metadata"]["creationTimestamp"] == born
    assert "managedFields" not in made["metadata"]
    assert made["status"] == {"routing": {"hostname": "h"}}


def test_what_is_made_later_is_younger_than_what_an_export_brought() -> None:
    control = plane(config_map("old", creationTimestamp="2027-03-01T00:00:00Z"), config_map("new"))
    assert existing(control, "ConfigMap", TEAM, "new")["metadata"]["creationTimestamp"] == "2027-03-01T00:00:01Z"


def test_every_write_bumps_the_version_and_only_a_change_of_intent_the_generation() -> None:
    control = plane(config_map(data={"a": "1"}))
    seen = []
    for data, labels in (({"a": "1"}, {}), ({"a": "1"}, {"l": "v"}), ({"a": "2"}, {"l": "v"})):
        control.apply(config_map(data=data, labels=labels))
        made = existing(control, "ConfigMap", TEAM, "c")["metadata"]
        seen.append((int(made["resourceVersion"]), made["generation"]))
    assert seen == [(2, 1), (3, 1), (4, 2)]


def test_what_is_read_can_be_changed_without_changing_what_is_kept() -> None:
    control = plane(config_map(data={"a": "1"}))
    for reader in (control, control.view()):
        existing(reader, "ConfigMap", TEAM, "c")["data"]["a"] = "2"
        reader.list("ConfigMap")[0]["data"]["a"] = "2"
        assert existing(reader, "ConfigMap", TEAM, "c")["data"] == {"a": "1"}


def test_what_was_applied_can_be_changed_without_changing_what_is_kept() -> None:
    for obj in (config_map(data={"a": "1"}), endpoint()):
        control = plane(obj)
        obj["metadata"]["labels"] = {"later": "yes"}
        assert "labels" not in control.list(obj["kind"])[0]["metadata"]


def test_a_view_shows_the_moment_it_was_taken() -> None:
    control = plane(config_map("kept", {"a": "1"}), config_map("gone"))
    view = control.view()
    control.apply(config_map("kept", {"a": "2"}))
    control.apply(config_map("new"))
    control.delete("ConfigMap", TEAM, "gone")
    assert [(o["metadata"]["name"], o["data"]) for o in view.list("ConfigMap")] == [("gone", {}), ("kept", {"a": "1"})]
    assert [o["metadata"]["name"] for o in control.list("ConfigMap")] == ["kept", "new"]


def test_a_kind_is_found_by_its_name_and_distinguished_by_its_group() -> None:
    configs = [
        {"apiVersion": f"{group}/v1", "kind": "ClusterProviderConfig", "metadata": {"name": "c"}, "spec": {"g": group}}
        for group in ("b.example.org", "a.example.org")
    ]
    control = plane(*configs)
    assert [obj["spec"]["g"] for obj in control.list("ClusterProviderConfig")] == ["a.example.org", "b.example.org"]
    found = control.get("ClusterProviderConfig.b.example.org", None, "c")
    assert found is not None
    assert found["spec"]["g"] == "b.example.org"
    assert control.get("ClusterProviderConfig.c.example.org", None, "c") is None


@pytest.mark.parametrize("namespace", [None, ""])
def test_cluster_scope_has_no_namespace(namespace: str | None) -> None:
    control = plane(inference_class(namespace="team"))
    assert control.get("InferenceClass", namespace, "k") is not None


def test_a_namespaced_object_without_a_namespace_is_in_default() -> None:
    control = plane({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}})
    assert control.get("Secret", "default", "s") is not None


def test_an_unknown_foreign_kind_is_stored_as_it_is() -> None:
    foreign = {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "t"}, "anything": [1]}
    assert existing(plane(foreign), "Thing", None, "t")["anything"] == [1]


def test_an_invalid_object_says_which_field_and_why() -> None:
    broken = endpoint()
    del broken["spec"]["url"]
    with pytest.raises(InvalidObject) as raised:
        plane(broken)
    assert (raised.value.object, raised.value.field) == ("ModelEndpoint team/e", "spec.url")


def test_what_cannot_be_stored_is_refused_whatever_its_kind() -> None:
    deep: list[object] = []
    for _ in range(2 * sys.getrecursionlimit()):
        deep = [deep]
    with pytest.raises(InvalidObject, match="nested too deeply"):
        plane({**config_map(), "data": deep})
    with pytest.raises(InvalidObject, match="must be of type string"):
        plane(config_map(namespace=1))


def test_an_invalid_object_changes_nothing() -> None:
    control = plane(endpoint())
    before = control.get("ModelEndpoint", TEAM, "e")
    with pytest.raises(InvalidObject):
        control.apply({**endpoint(), "spec": {"url": ""}})
    assert control.get("ModelEndpoint", TEAM, "e") == before
