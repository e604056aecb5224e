"""Fleets to measure on: objects of the size and shape that an API server sends, managed fields included."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from modelplane.model.names import API_VERSION, LABEL_CLUSTER, LABEL_DEPLOYMENT, LABEL_REPLICA_INDEX, replica_name

Manifest = dict[str, Any]

NAMESPACE = "ml"
#: GPU, its memory, and devices a node, of each pool of a cluster in the operator's order.
POOLS = (("L4", "24Gi", 4), ("A100", "80Gi", 8), ("H100", "94Gi", 8), ("H200", "141Gi", 8))
#: Nodes of every pool; the other deployments' replicas leave room on every cluster.
NODES = 8
_TIME = "2026-01-01T00:00:00Z"


def _memory(low: str, high: str) -> str:
    memory = 'device.capacity["gpu.nvidia.com"].memory'
    return f'{memory}.compareTo(quantity("{low}")) >= 0 && {memory}.compareTo(quantity("{high}")) <= 0'


#: Selects the H100 and the H200: two pools of four.
BIG = _memory("90Gi", "141Gi")


@cache
def _managed(api_version: str) -> list[Manifest]:
    """Return managed fields: the same list for all objects, which nobody changes."""
    entry = {
        "manager": "apiextensions.crossplane.io/composed/0123456789abcdef0123456789abcdef",
        "operation": "Apply",
        "apiVersion": api_version,
        "time": _TIME,
        "fieldsType": "FieldsV1",
        "fieldsV1": {f"f:{part}": {f"f:field{number}": {} for number in range(8)} for part in ("metadata", "spec")},
    }
    return [entry, {**entry, "manager": "crossplane", "subresource": "status"}]


def from_server(manifest: Mapping[str, Any], uid: str, version: int, **metadata: Any) -> Manifest:
    """Return a manifest as an API server sends it: with an identity, a version and managed fields."""
    identity = {"uid": uid, "resourceVersion": str(version), "creationTimestamp": _TIME, "generation": 1}
    fields = {"managedFields": _managed(manifest["apiVersion"])}
    return {**manifest, "metadata": {**manifest["metadata"], **identity, **fields, **metadata}}


def ready(*types: str) -> list[Manifest]:
    """Return true conditions of these types, and Crossplane's own."""
    every = (*types, "Synced", "Ready")
    return [{"type": name, "status": "True", "reason": "Available", "lastTransitionTime": _TIME} for name in every]


def _device(product: str, memory: str, count: int, driver: str) -> Manifest:
    return {
        "name": "gpu",
        "claim": "DRA",
        "driver": "gpu.nvidia.com",
        "deviceClassName": "gpu.nvidia.com",
        "count": count,
        "attributes": {
            "productName": {"string": f"NVIDIA {product}"},
            "architecture": {"string": "Hopper"},
            "cudaComputeCapability": {"version": "9.0.0"},
            "driverVersion": {"version": driver},
        },
        "capacity": {"memory": {"value": memory}},
    }


def _charged(replicas: int, at: int) -> Manifest:
    """Return what a pool publishes of the replicas that `others` puts on a cluster: pool by pool, a node each."""
    count, devices = len(range(at, replicas, len(POOLS))), POOLS[at][2]
    charged = f"{count}*1x{devices}" if count else ""
    return {"devicesCommitted": {"gpu": count * devices}, "charged": charged}


def cluster(number: int, driver: str = "580.95.5", replicas: int = 5) -> Manifest:
    """Return an InferenceCluster that is Ready, with four pools whose devices have this driver version.

    It publishes what `replicas` of `others` take.
    """
    name = f"cluster-{number:04}"
    pools = [{"name": gpu.lower(), "className": f"{gpu.lower()}-class", "nodeCount": NODES} for gpu, _, _ in POOLS]
    status = {
        "conditions": ready("ClusterReady", "BackendReady"),
        "gateway": {"address": f"10.{number // 250}.{number % 250}.1"},
        "providerConfigRef": {"name": name},
        "gpuPools": [
            {"name": pool[0].lower(), "nodes": NODES, "devices": [_device(*pool, driver)], **_charged(replicas, at)}
            for at, pool in enumerate(POOLS)
        ],
        "replicas": replicas,
        "charges": {"residents": "9f86d081884c7d65", "published": True},
    }
    manifest = {
        "apiVersion": API_VERSION,
        "kind": "InferenceCluster",
        "metadata": {"name": name, "labels": {"region": f"region-{number % 4}", "tier": "production"}},
        "spec": {
            "cluster": {"source": "Existing", "existing": {"secretRef": {"name": name, "key": "kubeconfig"}}},
            "nodePools": pools,
        },
        "status": status,
    }
    return from_server(manifest, f"uid-{name}", 1000 + number)


def varied(number: int) -> Manifest:
    """Return an InferenceCluster whose driver version is no other's."""
    return cluster(number, f"580.{number}.5")


def deployment(name: str, replicas: int) -> Manifest:
    """Return a ModelDeployment whose replicas take one node of a big GPU pool each."""
    devices = [{"name": "gpu", "count": 8, "selectors": [{"cel": BIG}]}]
    arguments = [f"--model=example/{name}", "--tensor-parallel-size=8", "--max-model-len=32768", "--trust-remote-code"]
    container = {"name": "engine", "image": "vllm/vllm-openai:v0.15.0", "args": arguments}
    member = {
        "role": "Standalone",
        "nodeSelector": {"devices": devices},
        "template": {"spec": {"containers": [container]}},
    }
    manifest = {
        "apiVersion": API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"replicas": replicas, "engines": [{"name": "vllm", "copies": 1, "members": [member]}]},
    }
    return from_server(manifest, f"uid-{name}", 500)


def serving(manifest: Mapping[str, Any], resource: str, owner: Mapping[str, Any], version: int) -> Manifest:
    """Return a composed ModelReplica or ModelEndpoint as it stands once it serves."""
    status: Manifest = {"conditions": ready("RoutingReady"), "routing": {"ready": True, "port": 443}}
    if manifest["kind"] == "ModelReplica":
        engines = manifest["spec"]["engines"]
        status = {"conditions": ready("ModelAccepted", "ModelReady"), "served": True, "servedEngines": engines}
    controller = {"kind": owner["kind"], "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
    return from_server(
        {**manifest, "status": status},
        f"uid-{manifest['kind']}-{manifest['metadata']['name']}",
        version,
        annotations={"crossplane.io/composition-resource-name": resource},
        ownerReferences=[{**controller, "apiVersion": API_VERSION, "controller": True}],
    )


def others(clusters: int, replicas: int) -> Iterator[Manifest]:
    """Yield the serving ModelReplicas of other deployments (of ten each), spread evenly over clusters and pools."""
    for number in range(replicas):
        if number % 10 == 0:
            owner = deployment(f"other-{number // 10:04}", 10)
        on, index = f"cluster-{number % clusters:04}", number // clusters
        name = replica_name(NAMESPACE, owner["metadata"]["name"], on, index)
        gpu, _, devices = POOLS[number // clusters % len(POOLS)]
        (engine,) = owner["spec"]["engines"]
        (member,) = engine["members"]
        request = {"name": "gpu", "deviceClassName": "gpu.nvidia.com", "count": devices, "selectors": [{"cel": BIG}]}
        stamped = {
            "role": "Standalone",
            "nodePoolName": gpu.lower(),
            "deviceRequests": [request],
            "template": member["template"],
        }
        labels = {
            LABEL_DEPLOYMENT: owner["metadata"]["name"],
            LABEL_CLUSTER: on,
            LABEL_REPLICA_INDEX: str(index),
        }
        manifest = {
            "apiVersion": API_VERSION,
            "kind": "ModelReplica",
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
            "spec": {"clusterName": on, "engines": [{**engine, "members": [stamped]}]},
        }
        yield serving(manifest, f"replica-{on}-{index}", owner, 100_000 + number)
