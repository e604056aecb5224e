"""An inference cluster: Kubernetes with its own scheduler and DRA, nodes of a fake kubelet, a fake gateway."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelplane_dev import components
from modelplane_dev.plane import lws
from modelplane_dev.plane.api import Kind
from modelplane_dev.plane.cluster import EVERYWHERE, Cluster
from modelplane_dev.plane.devices import DRA, device_classes, gpu_node, node, node_status, slices
from modelplane_dev.plane.fakes import NODE_GRACE, kubelets, play_gateway, play_storage
from modelplane_dev.processes.ports import free_port
from modelplane_dev.processes.process import Process

NODE = Kind("v1", "Node")
POD = Kind("v1", "Pod")
CLAIM = Kind(DRA, "ResourceClaim")
CONTROLLERS = (
    *EVERYWHERE,
    "deployment-controller",
    "replicaset-controller",
    "statefulset-controller",
    "job-controller",
    "resourceclaim-controller",
    "endpointslice-controller",
    "node-lifecycle-controller",
    "persistentvolume-binder-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
)


@dataclass(frozen=True, slots=True)
class InferenceSite:
    """A running inference cluster, its processes by role, and the port of its webhooks."""

    cluster: Cluster
    processes: Mapping[str, Process]
    webhooks: int

    def open(self) -> None:
        """Connect the processes that have been started, as soon as they are ready for it."""
        lws.connect_webhooks(self.cluster, self.processes["lws"], self.webhooks)
        self.add_system_node()

    def create_nodes(self, inference_cluster: Mapping[str, Any], classes: Iterable[Mapping[str, Any]]) -> None:
        """Create the nodes that an InferenceCluster declares, with the devices that its classes declare."""
        by_name = {entry["metadata"]["name"]: entry for entry in classes}
        for device_class in device_classes(by_name.values()):
            self.cluster.api.apply(device_class)
        for pool in inference_cluster["spec"]["nodePools"]:
            nodes = pool.get("maxNodeCount", pool.get("nodeCount", pool.get("minNodeCount", 1)))
            for number in range(nodes):
                self.add_node(f"{pool['name']}-{number}", pool, by_name[pool["className"]])

    def add_node(self, name: str, pool: Mapping[str, Any], inference_class: Mapping[str, Any]) -> None:
        """Create one node of a pool and publish its devices."""
        self._add(gpu_node(name, pool), pool)
        for published in slices(name, inference_class):
            self.cluster.api.apply(published)

    def add_system_node(self) -> None:
        """Create a node without devices, for pods that need none."""
        self._add(node("system"), {})

    def _add(self, manifest: dict[str, Any], pool: Mapping[str, Any]) -> None:
        self.cluster.api.apply(manifest)
        self.cluster.api.patch(NODE, manifest["metadata"]["name"], node_status(pool), subresource="status")

    def pods(self, namespace: str | None = None) -> list[dict[str, Any]]:
        """Return the pods that are not being deleted."""
        return [pod for pod in self.cluster.api.list(POD, namespace) if "deletionTimestamp" not in pod["metadata"]]


def scheduler(cluster: Cluster) -> Process:
    """Return kube-scheduler, with its defaults."""
    command: list[str | Path] = [components.path("kube-scheduler"), f"--kubeconfig={cluster.kubeconfig()}"]
    return Process(
        f"{cluster.name}-scheduler", cluster.run.folder, [*command, "--leader-elect=false", "--secure-port=0"]
    )


def prepare(cluster: Cluster, address: str) -> None:
    """Install what an inference cluster has beside its programs, once its API server is ready.

    `address` is that of its gateway. No process is started, so this may be called from a thread that ends.
    """
    cluster.api_server.wait_for(cluster.api.ready)
    lws.prepare(cluster)
    play_gateway(cluster, address)
    play_storage(cluster)


@contextmanager
def inference_site(cluster: Cluster) -> Iterator[InferenceSite]:
    """Run the other processes of a prepared inference cluster, which `open` then connects."""
    webhooks = free_port()
    with ExitStack() as stack:
        processes = {**_kubernetes(cluster, stack), "lws": stack.enter_context(lws.lws(cluster, webhooks))}
        yield InferenceSite(cluster, processes, webhooks)


def _kubernetes(cluster: Cluster, stack: ExitStack) -> dict[str, Process]:
    """Run what every cluster has beside its API server; return all by role."""
    processes = {
        "controllers": cluster.controllers(CONTROLLERS, f"--node-monitor-grace-period={NODE_GRACE}s"),
        "scheduler": scheduler(cluster),
        "kubelets": kubelets(cluster),
    }
    for process in processes.values():
        stack.enter_context(process)
    return {"api_server": cluster.api_server, **processes}


@contextmanager
def brought_site(cluster: Cluster) -> Iterator[InferenceSite]:
    """Run a cluster as it may be brought: Kubernetes with a node, and nothing that engines need beside it."""
    with ExitStack() as stack:
        stack.enter_context(cluster.api_server)
        cluster.api_server.wait_for(cluster.api.ready)
        site = InferenceSite(cluster, _kubernetes(cluster, stack), webhooks=free_port())
        site.add_system_node()
        play_storage(cluster)
        yield site
