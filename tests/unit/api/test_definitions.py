"""What the XRDs promise beside their fields: names, scope, columns, the scale subresource, and words for kubectl."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest

from modelplane.reading.definitions import xrds

FACE = {
    "ClusterModel": ("Cluster", "clustermodels", "clm", ["MODEL", "REPLICAS", "ACCEPTED"]),
    "ModelDeployment": ("Namespaced", "modeldeployments", "md", ["REPLICAS", "UPDATED", "SCHEDULED", "WAITING-FOR"]),
    "ModelReplica": ("Namespaced", "modelreplicas", "mr", ["CLUSTER", "PROFILE"]),
    "ModelEndpoint": ("Namespaced", "modelendpoints", "me", ["URL", "SERVING"]),
    "ModelService": ("Namespaced", "modelservices", "ms", ["URL", "ENDPOINTS", "KEYS", "ADDRESS"]),
    "ModelCache": ("Namespaced", "modelcaches", "mc", ["SOURCE", "READY"]),
    "InferenceClass": ("Cluster", "inferenceclasses", "icl", ["DEVICES", "ACCEPTED"]),
    "InferenceCluster": ("Cluster", "inferenceclusters", "ic", ["SOURCE", "GATEWAY", "REPLICAS"]),
    "InferenceGateway": ("Cluster", "inferencegateways", "ig", ["ADDRESS", "FLEET-URL"]),
}
#: Kinds that other kinds compose and nobody writes: `kubectl get modelplane` does not list them.
INNER = {
    "ManagedCluster": ("Namespaced", "managedclusters", ["CLUSTER", "SOURCE", "STATE"]),
    "ServingStack": ("Namespaced", "servingstacks", ["CLUSTER", "PARTS"]),
}


def schema(kind: str) -> Any:
    return xrds()[kind]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]


def walk(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each field of a schema with its path."""
    for key, child in node.get("properties", {}).items():
        yield f"{path}.{key}", child
        yield from walk(child, f"{path}.{key}")
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield from walk(node[key], f"{path}[]")


def test_the_kinds_are_those_of_the_api() -> None:
    assert set(xrds()) == {*FACE, *INNER}


@pytest.mark.parametrize("kind", FACE)
def test_a_kind_shows_itself_as_documented(kind: str) -> None:
    spec = xrds()[kind]["spec"]
    names, (version,) = spec["names"], spec["versions"]
    columns = [column["name"] for column in version.get("additionalPrinterColumns", [])]
    assert (spec["scope"], names["plural"], *names["shortNames"], columns) == FACE[kind]
    assert names["categories"] == ["modelplane", "crossplane"]
    assert (spec["group"], version["name"]) == ("modelplane.ai", "v1alpha1")


@pytest.mark.parametrize("kind", INNER)
def test_an_inner_kind_shows_itself_to_who_asks_for_it_or_for_all_of_crossplane(kind: str) -> None:
    spec = xrds()[kind]["spec"]
    names, (version,) = spec["names"], spec["versions"]
    columns = [column["name"] for column in version["additionalPrinterColumns"]]
    assert (spec["scope"], names["plural"], columns) == INNER[kind]
    assert (names["categories"], "shortNames" in names) == (["crossplane"], False)


def test_a_deployment_scales() -> None:
    (version,) = xrds()["ModelDeployment"]["spec"]["versions"]
    assert version["subresources"]["scale"] == {
        "specReplicasPath": ".spec.replicas",
        "statusReplicasPath": ".status.replicas.total",
        "labelSelectorPath": ".status.replicas.selector",
    }


@pytest.mark.parametrize("kind", [*FACE, *INNER])
def test_every_field_is_described(kind: str) -> None:
    assert [path for path, field in walk(schema(kind)) if not field.get("description")] == []


@pytest.mark.parametrize("kind", [*FACE, *INNER])
def test_only_what_crossplane_keeps_stands_at_the_top(kind: str) -> None:
    kept = {"type", "description", "required", "properties", "x-kubernetes-validations"}
    assert set(schema(kind)) <= kept
    for part in schema(kind)["properties"].values():
        assert set(part) <= kept | {"oneOf"}


def test_a_replica_takes_the_pods_that_a_deployment_takes() -> None:
    templates = [
        field
        for kind in ("ModelDeployment", "ModelReplica")
        for path, field in walk(schema(kind)["properties"]["spec"])
        if path == ".engines[].members[].template"
    ]
    assert len(templates) == 2
    asked, carried = map(copy.deepcopy, templates)
    # What it asks of its node stands beside the template of a replica.
    del asked["properties"]["spec"]["properties"]["containers"]["items"]["properties"]["resources"]
    del asked["properties"]["spec"]["properties"]["sharedMemory"]
    assert asked == carried


def test_a_replica_takes_the_resources_that_a_deployment_takes() -> None:
    blocks = [
        [path for path, _ in walk(field)] + [field["properties"][each]["properties"] for each in ("requests", "limits")]
        for kind in ("ModelDeployment", "ModelReplica")
        for path, field in walk(schema(kind)["properties"]["spec"])
        if path.endswith(".resources")
    ]
    asked, carried = json.loads(json.dumps(blocks).replace("the pod", "the engine"))
    assert asked == carried
