"""What a deletion takes with it, and what holds it."""

from typing import Any

import pytest

from modelplane.preview import ControlPlane
from modelplane.step import Desired, Result
from unit.preview.fakes import TEAM, config_map, endpoint, existing, plane


def owned(name: str, *owners: str, **metadata: Any) -> dict[str, Any]:
    """Return a ConfigMap that others own, by their names."""
    refs = [{"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": owner} for owner in owners]
    return config_map(name, uid=name, ownerReferences=refs, **metadata)


def usage(of: str | dict[str, Any], by: str | None = None, **metadata: Any) -> dict[str, Any]:
    """Return a Usage of a ConfigMap (its name, or a resourceSelector), by another one."""

    def end(which: str | dict[str, Any]) -> dict[str, Any]:
        chosen = {"resourceRef": {"name": which}} if isinstance(which, str) else {"resourceSelector": which}
        return {"apiVersion": "v1", "kind": "ConfigMap", **chosen}

    user = {"by": end(by)} if by else {"reason": "because"}
    return {
        "apiVersion": "protection.crossplane.io/v1beta1",
        "kind": "Usage",
        "metadata": {"name": "usage", "namespace": TEAM, **metadata},
        "spec": {"of": end(of), **user},
    }


def left(control: ControlPlane) -> list[str]:
    return [obj["metadata"]["name"] for obj in control.list("ConfigMap")]


def test_what_is_not_there_cannot_be_deleted() -> None:
    assert plane().delete("ConfigMap", TEAM, "c") is False


def test_what_an_object_owns_goes_with_it_at_any_depth() -> None:
    control = plane(owned("a"), owned("b", "a"), owned("c", "b"), owned("other"))
    assert control.delete("ConfigMap", TEAM, "a")
    assert left(control) == ["other"]


def test_an_object_with_another_owner_stays() -> None:
    control = plane(owned("a"), owned("b"), owned("both", "a", "b"))
    control.delete("ConfigMap", TEAM, "a")
    assert left(control) == ["b", "both"]
    assert [ref["name"] for ref in control.list("ConfigMap")[1]["metadata"]["ownerReferences"]] == ["b"]
    control.delete("ConfigMap", TEAM, "b")
    assert left(control) == []


def test_an_object_whose_owner_was_never_there_stays() -> None:
    control = plane(owned("orphan", "nobody"), owned("a"))
    control.delete("ConfigMap", TEAM, "a")
    assert left(control) == ["orphan"]


def test_a_finalizer_holds_an_object_and_what_it_owns() -> None:
    control = plane(owned("a", finalizers=["example.org/hold"]), owned("b", "a"))
    control.delete("ConfigMap", TEAM, "a")
    assert left(control) == ["a", "b"]
    assert existing(control, "ConfigMap", TEAM, "a")["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:02Z"
    control.apply(owned("a", finalizers=[]))
    assert left(control) == []


def test_an_object_that_came_being_deleted_goes_once_nothing_holds_it() -> None:
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    control = plane(owned("a", finalizers=["example.org/hold"], **going), owned("b", "a"))
    assert left(control) == ["a", "b"]
    control.apply(owned("a", finalizers=[]))
    assert left(control) == []


def test_an_object_that_came_being_deleted_without_a_finalizer_stays_as_it_came() -> None:
    control = plane(owned("a", deletionTimestamp="2026-01-01T00:00:00Z"))
    control.settle()
    assert left(control) == ["a"]


@pytest.mark.parametrize(
    "of",
    ["used", {"matchLabels": {"l": "v"}}],
    ids=["by name", "by label"],
)
def test_a_usage_refuses_a_deletion(of: str | dict[str, Any]) -> None:
    control = plane(owned("used", labels={"l": "v"}), usage(of))
    assert control.delete("ConfigMap", TEAM, "used") is False
    assert "deletionTimestamp" not in existing(control, "ConfigMap", TEAM, "used")["metadata"]
    control.delete("Usage", TEAM, "usage")
    assert control.delete("ConfigMap", TEAM, "used") is True
    assert left(control) == []


def test_a_usage_delays_what_goes_with_its_owner() -> None:
    control = plane(owned("a"), owned("used", "a"), usage("used"))
    assert control.delete("ConfigMap", TEAM, "a") is True
    assert left(control) == ["used"]
    control.delete("Usage", TEAM, "usage")
    assert left(control) == []


def test_a_composed_usage_orders_the_deletion_of_its_ends() -> None:
    refs = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "a"}]
    composed = usage("used", by="user", ownerReferences=refs, labels={"crossplane.io/composite": "a"})
    user = owned("user", "a", finalizers=["example.org/hold"])
    control = plane(owned("a"), owned("used", "a"), user, composed)
    control.delete("ConfigMap", TEAM, "a")
    assert left(control) == ["used", "user"]
    control.apply({**user, "metadata": {**user["metadata"], "finalizers": []}})
    assert (left(control), control.list("Usage")) == ([], [])


def test_a_cluster_usage_protects_a_cluster_scoped_object() -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}}
    protection = {
        "apiVersion": "protection.crossplane.io/v1beta1",
        "kind": "ClusterUsage",
        "metadata": {"name": "u"},
        "spec": {"of": {"apiVersion": "v1", "kind": "Namespace", "resourceRef": {"name": "n"}}, "reason": "because"},
    }
    control = plane(namespace, protection)
    assert control.delete("Namespace", None, "n") is False


@pytest.mark.parametrize("reference", ["dependsOn", "patchesFrom"])
def test_a_provider_kubernetes_object_keeps_what_it_refers_to(reference: str) -> None:
    target = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": TEAM, "name": "a"}
    referrer = {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {"name": "o", "namespace": TEAM},
        "spec": {"references": [{reference: target}]},
    }
    control = plane(owned("a"), owned("b", "a"), referrer)
    assert control.delete("ConfigMap", TEAM, "a") is True
    assert left(control) == ["a", "b"]
    control.delete("Object", TEAM, "o")
    assert left(control) == []


def collected(*objects: dict[str, Any]) -> ControlPlane:
    """Return a plane whose composite wanted the ConfigMap `a`, beside objects, and wants it no more."""
    wanted = {"a": Desired.of(config_map("a"), ready=True)}
    control = plane(endpoint(), *objects, ModelEndpoint=lambda _: Result(desired=dict(wanted)))
    control.settle()
    uid = existing(control, "ConfigMap", TEAM, "a")["metadata"]["uid"]
    for obj in objects:
        for ref in obj["metadata"].get("ownerReferences", ()):
            ref["uid"] = uid if ref["name"] == "a" else ref["uid"]
        control.apply(obj)
    wanted.clear()
    control.reconcile("ModelEndpoint", TEAM, "e")
    return control


def test_what_is_composed_no_more_waits_for_what_it_owns() -> None:
    held = owned("b", "a", finalizers=["example.org/hold"])
    control = collected(held)
    assert left(control) == ["a", "b"]
    assert existing(control, "ConfigMap", TEAM, "a")["metadata"]["finalizers"] == ["foregroundDeletion"]
    control.apply({**held, "metadata": {**held["metadata"], "finalizers": []}})
    assert left(control) == []


def test_what_is_composed_no_more_waits_until_what_it_owns_may_be_deleted() -> None:
    control = collected(owned("b", "a"), usage("b"))
    assert left(control) == ["a", "b"]
    control.delete("Usage", TEAM, "usage")
    assert left(control) == []


def test_what_is_composed_no_more_lets_go_of_what_another_owns_too() -> None:
    control = collected(owned("other"), owned("b", "a", "other"))
    assert left(control) == ["b", "other"]
    assert [ref["name"] for ref in existing(control, "ConfigMap", TEAM, "b")["metadata"]["ownerReferences"]] == [
        "other"
    ]


def test_a_reference_that_is_changed_holds_its_new_target_alone() -> None:
    def referring(name: str) -> dict[str, Any]:
        target = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": TEAM, "name": name}
        metadata = {"name": "o", "namespace": TEAM}
        api = "kubernetes.m.crossplane.io/v1alpha1"
        return {
            "apiVersion": api,
            "kind": "Object",
            "metadata": metadata,
            "spec": {"references": [{"dependsOn": target}]},
        }

    control = plane(owned("a"), owned("b"), referring("a"))
    for name in ("a", "b"):
        control.delete("ConfigMap", TEAM, name)
    assert left(control) == ["a"]
    control.apply(referring("c"))
    assert left(control) == []


def test_a_usage_that_selects_lets_go_once_another_object_is_selected() -> None:
    control = plane(owned("owner"), owned("b", "owner", labels={"l": "v"}), usage({"matchLabels": {"l": "v"}}))
    control.delete("ConfigMap", TEAM, "owner")
    assert left(control) == ["b"]
    control.apply(owned("a", labels={"l": "v"}))
    assert left(control) == ["a"]
