"""A composed resource that is held is desired as it is observed, without what others wrote into it."""

from typing import Any

import pytest

from modelplane.composing.hold import held, hold_all
from modelplane.step import Object, Request
from modelplane.step.sealed import Sealed

SEALED = Sealed(b"hush")


def observed(**metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Object",
        "metadata": {"name": "x", "namespace": "n", **metadata},
        "spec": {"a": 1},
        "status": {"b": 2},
    }


def test_a_held_resource_keeps_its_identity_and_spec() -> None:
    body = observed(uid="u", resourceVersion="7", finalizers=["f"], managedFields=[{}], generation=3)
    assert held(body) == {
        "apiVersion": "v1",
        "kind": "Object",
        "metadata": {"name": "x", "namespace": "n"},
        "spec": {"a": 1},
    }


@pytest.mark.parametrize(
    "annotation", [{"crossplane.io/poll-interval": "5m"}, {"crossplane.io/external-name": "vpc-0a1b"}]
)
def test_a_held_resource_keeps_its_poll_interval_and_external_name_and_no_other_annotation_of_crossplanes(
    annotation: dict[str, str],
) -> None:
    body = observed(annotations={**annotation, "crossplane.io/external-create-succeeded": "2026-01-01T00:00:00Z"})
    assert held(body)["metadata"]["annotations"] == annotation


def test_a_cluster_scoped_resource_has_no_namespace() -> None:
    body = {"apiVersion": "v1", "kind": "Config", "metadata": {"name": "x"}}
    assert held(body) == {"apiVersion": "v1", "kind": "Config", "metadata": {"name": "x"}}


def test_a_held_secret_keeps_its_sealed_values() -> None:
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}, "type": "Opaque", "data": {"k": SEALED}}
    assert held(body) == body


@pytest.mark.parametrize(
    ("references", "kept"),
    [
        ([], {"data": {"a": SEALED, "b": SEALED}}),
        ([{"dependsOn": {"name": "x"}}], {"data": {"a": SEALED, "b": SEALED}}),
        ([{"patchesFrom": {}, "toFieldPath": "data"}], {}),
        ([{"patchesFrom": {}, "toFieldPath": "data[a]"}], {"data": {"b": SEALED}}),
    ],
)
def test_what_the_provider_patches_into_a_held_secret_is_left_to_the_provider(
    references: list[dict[str, Any]], kept: dict[str, Any]
) -> None:
    manifest = {"kind": "Secret", "data": {"a": SEALED, "b": SEALED}}
    body = observed() | {"spec": {"forProvider": {"manifest": manifest}, "references": references}}
    assert held(body)["spec"] == {"forProvider": {"manifest": {"kind": "Secret", **kept}}, "references": references}


@pytest.mark.parametrize("field", ["labels", "annotations"])
def test_a_held_resource_keeps_the_labels_and_annotations_that_were_composed(field: str) -> None:
    ours = {"modelplane.ai/deployment": "chat", "team": "ml", "crossplane.io.example.org/mine": "x"}
    theirs = {
        "crossplane.io/composite": "chat",
        "crossplane.io/composition-resource-name": "replica-a-0",
        "crossplane.io/external-create-succeeded": "2026-01-01T00:00:00Z",
        "internal.crossplane.io/x": "y",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
    }
    assert held(observed(**{field: ours | theirs}))["metadata"][field] == ours
    assert field not in held(observed(**{field: theirs}))["metadata"]


def test_a_held_resource_keeps_the_owners_beside_its_composite() -> None:
    composite, other = {"name": "c", "controller": True}, {"name": "d"}
    assert held(observed(ownerReferences=[composite, other]))["metadata"]["ownerReferences"] == [other]
    assert "ownerReferences" not in held(observed(ownerReferences=[composite]))["metadata"]


def test_everything_that_is_observed_can_be_held_at_once() -> None:
    seen = {name: Object(observed(), name) for name in ("a", "b")}
    assert hold_all(Request(composite=Object({}, "c"), observed=seen)) == {"a": held(observed()), "b": held(observed())}
