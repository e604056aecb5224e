"""A bound that a version of a definition narrows is not held against what is stored and unchanged, as on a server."""

from copy import deepcopy
from typing import Any

import pytest

from modelplane.preview import ControlPlane, InvalidObject
from modelplane.preview.admission import Served, admit
from unit.api.cases import example
from unit.preview.ratcheting import Case, cases, strict

Manifest = dict[str, Any]

EXAMPLE = example("ModelDeployment")
KEY = ("ModelDeployment", EXAMPLE["metadata"]["namespace"], EXAMPLE["metadata"]["name"])
MANY = [{"name": f"V{number}"} for number in range(300)]


def over_bound(**metadata: Any) -> Manifest:
    """Return a deployment with more variables than a new one may have, as a server holds it."""
    obj = deepcopy(EXAMPLE)
    obj["metadata"] |= {"uid": "u", **metadata}
    obj["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["env"] = MANY
    return obj


def container(obj: Manifest) -> Manifest:
    found: Manifest = obj["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]
    return found


def scaled(obj: Manifest) -> None:
    obj["spec"]["replicas"] = 7


def more_copies(obj: Manifest) -> None:
    obj["spec"]["engines"][0]["copies"] = 3


def another_engine_first(obj: Manifest) -> None:
    obj["spec"]["engines"].insert(0, {**deepcopy(EXAMPLE["spec"]["engines"][0]), "name": "another"})


def more_variables(obj: Manifest) -> None:
    container(obj)["env"] = [*MANY, {"name": "W"}]


def another_image(obj: Manifest) -> None:
    container(obj)["image"] = "another"


def without_uid(obj: Manifest) -> Manifest:
    return {**obj, "metadata": {name: value for name, value in obj["metadata"].items() if name != "uid"}}


def test_an_object_that_was_read_from_a_server_is_taken_as_it_was_and_a_new_one_is_refused() -> None:
    control = ControlPlane([over_bound()])
    assert control.get(*KEY) is not None
    with pytest.raises(InvalidObject, match="must have at most 256 items"):
        ControlPlane([without_uid(over_bound())])


def test_an_endpoint_with_a_server_name_from_before_its_parts_were_bounded_is_taken_and_says_so() -> None:
    metadata = {"name": "provider", "namespace": "ml", "uid": "u"}
    spec = {"url": "https://api.example.com", "tls": {"serverName": f"{'a' * 64}.example.com"}}
    stored = {"apiVersion": EXAMPLE["apiVersion"], "kind": "ModelEndpoint", "metadata": metadata, "spec": spec}
    control = ControlPlane([stored])
    control.apply(without_uid({**stored, "spec": {**spec, "ready": False}}))
    assert control.settle()
    found = control.get("ModelEndpoint", "ml", "provider") or {}
    assert [each["reason"] for each in found["status"]["conditions"] if each["type"] == "RoutingReady"] == [
        "InvalidURL"
    ]
    with pytest.raises(InvalidObject, match="more than 63 characters"):
        ControlPlane([without_uid(stored)])


@pytest.mark.parametrize("edit", [scaled, more_copies, another_engine_first])
def test_an_edit_beside_what_is_over_a_bound_is_taken(edit: Any) -> None:
    control = ControlPlane([over_bound()])
    edited = without_uid(over_bound())
    edit(edited)
    control.apply(edited)
    edited["metadata"]["uid"] = "u"
    assert (control.get(*KEY) or {})["spec"] == admit(edited)["spec"]


@pytest.mark.parametrize("edit", [more_variables, another_image])
def test_an_edit_of_the_members_is_refused_with_the_bound_since_they_are_one_value(edit: Any) -> None:
    control = ControlPlane([over_bound()])
    edited = without_uid(over_bound())
    edit(edited)
    with pytest.raises(InvalidObject, match="must have at most 256 items"):
        control.apply(edited)


def test_a_stored_cluster_of_a_source_that_is_offered_no_more_is_taken() -> None:
    cluster = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceCluster",
        "metadata": {"name": "cloud"},
        "spec": {"cluster": {"source": "AKS"}},
    }
    with pytest.raises(InvalidObject, match="Unsupported value"):
        ControlPlane([cluster])
    control = ControlPlane([{**cluster, "metadata": {"name": "cloud", "uid": "u"}}])
    assert control.settle()
    (found,) = control.list("InferenceCluster")
    assert "spec.cluster.source AKS is not composed" in str(found["status"]["conditions"])


def test_a_value_that_no_version_took_is_refused_also_of_a_stored_object() -> None:
    obj = over_bound()
    obj["spec"]["replicas"] = "seven"
    with pytest.raises(InvalidObject, match="must be of type integer"):
        ControlPlane([obj])


@pytest.mark.parametrize("case", tuple(cases()), ids=lambda case: case.rule)
def test_an_update_is_taken_and_refused_as_a_server_does(case: Case) -> None:
    served = Served.of(open_metadata(strict()), namespaced=False)
    faults = [f"{fault.field}: {fault.why}" for fault in served.faults(case.after, case.before, [])]
    assert case.refused in "\n".join(faults)
    assert bool(faults) == bool(case.refused)


def open_metadata(schema: Manifest) -> Manifest:
    """Return a schema that leaves metadata to others, as admission does."""
    properties = {**schema["properties"], "metadata": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {**schema, "properties": properties}


def test_the_cases_are_refused_as_new_objects_whatever_becomes_of_their_updates() -> None:
    served = Served.of(open_metadata(strict()), namespaced=False)
    stored = [case for case in cases() if served.faults(case.before, None, [])]
    assert len(stored) > 20


def test_entries_with_the_same_keys_are_refused_unless_the_stored_object_has_some() -> None:
    twice = deepcopy(EXAMPLE)
    twice["spec"]["engines"] *= 2
    with pytest.raises(InvalidObject, match="Duplicate value"):
        admit(twice, EXAMPLE)
    edited = deepcopy(twice)
    edited["spec"]["replicas"] = 2
    assert admit(edited, twice)["spec"]["replicas"] == 2


def test_a_rule_with_what_is_not_supported_is_not_taken_for_another() -> None:
    rule = {"rule": "!oldSelf.hasValue()", "message": "m", "optionalOldSelf": True}
    with pytest.raises(ValueError, match="optionalOldSelf"):
        Served.of({"type": "object", "x-kubernetes-validations": [rule]}, namespaced=False)
