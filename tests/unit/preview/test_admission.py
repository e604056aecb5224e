"""What admission of the preview does to an object, beside the rules and bounds that tests/unit/api has by example."""

from copy import deepcopy
from datetime import UTC, date, datetime
from typing import Any

import pytest

from modelplane.preview.admission import InvalidObject, admit

Manifest = dict[str, Any]

CLUSTER: Manifest = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "InferenceCluster",
    "metadata": {"name": "eu-1"},
    "spec": {
        "cluster": {"source": "Existing", "existing": {"secretRef": {"name": "eu-1-kubeconfig"}}},
        "nodePools": [{"name": "h200", "className": "h200-8x", "tolerations": [{"key": "a"}]}],
    },
}
SERVICE: Manifest = {
    "apiVersion": "modelplane.ai/v1alpha1",
    "kind": "ModelService",
    "metadata": {"name": "chat", "namespace": "ml"},
    "spec": {"endpoints": [{"selector": {"matchLabels": {"a": "b"}}}]},
}


def changed(obj: Manifest, part: str, **fields: Any) -> Manifest:
    return {**obj, part: {**obj.get(part, {}), **fields}}


def refusal(obj: Any) -> InvalidObject:
    with pytest.raises(InvalidObject) as raised:
        admit(obj)
    return raised.value


def test_defaults_are_filled_in_where_their_parent_stands() -> None:
    spec = admit(CLUSTER)["spec"]
    assert spec["cluster"]["existing"]["secretRef"] == {"name": "eu-1-kubeconfig", "key": "kubeconfig"}
    assert spec["nodePools"][0]["tolerations"] == [{"key": "a", "operator": "Equal"}]
    assert "stack" not in spec


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (None, "Required value"),
        ("", "Required value"),
        (12, "Invalid value: 12: must be of type string"),
        (True, "Invalid"),
    ],
)
def test_a_name_that_yaml_reads_as_a_number_is_not_said_to_be_missing(name: Any, why: str) -> None:
    refused = refusal(changed(CLUSTER, "metadata", name=name))
    assert refused.field == "metadata.name"
    assert refused.why.startswith(why)


def test_an_object_stays_as_it_was_given() -> None:
    given = deepcopy(CLUSTER)
    admitted = admit(given)
    admitted["spec"]["nodePools"][0]["name"] = "other"
    assert given == CLUSTER


def test_admitting_twice_changes_nothing() -> None:
    once = admit(CLUSTER)
    assert admit(once) == once


def test_null_is_absent_and_takes_the_default() -> None:
    endpoint = {"name": None, "weight": None, "selector": {"matchLabels": {"a": "b"}}}
    admitted = admit(changed(SERVICE, "spec", endpoints=[endpoint], rateLimit=None))
    assert admitted["spec"] == {"endpoints": [{"weight": 1, "priority": 0, "selector": {"matchLabels": {"a": "b"}}}]}


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"taints": [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "effect": "NoSchedule"}]}, "spec.taints[1]"),
        ({"nodePools": [{"name": "a", "className": "x"}, {"name": "a", "className": "y"}]}, "spec.nodePools[1]"),
    ],
)
def test_keys_of_a_list_stand_once(spec: Manifest, field: str) -> None:
    refused = refusal(changed(CLUSTER, "spec", **spec))
    assert refused.field == field
    assert refused.why.startswith("Duplicate value: ")


def test_taints_differ_by_effect_too() -> None:
    admit(changed(CLUSTER, "spec", taints=[{"key": "a", "effect": e} for e in ("NoSchedule", "NoExecute")]))


def test_what_crossplane_writes_is_known() -> None:
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "Available",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
        "observedGeneration": 1,
    }
    machinery = {"compositionRef": {"name": "x"}, "resourceRefs": [{"apiVersion": "v1", "kind": "Secret"}]}
    obj = changed(CLUSTER, "spec", crossplane=machinery)
    assert admit({**obj, "status": {"conditions": [condition]}})["status"]["conditions"] == [condition]


@pytest.mark.parametrize(
    ("status", "field"),
    [
        ({"gatway": {}}, "status.gatway"),
        ({"replicas": "3"}, "status.replicas"),
        ({"conditions": [{"type": "Ready", "status": "True"}]}, "status.conditions[0].lastTransitionTime"),
        ({"gpuPools": [{"name": "a"}, {"name": "a"}]}, "status.gpuPools[1]"),
    ],
)
def test_a_status_is_checked_too(status: Manifest, field: str) -> None:
    assert refusal({**CLUSTER, "status": status}).field == field


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"name": "Eu_1"}, "metadata.name"),
        ({"name": "a" * 64}, "metadata.name"),
        ({"lables": {}}, "metadata.lables"),
        ({"labels": {"region": 1}}, "metadata.labels.region"),
        ({"labels": {"region": "west europe"}}, "metadata.labels.region"),
        ({"labels": {"example.com/a/b": "c"}}, "metadata.labels[example.com/a/b]"),
        ({"labels": ["region"]}, "metadata.labels"),
        ({"annotations": {"note": True}}, "metadata.annotations.note"),
    ],
)
def test_metadata_is_checked(metadata: Manifest, field: str) -> None:
    assert refusal(changed(CLUSTER, "metadata", **metadata)).field == field


def test_a_namespaced_object_goes_to_default_and_a_fleet_wide_one_to_none() -> None:
    service = {**SERVICE, "metadata": {"name": "chat"}}
    assert admit(service)["metadata"] == {"name": "chat", "namespace": "default"}
    assert admit(changed(CLUSTER, "metadata", namespace="ml"))["metadata"] == {"name": "eu-1"}


@pytest.mark.proves("P1")
@pytest.mark.parametrize(
    ("obj", "field"),
    [
        ("text", ""),
        ({"kind": "Secret", "metadata": {"name": "a"}}, "apiVersion"),
        ({"apiVersion": "v1", "kind": "Secret"}, "metadata.name"),
        ({"apiVersion": "v1", "kind": "Secret", "metadata": {"generateName": "a-"}}, "metadata.name"),
        ({"apiVersion": "v1", "kind": "", "metadata": {"name": "a"}}, "kind"),
        ({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "finalizers": 5}}, "metadata.finalizers"),
        ({**CLUSTER, "kind": "InferenceClusters"}, "kind"),
        ({**CLUSTER, "apiVersion": "modelplane.ai/v1"}, "apiVersion"),
        ({k: v for k, v in CLUSTER.items() if k != "spec"}, "spec"),
        ({**CLUSTER, "spec": []}, "spec"),
        ({**CLUSTER, "specs": {}}, "specs"),
    ],
)
def test_an_object_without_a_known_kind_a_name_and_a_spec_is_refused(obj: Any, field: str) -> None:
    assert refusal(obj).field == field


def test_kinds_of_others_are_stored_as_they_are() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "anything": {"at": ["all", None]}}
    assert admit(secret) == secret


def test_a_refusal_says_which_object_and_names_every_fault() -> None:
    broken = changed(SERVICE, "spec", endpoints=[{"weight": 0}], extra=1)
    with pytest.raises(InvalidObject) as error:
        admit(broken)
    assert error.value.object == "ModelService ml/chat"
    assert error.value.field == "spec.extra"
    assert "spec.endpoints[0].selector: Required value" in error.value.why
    assert "spec.endpoints[0].weight: Invalid value: 0: should be greater than or equal to 1" in error.value.why
    assert str(error.value).startswith('ModelService ml/chat: spec.extra: unknown field: "extra"; ')


def test_rules_wait_until_the_schema_is_kept() -> None:
    nebius = changed(CLUSTER, "spec", cluster={"source": "Nebius"})
    assert "nebius is required" not in refusal(nebius).why


def test_times_that_yaml_read_are_texts_again() -> None:
    given = changed(CLUSTER, "metadata", creationTimestamp=datetime(2026, 1, 1, tzinfo=UTC), annotations={"on": ""})
    assert admit(given)["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"on": date(2026, 1, 1)}}
    assert admit(secret)["data"] == {"on": "2026-01-01"}


@pytest.mark.parametrize(("given", "kind"), [(2.0, int), (-3.0, int), (0.5, float), (1e30, float), (True, bool)])
def test_numbers_are_those_that_kubectl_sends(given: float, kind: type) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": given}
    assert (admit(secret)["data"], type(admit(secret)["data"])) == (given, kind)


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ({"cluster"}, "set"),
        (b"cluster", "bytes"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        ("\ud800", "a lone surrogate (half a character)"),
    ],
)
def test_values_that_json_has_not_are_refused_where_they_stand(value: object, what: str) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"list": [0, value]}}
    assert refusal(secret).field == "data.list[1]"
    assert refusal(secret).why == f"{what} is not a JSON value"
