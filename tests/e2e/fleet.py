"""A part of the control plane that one scenario has for itself: its own clusters, pools, nodes and namespace."""

from dataclasses import dataclass, field
from typing import Any

from e2e.scenes import cluster, deployment, gpu_class
from modelplane.model.names import tenant_namespace
from modelplane_dev.plane.api import Kind, Manifest, condition
from modelplane_dev.plane.cluster import namespace
from modelplane_dev.plane.control_plane import (
    DEPLOYMENT,
    ENDPOINT,
    INFERENCE_CLUSTER,
    OBJECT,
    REPLICA,
    ControlPlane,
)
from modelplane_dev.plane.inference import CLAIM, InferenceSite
from modelplane_dev.plane.waiting import eventually

EVENT = Kind("v1", "Event")
#: What keeps an object from being deleted, of the namespace and of the cluster.
USAGE = Kind("protection.crossplane.io/v1beta1", "Usage")
CLUSTER_USAGE = Kind("protection.crossplane.io/v1beta1", "ClusterUsage")
#: What is on its way out for a while after a scenario, what is deleted first first.
LEAVING = (DEPLOYMENT, REPLICA, OBJECT, INFERENCE_CLUSTER)
#: Seconds within which the control plane does what it has to, on a machine of two cores that three of them share, and
#: that others slow down. What does not happen never does: nobody waits for this long but for a failure.
SOON = 600.0


@dataclass
class Fleet:
    """The clusters of one scenario. `tag` is its label on clusters, its namespace and the stem of all names.

    `figures` are lines that tell what it has measured.
    """

    plane: ControlPlane
    tag: str
    clusters: dict[str, InferenceSite] = field(default_factory=dict)
    figures: list[str] = field(default_factory=list)

    def open(self) -> None:
        """Make the scenario's namespace."""
        self.plane.hub.api.apply(namespace(self.tag))

    def add_cluster(self, site: str, *, nodes: int = 1, gpus: int = 8) -> str:
        """Make a cluster with one pool on a site, wait until it takes replicas, and return its name."""
        name = self.begin_cluster(site, nodes=nodes, gpus=gpus)
        self.wait_cluster(name)
        return name

    def begin_cluster(self, site: str, *, nodes: int = 1, gpus: int = 8, suffix: str = "", **spec: Any) -> str:
        """Make a cluster with one pool on a site, and return its name; `suffix` tells clusters of one site apart.

        `spec` adds fields to the InferenceCluster's.
        """
        api, name = self.plane.hub.api, f"{self.tag}-{site}{suffix}"
        inference_class = gpu_class(f"{self.tag}-{gpus}", count=gpus)
        api.apply(inference_class)
        pool = {"name": name, "className": inference_class["metadata"]["name"], "nodeCount": nodes}
        manifest = cluster(name, {"scenario": self.tag, "name": name}, [pool])
        manifest["spec"] |= spec
        self.plane.connect(manifest, site)
        self.clusters[name] = self.plane.sites[site]
        self.clusters[name].create_nodes(manifest, [inference_class])
        return name

    def wait_cluster(self, name: str) -> None:
        """Wait until a cluster takes replicas."""
        eventually(lambda: self.assert_condition(self.cluster(name), "Ready"), within=SOON)

    def cluster(self, name: str) -> Manifest:
        """Return an InferenceCluster as it is now."""
        return self.plane.hub.api.get(INFERENCE_CLUSTER, name) or {}

    def deploy(self, name: str, **spec: Any) -> Manifest:
        """Apply a ModelDeployment for the scenario's clusters, and return its manifest."""
        selector = {"matchLabels": {"scenario": self.tag}}
        manifest = deployment(name, self.tag, **{"clusterSelector": selector, **spec})
        self.plane.hub.api.apply(manifest)
        return manifest

    def deployment(self, name: str) -> Manifest:
        """Return a ModelDeployment as it is now; empty when there is none."""
        return self.plane.hub.api.get(DEPLOYMENT, name, self.tag) or {}

    def counts(self, name: str) -> tuple[int, int]:
        """Return how many replicas of a deployment are placed, and how many are ready."""
        found = self.deployment(name).get("status", {}).get("replicas", {})
        return found.get("total", 0), found.get("ready", 0)

    def replicas(self, name: str) -> list[Manifest]:
        """Return the ModelReplicas of a deployment."""
        return self.plane.hub.api.list(REPLICA, self.tag, **{"modelplane.ai/deployment": name})

    def replica(self, name: str) -> Manifest:
        """Return the ModelReplica of a deployment that has one."""
        found = self.replicas(name)
        assert len(found) == 1, found
        return found[0]

    def endpoints(self, name: str) -> list[Manifest]:
        """Return the ModelEndpoints of a deployment."""
        return self.plane.hub.api.list(ENDPOINT, self.tag, **{"modelplane.ai/deployment": name})

    def pods(self, cluster: str) -> list[Manifest]:
        """Return the scenario's pods on a cluster that are not on their way out."""
        pool = {"modelplane.ai/pool": cluster}
        found = self.clusters[cluster].pods(tenant_namespace(self.tag))
        return [pod for pod in found if pod["spec"].get("nodeSelector") == pool]

    def claims(self, cluster: str) -> list[Manifest]:
        """Return the scenario's ResourceClaims on the site of a cluster."""
        return self.clusters[cluster].cluster.api.list(CLAIM, tenant_namespace(self.tag))

    def wait_ready(self, name: str) -> Manifest:
        """Wait until a deployment is Ready with all copies of its replicas; return it."""

        def ready() -> Manifest:
            missing = [each for each in self.replicas(name) if not each.get("status", {}).get("complete")]
            assert not missing, missing
            return self.assert_condition(self.deployment(name), "Ready")

        return eventually(ready, within=SOON)

    def names(self, cluster: str) -> set[str]:
        """Return the names of the scenario's pods on a cluster."""
        return {pod["metadata"]["name"] for pod in self.pods(cluster)}

    def wait_counts(self, name: str, *, total: int, ready: int) -> None:
        """Wait until so many replicas of a deployment are placed and ready."""

        def counted() -> None:
            assert self.counts(name) == (total, ready), self.deployment(name).get("status")

        eventually(counted, within=SOON)

    def wait_condition(self, name: str, kind: str, status: str, reason: str) -> Manifest:
        """Wait until a condition of a deployment is as said; return the deployment."""
        return eventually(lambda: self.assert_condition(self.deployment(name), kind, status, reason), within=SOON)

    def wait_protected(self, usage: Kind, reason: str) -> None:
        """Wait until Crossplane refuses to delete what is in use, for a reason with these words."""

        def protected() -> None:
            found = [each for each in self.plane.hub.api.list(usage, self.tag) if reason in each["spec"]["reason"]]
            assert [condition(each, "Ready").get("status") for each in found] == ["True"], found

        eventually(protected, within=SOON)

    def wait_alone(self) -> None:
        """Wait until what was deleted before is gone: it costs requests, and a machine its time."""

        def alone() -> None:
            found = [each for kind in LEAVING for each in self.plane.hub.api.list(kind)]
            left = [each["metadata"]["name"] for each in found if "deletionTimestamp" in each["metadata"]]
            assert not left, left

        eventually(alone, within=SOON)

    @staticmethod
    def assert_condition(manifest: Manifest, kind: str, status: str = "True", reason: str | None = None) -> Manifest:
        """Return the object when its condition is as said; the error shows all its conditions."""
        found = condition(manifest, kind)
        said = manifest.get("status", {}).get("conditions")
        assert found.get("status") == status, f"{kind} is not {status}: {said}"
        assert reason is None or found.get("reason") == reason, f"{kind} is not {reason}: {said}"
        return manifest

    def assert_status_is_kept(self) -> None:
        """Find no event by which the API server refused a field that a function wrote."""
        for where in (self.tag, "default"):
            for event in self.plane.hub.api.list(EVENT, where):
                assert "not declared in schema" not in event.get("message", ""), event["message"]

    def close(self) -> None:
        """Delete what the scenario made, without waiting: no other scenario uses its clusters, pools and namespace."""
        api = self.plane.hub.api
        for found in api.list(DEPLOYMENT, self.tag):
            api.delete(DEPLOYMENT, found["metadata"]["name"], self.tag)
        for name in self.clusters:
            api.delete(INFERENCE_CLUSTER, name)
