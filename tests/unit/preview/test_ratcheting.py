"""A bound that a version of a definition narrows is not held against what is stored and unchanged, as on a server."""

from copy import deepcopy
from typing import Any

import pytest

from modelplane.preview import ControlPlane, InvalidObject
from modelplane.preview.admission import admit
from unit.api.cases import example

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


@pytest.mark.parametrize("edit", [scaled, more_copies, another_engine_first])
def test_an_edit_beside_what_is_over_a_bound_is_taken(edit: Any) -> None:
    control = ControlPlane([over_bound()])
    edited = without_uid(over_bound())
    edit(edited)
    control.apply(edited)
    assert (control.get(*KEY) or {})["spec"] == admit(edited, lambda found: found)["spec"]


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
        "spec": {"cluster": {"source": "GKE", "gke": {"region": "r"}}},
    }
    with pytest.raises(InvalidObject, match="Unsupported value"):
        ControlPlane([cluster])
    control = ControlPlane([{**cluster, "metadata": {"name": "cloud", "uid": "u"}}])
    assert control.settle()
    (found,) = control.list("InferenceCluster")
    assert "spec.cluster.source GKE is not composed" in str(found["status"]["conditions"])


def test_a_value_that_no_version_took_is_refused_also_of_a_stored_object() -> None:
    obj = over_bound()
    obj["spec"]["replicas"] = "seven"
    with pytest.raises(InvalidObject, match="must be of type integer"):
        ControlPlane([obj])
