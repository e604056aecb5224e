"""What one pass does to composed resources: names, ownership, application, garbage."""

import hashlib
from typing import Any

from modelplane.preview import ControlPlane
from modelplane.step import Desired, Request, Result
from unit.preview.fakes import TEAM, composing, conditions_of, config_map, endpoint, existing, inference_class, plane


def reconcile(control: ControlPlane) -> ControlPlane:
    control.reconcile("ModelEndpoint", TEAM, "e")
    return control


def by_annotation(request: Request) -> Result:
    """Want the ConfigMaps that the composite's annotation lists as resource=name."""
    listed = request.composite.metadata.get("annotations", {}).get("want", "")
    pairs = (entry.split("=") for entry in listed.split())
    return Result(desired={resource: Desired.of(config_map(name), ready=True) for resource, name in pairs})


def test_a_composed_resource_is_labelled_annotated_and_owned() -> None:
    control = reconcile(plane(endpoint(), ModelEndpoint=composing(one=config_map("a", labels={"l": "v"}))))
    metadata = existing(control, "ConfigMap", TEAM, "a")["metadata"]
    assert metadata["labels"] == {"l": "v", "crossplane.io/composite": "e"}
    assert metadata["annotations"] == {"crossplane.io/composition-resource-name": "one"}
    owner = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelEndpoint", "name": "e", "controller": True}
    uid = existing(control, "ModelEndpoint", TEAM, "e")["metadata"]["uid"]
    assert metadata["ownerReferences"] == [{**owner, "blockOwnerDeletion": True, "uid": uid}]


def test_a_composite_refers_to_its_composition_and_to_what_it_composed() -> None:
    step = composing(b=config_map("b"), a=config_map("a"))
    control = reconcile(plane(endpoint(), ModelEndpoint=step))
    made = existing(control, "ModelEndpoint", TEAM, "e")
    assert made["metadata"]["labels"] == {"crossplane.io/composite": "e"}
    refs = [{"apiVersion": "v1", "kind": "ConfigMap", "name": name} for name in ("a", "b")]
    assert made["spec"]["crossplane"] == {"compositionRef": {"name": "modelendpoint"}, "resourceRefs": refs}


def test_references_of_a_cluster_scoped_composite_carry_namespaces() -> None:
    control = plane(inference_class(), InferenceClass=composing(a=config_map("a")))
    control.reconcile("InferenceClass", None, "k")
    refs = existing(control, "InferenceClass", None, "k")["spec"]["crossplane"]["resourceRefs"]
    assert refs == [{"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "namespace": TEAM}]


def test_a_nested_composite_passes_on_the_root_and_owns_its_own() -> None:
    def step(request: Request) -> Result:
        child = endpoint("child") if request.composite.name == "e" else config_map("leaf")
        return Result(desired={"child": Desired.of(child)})

    control = plane(endpoint(), ModelEndpoint=step)
    assert control.settle()
    leaf = existing(control, "ConfigMap", TEAM, "leaf")["metadata"]
    assert leaf["labels"] == {"crossplane.io/composite": "e"}
    assert leaf["ownerReferences"][0]["name"] == "child"


def test_a_resource_without_a_name_is_named_after_the_root_and_a_hash() -> None:
    control = reconcile(plane(endpoint(), ModelEndpoint=composing(one=config_map(None))))
    uid = existing(control, "ModelEndpoint", TEAM, "e")["metadata"]["uid"]
    suffix = hashlib.sha256(f"{uid}one".encode()).hexdigest()[:12]
    assert [obj["metadata"]["name"] for obj in control.list("ConfigMap")] == [f"e-{suffix}"]


def test_a_generated_name_is_cut_to_63_characters() -> None:
    control = plane(endpoint("e" * 63), ModelEndpoint=composing(one=config_map(None)))
    control.reconcile("ModelEndpoint", TEAM, "e" * 63)
    name = control.list("ConfigMap")[0]["metadata"]["name"]
    assert (len(name), name[:51]) == (63, "e" * 50 + "-")


def test_what_exists_keeps_its_name_whatever_it_is_called_now() -> None:
    control = reconcile(plane(endpoint(annotations={"want": "one=a"}), ModelEndpoint=by_annotation))
    control.apply(endpoint(annotations={"want": "one=b"}))
    reconcile(control)
    assert [obj["metadata"]["name"] for obj in control.list("ConfigMap")] == ["a"]


def test_an_invalid_name_fails_the_pass() -> None:
    control = reconcile(plane(endpoint(), ModelEndpoint=composing(ok=config_map("a"), one=config_map("Not_valid"))))
    assert conditions_of(control.get("ModelEndpoint", TEAM, "e"))["Synced"][2] == (
        'cannot compose resources: cannot apply composed resource "one" because it has an invalid name "Not_valid". '
        "Must be a valid RFC 1123 subdomain name."
    )
    assert control.list("ConfigMap") == []


def test_the_namespace_of_a_namespaced_composite_is_forced_on_what_it_composes() -> None:
    control = reconcile(plane(endpoint(), ModelEndpoint=composing(one=config_map("a", namespace="elsewhere"))))
    assert control.get("ConfigMap", TEAM, "a") is not None


def test_a_cluster_scoped_composite_composes_in_any_namespace() -> None:
    control = plane(inference_class(), InferenceClass=composing(one=config_map("a", namespace="elsewhere")))
    control.reconcile("InferenceClass", None, "k")
    assert control.get("ConfigMap", "elsewhere", "a") is not None


def unsettled(**manifests: dict[str, Any]) -> str:
    """Return what Synced says after a pass that wants these, and that nothing was composed."""
    control = reconcile(plane(endpoint(), ModelEndpoint=composing(ok=config_map("a"), **manifests)))
    assert control.list("ConfigMap") == []
    return conditions_of(control.get("ModelEndpoint", TEAM, "e"))["Synced"][2]


def test_a_cluster_scoped_resource_of_a_namespaced_composite_fails_the_pass() -> None:
    message = unsettled(one={"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}})
    assert 'cannot apply cluster scoped composed resource "one" (a Namespace named n)' in message


def test_a_composed_kind_that_does_not_exist_fails_the_pass() -> None:
    message = unsettled(one={"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {"name": "t"}})
    assert 'no matches for kind "Thing" in version "example.org/v1"' in message


def test_a_field_that_no_schema_declares_fails_the_pass() -> None:
    wrong = {**endpoint("child"), "spec": {"url": "http://example.org", "nonsense": 1}}
    control = reconcile(plane(endpoint(), ModelEndpoint=composing(one=wrong)))
    assert conditions_of(control.get("ModelEndpoint", TEAM, "e"))["Synced"][0] == "False"
    assert control.get("ModelEndpoint", TEAM, "child") is None


def test_an_invalid_resource_is_left_out_and_named_while_the_rest_is_applied() -> None:
    wrong = {**endpoint("child"), "spec": {"url": ""}}
    control = reconcile(plane(endpoint(), ModelEndpoint=composing(bad=wrong, good=config_map("a"))))
    assert conditions_of(control.get("ModelEndpoint", TEAM, "e"))["Synced"] == (
        "False",
        "ReconcileError",
        "Unsynced resources: bad",
    )
    assert control.get("ModelEndpoint", TEAM, "child") is None
    assert control.get("ConfigMap", TEAM, "a") is not None


def test_what_another_composite_controls_is_not_taken_over() -> None:
    control = plane(endpoint("other"), endpoint(), ModelEndpoint=composing(one=config_map("a")))
    control.reconcile("ModelEndpoint", TEAM, "other")
    reconcile(control)
    assert conditions_of(control.get("ModelEndpoint", TEAM, "e"))["Synced"][2] == "Unsynced resources: one"
    assert existing(control, "ConfigMap", TEAM, "a")["metadata"]["ownerReferences"][0]["name"] == "other"


def test_what_is_no_longer_desired_is_deleted_with_what_it_owns() -> None:
    def step(request: Request) -> Result:
        if request.composite.name == "child":
            return Result(desired={"leaf": Desired.of(config_map("leaf"))})
        wanted = request.composite.metadata.get("annotations", {}).get("want") == "child"
        return Result(desired={"child": Desired.of(endpoint("child"))} if wanted else {})

    control = plane(endpoint(annotations={"want": "child"}), ModelEndpoint=step)
    control.settle()
    assert control.get("ConfigMap", TEAM, "leaf") is not None
    control.apply(endpoint(annotations={"want": "nothing"}))
    done = control.reconcile("ModelEndpoint", TEAM, "e")
    assert done is not None
    assert [key.name for key in done.deleted] == ["child"]
    assert [obj["metadata"]["name"] for obj in control.list("ModelEndpoint")] == ["e"]
    assert control.list("ConfigMap") == []
    assert existing(control, "ModelEndpoint", TEAM, "e")["spec"]["crossplane"]["resourceRefs"] == []


def test_what_is_being_deleted_is_no_longer_observed() -> None:
    control = plane(endpoint(annotations={"want": "one=a two=b"}), ModelEndpoint=by_annotation)
    reconcile(control)
    held = existing(control, "ConfigMap", TEAM, "a")
    held["metadata"]["finalizers"] = ["example.org/hold"]
    control.apply(held)
    control.apply(endpoint(annotations={"want": "two=b"}))
    reconcile(control)
    left = existing(control, "ConfigMap", TEAM, "a")["metadata"]
    assert "deletionTimestamp" in left
    assert "crossplane.io/composite" not in left["labels"]
    refs = existing(control, "ModelEndpoint", TEAM, "e")["spec"]["crossplane"]["resourceRefs"]
    assert [ref["name"] for ref in refs] == ["b"]


def test_what_a_usage_protects_fails_the_pass_that_would_delete_it() -> None:
    usage = {
        "apiVersion": "protection.crossplane.io/v1beta1",
        "kind": "Usage",
        "metadata": {"name": "u", "namespace": TEAM},
        "spec": {"of": {"apiVersion": "v1", "kind": "ConfigMap", "resourceRef": {"name": "a"}}, "reason": "because"},
    }
    control = plane(endpoint(annotations={"want": "one=a"}), usage, ModelEndpoint=by_annotation)
    reconcile(control)
    control.apply(endpoint(annotations={"want": ""}))
    reconcile(control)
    assert "cannot garbage collect" in conditions_of(control.get("ModelEndpoint", TEAM, "e"))["Synced"][2]
    assert control.get("ConfigMap", TEAM, "a") is not None


def test_a_field_that_is_no_longer_desired_is_removed_and_others_fields_stay() -> None:
    def step(request: Request) -> Result:
        data = {"kept": "1"} if request.composite.metadata.get("annotations") else {"kept": "1", "dropped": "1"}
        return Result(desired={"one": Desired.of(config_map("a", data))})

    control = reconcile(plane(endpoint(), ModelEndpoint=step))
    made = existing(control, "ConfigMap", TEAM, "a")
    control.apply({**made, "data": {**made["data"], "theirs": "1"}})
    control.apply(endpoint(annotations={"less": "yes"}))
    reconcile(control)
    assert existing(control, "ConfigMap", TEAM, "a")["data"] == {"kept": "1", "theirs": "1"}


def test_what_a_person_changed_is_put_right() -> None:
    control = reconcile(plane(endpoint(), ModelEndpoint=composing(one=config_map("a", {"k": "ours"}))))
    made = existing(control, "ConfigMap", TEAM, "a")
    control.apply({**made, "data": {"k": "theirs"}})
    reconcile(control)
    assert existing(control, "ConfigMap", TEAM, "a")["data"] == {"k": "ours"}


def test_what_a_person_deleted_is_made_again() -> None:
    control = reconcile(plane(endpoint(), ModelEndpoint=composing(one=config_map("a"))))
    control.delete("ConfigMap", TEAM, "a")
    reconcile(control)
    assert control.get("ConfigMap", TEAM, "a") is not None


def test_a_resource_is_not_built_again_while_its_key_and_the_object_are_the_same() -> None:
    built = []

    def step(request: Request) -> Result:
        def build() -> dict[str, Any]:
            built.append(request.composite.metadata["generation"])
            return config_map("a", {"k": "v"})

        return Result(desired={"one": Desired(build, key="same")})

    control = plane(endpoint(), ModelEndpoint=step)
    for _ in range(3):
        reconcile(control)
    assert len(built) == 1
    control.apply({**existing(control, "ConfigMap", TEAM, "a"), "data": {}})
    reconcile(control)
    assert existing(control, "ConfigMap", TEAM, "a")["data"] == {"k": "v"}


def test_a_pass_that_changes_nothing_writes_nothing() -> None:
    control = plane(endpoint(), ModelEndpoint=composing(one=config_map("a")))
    control.settle()
    before = control.everything()
    reconcile(control)
    assert control.everything() == before
