"""The fields of a ModelReplica have the bounds and defaults that were promised to those who write one."""

from typing import Any

import pytest
import yaml

from modelplane_dev.folders import ROOT

Schema = dict[str, Any]
ENGINE = "spec.engines[]"
MEMBER = f"{ENGINE}.members[]"
REQUEST = f"{MEMBER}.deviceRequests[]"
POD = f"{MEMBER}.template.spec"
CONTAINER = f"{POD}.containers[]"
#: The path of a field, and what its schema says.
FIELDS: list[tuple[str, Schema]] = [
    ("spec.clusterName", {"type": "string", "minLength": 1}),
    ("spec.engines", {"type": "array", "minItems": 1, "maxItems": 8, "x-kubernetes-list-map-keys": ["name"]}),
    ("spec.modelCacheRef.name", {"type": "string", "minLength": 1}),
    ("spec.serving.mode", {"enum": ["Unified", "PrefillDecode"], "default": "Unified"}),
    (f"{ENGINE}.name", {"minLength": 1, "maxLength": 63}),
    (f"{ENGINE}.copies", {"type": "integer", "minimum": 1, "maximum": 64, "default": 1}),
    (f"{ENGINE}.phase", {"enum": ["Prefill", "Decode"]}),
    (f"{ENGINE}.members", {"minItems": 1, "maxItems": 2, "x-kubernetes-list-type": "atomic"}),
    (f"{MEMBER}.role", {"enum": ["Standalone", "Leader", "Worker"], "default": "Standalone"}),
    (f"{MEMBER}.nodePoolName", {"minLength": 1}),
    (f"{MEMBER}.worker.nodes", {"type": "integer", "minimum": 1, "maximum": 63}),
    (f"{MEMBER}.deviceRequests", {"maxItems": 16, "x-kubernetes-list-map-keys": ["name"]}),
    (f"{REQUEST}.name", {"minLength": 1, "maxLength": 63}),
    (f"{REQUEST}.deviceClassName", {"minLength": 1, "maxLength": 253}),
    (f"{REQUEST}.count", {"minimum": 1, "maximum": 64, "default": 1}),
    (f"{REQUEST}.selectors", {"maxItems": 8}),
    (f"{REQUEST}.selectors[].cel", {"maxLength": 10240}),
    (f"{MEMBER}.template.metadata.labels", {"type": "object"}),
    (f"{MEMBER}.template.metadata.annotations", {"type": "object"}),
    (f"{POD}.containers", {"minItems": 1, "maxItems": 1}),
    (f"{POD}.imagePullSecrets[].name", {"type": "string"}),
    (f"{CONTAINER}.name", {"minLength": 1}),
    (f"{CONTAINER}.image", {"minLength": 1}),
    (f"{CONTAINER}.command", {"type": "array"}),
    (f"{CONTAINER}.args", {"type": "array"}),
    (f"{CONTAINER}.env[].value", {"type": "string"}),
    (f"{CONTAINER}.env[].valueFrom.secretKeyRef.optional", {"type": "boolean"}),
    (f"{CONTAINER}.env[].valueFrom.configMapKeyRef.optional", {"type": "boolean"}),
    (f"{CONTAINER}.env[].valueFrom.fieldRef.apiVersion", {"type": "string"}),
    (f"{CONTAINER}.env[].valueFrom.fieldRef.fieldPath", {"type": "string"}),
]
#: Objects, and the fields that each has to have.
REQUIRED = {
    "spec": {"clusterName", "engines"},
    "spec.modelCacheRef": {"name"},
    ENGINE: {"name", "members"},
    MEMBER: {"nodePoolName", "template"},
    f"{MEMBER}.worker": {"nodes"},
    REQUEST: {"name", "deviceClassName"},
    POD: {"containers"},
    f"{POD}.imagePullSecrets[]": {"name"},
    CONTAINER: {"name", "image"},
    f"{CONTAINER}.env[]": {"name"},
    f"{CONTAINER}.env[].valueFrom.secretKeyRef": {"name", "key"},
    f"{CONTAINER}.env[].valueFrom.configMapKeyRef": {"name", "key"},
    f"{CONTAINER}.env[].valueFrom.fieldRef": {"fieldPath"},
}
DEFINITION = yaml.safe_load((ROOT / "apis" / "modelreplicas" / "definition.yaml").read_text())["spec"]


def at(path: str) -> Schema:
    """Return the schema of a field; `[]` stands for the items of a list."""
    found: Schema = DEFINITION["versions"][0]["schema"]["openAPIV3Schema"]
    for step in path.replace("[]", ".[]").split("."):
        found = found["items"] if step == "[]" else found["properties"][step]
    return found


@pytest.mark.proves("P106")
def test_a_replica_is_namespaced_and_has_its_short_name() -> None:
    assert (DEFINITION["scope"], DEFINITION["names"]["shortNames"]) == ("Namespaced", ["mr"])
    assert [version["name"] for version in DEFINITION["versions"]] == ["v1alpha1"]


@pytest.mark.proves("P104")
@pytest.mark.parametrize(("path", "promised"), FIELDS, ids=[path for path, _ in FIELDS])
def test_a_field_has_its_bounds_and_default(path: str, promised: Schema) -> None:
    assert promised.items() <= at(path).items()


@pytest.mark.proves("P105")
@pytest.mark.parametrize(("path", "names"), REQUIRED.items(), ids=REQUIRED)
def test_an_object_has_to_have_its_fields(path: str, names: set[str]) -> None:
    assert set(at(path).get("required", ())) == names
