"""How many replicas a response is reckoned to carry: so many always fit, and not many more would."""

from typing import Any

import pytest

from modelplane.compose_endpoint.deployment import compose as compose_endpoints
from modelplane.compose_replica.deployment import compose as compose_replicas
from modelplane.composing.placement_message import PlacementMessage, write_placements
from modelplane.model.deployment import Deployment, Role
from modelplane.model.names import replica_name
from modelplane.model.placement import Stamp
from modelplane.model.replica import Claim, StampedEngine, StampedMember
from modelplane.observed.deployment import read_deployment
from modelplane.step import RESPONSE_LIMIT, Object, Request
from modelplane.transport.structs import encode

CLASS = "c" * 253


def deployment(devices: int = 1, container: dict[str, Any] | None = None, **spec: Any) -> Object:
    requests = [{"name": f"d{at}", "count": 1, "selectors": [{"cel": "true"}]} for at in range(devices)]
    pod = {"containers": [{"name": "engine", "image": "i", **(container or {})}]}
    member = {"nodeSelector": {"devices": requests}, "template": {"spec": pod}}
    metadata = {"name": "qwen", "namespace": "ml", "uid": "u"}
    body = {"spec": {"engines": [{"name": "main", "members": [member]}], **spec}}
    return Object({"kind": "ModelDeployment", "metadata": metadata, **body}, repr((devices, container, spec)))


def message(index: int, devices: int) -> PlacementMessage:
    cluster = "a-cluster-of-the-fleet"
    claims = tuple(Claim(f"d{at}", CLASS, 1) for at in range(devices))
    return PlacementMessage(
        name=replica_name("ml", "qwen", cluster, index),
        resource=f"replica-{cluster}-{index}",
        endpoint=f"endpoint-{cluster}-{index}",
        cluster=cluster,
        index=index,
        stamp=Stamp.APPLY,
        engines=(StampedEngine("main", (StampedMember(Role.STANDALONE, "pool", claims=claims),)),),
        address=f"{cluster}.example.org",
        revision="12345678",
        volume="a-volume-12345678",
    )


def size(composite: Object, devices: int, replicas: int) -> int:
    """Return the bytes that the last response of a pass takes for so many replicas."""
    messages = [message(index, devices) for index in range(replicas)]
    context = write_placements(messages)
    request = Request(composite, context=context)
    resources = {**compose_replicas(request).desired, **compose_endpoints(request).desired}
    row: dict[str, Any] = {"name": messages[0].name, "cluster": messages[0].cluster, "pools": {"main": "pool"}}
    row |= {"revision": "12345678", "why": "x" * 256}
    flags = {"index": 1, "ready": True, "leaving": False, "updated": True, "serving": True}
    status = encode({"placements": [{**row, **flags}] * replicas})
    sizes = (len(name) + len(encode(desired.build())) + 20 for name, desired in resources.items())
    return sum(sizes) + len(str(context)) + len(status)


CASES: dict[str, tuple[int, dict[str, Any], dict[str, Any]]] = {
    "the smallest": (1, {}, {}),
    "many devices": (16, {}, {}),
    "many variables": (1, {"env": [{"name": f"E{at}", "value": ""} for at in range(256)]}, {}),
    "long arguments": (1, {"args": ["x" * 60_000]}, {}),
    "many labels": (1, {}, {"replicaLabels": {f"key-{at}": "v" * 63 for at in range(32)}}),
}


@pytest.mark.parametrize(("devices", "container", "spec"), CASES.values(), ids=CASES)
def test_a_response_carries_as_many_replicas_as_are_reckoned_and_not_four_times_as_many(
    devices: int, container: dict[str, Any], spec: dict[str, Any]
) -> None:
    composite = deployment(devices, container, **spec)
    read = read_deployment(composite)
    assert isinstance(read, Deployment)
    assert size(composite, devices, read.carried) <= RESPONSE_LIMIT < size(composite, devices, 4 * read.carried)
