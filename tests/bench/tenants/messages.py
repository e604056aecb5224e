"""Cases whose cost is in requests and responses themselves."""

from bench.fleet import NAMESPACE, Manifest, deployment, from_server
from bench.passes import Scene
from bench.tenants.table import Case, fleet
from modelplane.model.names import API_VERSION, LABEL_CLUSTER

_MIB = 1024 * 1024


def _large_replica(number: int, size: int) -> Manifest:
    """Return a ModelReplica as a tenant can write one by hand: what no field needs is in an annotation."""
    spec = {"clusterName": f"cluster-{number:04}", "engines": deployment("large", 1)["spec"]["engines"]}
    for member in spec["engines"][0]["members"]:
        member |= {"nodePoolName": "l4", "deviceRequests": []}
        member["template"]["spec"]["containers"][0]["args"] = ["x" * 100] * (size // 103)
    metadata = {"name": f"large-{number}", "namespace": NAMESPACE, "labels": {LABEL_CLUSTER: spec["clusterName"]}}
    manifest = {"apiVersion": API_VERSION, "kind": "ModelReplica", "metadata": metadata, "spec": spec}
    return from_server(manifest, f"uid-large-{number}", 2_000_000 + number)


def _beside_large_replicas(many: int, size: int) -> Scene:
    return Scene(deployment("stranger", 1), {}, fleet(*(_large_replica(number, size) for number in range(many))))


def _beside_nested_replica() -> Scene:
    """Return a stranger's deployment beside a large replica that is nested more deeply than protobuf reads."""
    replica = _large_replica(0, 600_000)
    deep: Manifest = {}
    for _ in range(100):
        deep = {"a": deep}
    served = [*replica["spec"]["engines"], {"x": deep}]
    return Scene(deployment("stranger", 1), {}, fleet({**replica, "status": {"served": True, "servedEngines": served}}))


def _large_deployment() -> Scene:
    """Return a deployment of many replicas, whose replicas together are far more than a response can hold."""
    large = deployment("large", 500)
    (member,) = large["spec"]["engines"][0]["members"]
    member["template"]["spec"]["containers"][0]["args"] = ["x" * 65_000] * 4
    return Scene(large, {}, fleet())


CASES = (
    Case("48 hand-written ModelReplicas of 1.4 MB", lambda: _beside_large_replicas(48, 1_400_000)),
    Case("a hand-written ModelReplica of 1.2 MB that is nested 100 levels deep", _beside_nested_replica),
    Case(
        "500 replicas of 260 kB, as large as may be: a response of 130 MB",
        _large_deployment,
        ("schedule", "compose-replica"),
        refused="the response is too large",
    ),
)
