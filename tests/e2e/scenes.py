"""The words in which scenarios are written: a class, a cluster, a deployment."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modelplane.model.names import API_VERSION, GPU_TAINT, LABEL_POOL
from modelplane_dev.plane.fakes import SHARED_FILES


def gpu_class(name: str, *, count: int = 8, memory: str = "81559Mi") -> dict[str, Any]:
    """Return an InferenceClass of one kind of GPU."""
    gpu = {
        "name": "gpu",
        "driver": "gpu.nvidia.com",
        "deviceClassName": "gpu.nvidia.com",
        "count": count,
        "attributes": {"productName": {"string": f"NVIDIA {name}"}, "cudaComputeCapability": {"version": "9.0.0"}},
        "capacity": {"memory": {"value": memory}},
    }
    return {
        "apiVersion": API_VERSION,
        "kind": "InferenceClass",
        "metadata": {"name": name},
        "spec": {"devices": [gpu]},
    }


def cluster(name: str, labels: Mapping[str, str], pools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return an InferenceCluster of source Existing, whose kubeconfig is in a Secret of its name."""
    reached = {"secretRef": {"name": f"{name}-kubeconfig"}, "cache": {"storageClassName": SHARED_FILES}}
    existing = {"source": "Existing", "existing": reached}
    return {
        "apiVersion": API_VERSION,
        "kind": "InferenceCluster",
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": {"cluster": existing, "nodePools": list(pools)},
    }


def asking(gib: int) -> dict[str, Any]:
    """Return what a container adds to ask for so much memory, nothing for none."""
    return {"requests": {"memory": f"{gib}Gi"}} if gib else {}


def member(gpus: int, role: str = "Standalone", gib: int = 0, **fields: Any) -> dict[str, Any]:
    """Return a member whose pod asks for GPUs of at least 40 GiB, and memory of its node; `fields` are added."""
    selector = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0'
    request = {"name": "gpu", "count": gpus, "selectors": [{"cel": selector}]}
    container: dict[str, Any] = {
        "name": "engine",
        "image": "registry.example.org/engine:v1",
        "args": ["--model=example/model"],
    }
    container |= {"resources": asking(gib)} if gib else {}
    template = {"spec": {"containers": [container]}}
    return {"role": role, "nodeSelector": {"devices": [request]}, "template": template, **fields}


def engine(
    gpus: int, copies: int = 1, workers: int = 0, gib: int = 0, *, idle: int = 0, **fields: Any
) -> dict[str, Any]:
    """Return an engine: of one pod, or of a leader and workers, each pod with so many GPUs; `fields` are added.

    Each pod asks for `gib` GiB of its node's memory. Instead of such workers it may have `idle` ones, without devices.
    """
    worker = member(gpus, "Worker", gib, worker={"nodes": workers or idle})
    if idle:
        del worker["nodeSelector"]
    members = [member(gpus, "Leader", gib), worker] if workers or idle else [member(gpus, gib=gib)]
    return {"name": "main", "copies": copies, "members": members, **fields}


@dataclass(frozen=True, slots=True)
class Demand:
    """What an engine takes of a cluster: `copies` of a pod, or of a leader and `workers`.

    Each of them takes `gpus`, and `gib` GiB of its node's memory. Instead of workers a leader may have `idle` ones,
    which take nothing.
    """

    gpus: int
    copies: int = 1
    workers: int = 0
    gib: int = 0
    idle: int = 0

    @property
    def claiming(self) -> int:
        """Return how many pods that are which take GPUs."""
        return self.copies * (1 + self.workers)

    @property
    def pods(self) -> int:
        """Return how many pods that are."""
        return self.claiming + self.copies * self.idle

    def manifests(self, namespace: str, pool: str) -> Iterator[dict[str, Any]]:
        """Return the pods as they would be without Modelplane: bare; each that claims on a node of its own."""
        labels = {"demand": "one"}
        request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": self.gpus}}
        name = f"gpus-{self.gpus}"
        yield {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"spec": {"devices": {"requests": [request]}}},
        }
        apart = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
        container = {
            "name": "engine",
            "image": "engine",
            "resources": {"claims": [{"name": "devices"}], **asking(self.gib)},
        }
        on_pool = {"nodeSelector": {LABEL_POOL: pool}, "tolerations": [{"key": GPU_TAINT, "operator": "Exists"}]}
        claiming = {
            "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}},
            "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": name}],
            "containers": [container],
        }
        idle = {"containers": [{"name": "engine", "image": "engine"}]}
        for number in range(self.pods):
            claims = number < self.claiming
            named = {"name": f"pod-{number}", "namespace": namespace, "labels": labels if claims else {}}
            spec = {**on_pool, **(claiming if claims else idle)}
            yield {"apiVersion": "v1", "kind": "Pod", "metadata": named, "spec": spec}


def deployment(name: str, namespace: str, **spec: Any) -> dict[str, Any]:
    """Return a ModelDeployment of one replica that drains in a second; `spec` adds fields, its engines among them."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 1, "drainSeconds": 1, "engines": [engine(1)], **spec},
    }


def cache(name: str, namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return a ModelCache on the clusters with these labels."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ModelCache",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "source": "HuggingFace",
            "huggingFace": {"repo": "example/model", "revision": "main", "sizeGiB": 10},
            "clusterSelector": {"matchLabels": dict(labels)},
        },
    }
