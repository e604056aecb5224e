"""Fakes of what a machine without GPUs, kubelets and load balancers cannot run; each says what it stands for."""

from pathlib import Path

from modelplane.kube.gateway.listener_filters import filters_policy
from modelplane.model.names import CLUSTER_GATEWAY, LISTENER_HTTPS, PUBLIC_GATEWAY, ROUTER, SYSTEM_NAMESPACE
from modelplane_dev import components
from modelplane_dev.components import sources
from modelplane_dev.plane.api import Kind, Manifest
from modelplane_dev.plane.cluster import Cluster, namespace
from modelplane_dev.plane.crossplane import crds, establish
from modelplane_dev.plane.envoy_gateway import GATEWAY, ROUTE, SECURITY_POLICY
from modelplane_dev.plane.pods import write_stages
from modelplane_dev.processes.ports import free_port
from modelplane_dev.processes.process import Process

CLAIM = Kind("v1", "PersistentVolumeClaim")
#: The lastTransitionTime of a fake controller's conditions: the API requires one.
_THEN = "2026-01-01T00:00:00Z"
#: The addresses of all pods.
POD_ADDRESSES = "10.1.0.0/16"
#: The class of volumes that all nodes of a cluster can mount.
SHARED_FILES = "shared-files"


def play_gateway(cluster: Cluster, address: str) -> None:
    """Play Envoy Gateway and a load balancer: create the cluster's Gateway, with an address in its status."""
    establish(cluster, crds(sources.gateway_crds()))
    establish(cluster, crds(sources.inference_pool_crds()))
    cluster.api.apply(namespace(SYSTEM_NAMESPACE))
    listener = {"name": "http", "port": 80, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
    cluster.api.apply(
        {
            "apiVersion": GATEWAY.api_version,
            "kind": GATEWAY.kind,
            "metadata": {"name": CLUSTER_GATEWAY, "namespace": SYSTEM_NAMESPACE},
            "spec": {"gatewayClassName": "fake", "listeners": [listener]},
        }
    )
    set_gateway_address(cluster, address)


def set_gateway_address(cluster: Cluster, address: str) -> None:
    """Play the load balancer that gives the cluster's Gateway an address."""
    status = {"status": {"addresses": [{"type": "IPAddress", "value": address}]}}
    cluster.api.patch(GATEWAY, CLUSTER_GATEWAY, status, SYSTEM_NAMESPACE, "status")


def play_public_gateway(hub: Cluster, address: str) -> None:
    """Play Envoy Gateway and a load balancer on the control cluster: the public Gateway serves at an address."""
    conditions = [_condition("Accepted"), _condition("Programmed")]
    status = {"addresses": [{"type": "IPAddress", "value": address}], "conditions": conditions}
    hub.api.patch(GATEWAY, PUBLIC_GATEWAY, {"status": status}, SYSTEM_NAMESPACE, "status")


def play_router(hub: Cluster) -> None:
    """Play Envoy Gateway: the router serves."""
    listener = {
        "name": LISTENER_HTTPS,
        "attachedRoutes": 0,
        "supportedKinds": [],
        "conditions": [_condition("Programmed")],
    }
    hub.api.patch(GATEWAY, ROUTER, {"status": {"listeners": [listener]}}, SYSTEM_NAMESPACE, "status")


def play_acceptance(hub: Cluster, route: Manifest) -> None:
    """Play Envoy Gateway: it accepts an HTTPRoute of the public Gateway."""
    parent = {
        "parentRef": route["spec"]["parentRefs"][0],
        "controllerName": "fake.example.org/gateway",
        "conditions": [_condition("Accepted"), _condition("ResolvedRefs")],
    }
    metadata = route["metadata"]
    hub.api.patch(ROUTE, metadata["name"], {"status": {"parents": [parent]}}, metadata["namespace"], "status")


def play_listener_filters(hub: Cluster) -> None:
    """Play Envoy Gateway: it accepts the policy with which the public Gateway checks keys from its start."""
    metadata = filters_policy()["metadata"]
    ancestor = {
        "ancestorRef": {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": PUBLIC_GATEWAY},
        "controllerName": "fake.example.org/gateway",
        "conditions": [_condition("Accepted")],
    }
    status = {"status": {"ancestors": [ancestor]}}
    hub.api.patch(SECURITY_POLICY, metadata["name"], status, metadata["namespace"], "status")


def _condition(kind: str) -> dict[str, str]:
    return {"type": kind, "status": "True", "reason": "Fake", "message": "", "lastTransitionTime": _THEN}


def play_storage(cluster: Cluster) -> None:
    """Play the driver of a shared file system: create its StorageClass."""
    cluster.api.apply(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": SHARED_FILES},
            "provisioner": "files.example.org",
        }
    )


def provision_volumes(cluster: Cluster, namespace: str) -> int:
    """Play the driver: create a volume for each claim of a namespace, which Kubernetes then binds; return how many."""
    claims = cluster.api.list(CLAIM, namespace)
    for claim in claims:
        metadata, spec = claim["metadata"], claim["spec"]
        files = {"driver": "files.example.org", "volumeHandle": metadata["uid"]}
        cluster.api.apply(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": f"pv-{metadata['uid']}"},
                "spec": {
                    "capacity": spec["resources"]["requests"],
                    "accessModes": spec["accessModes"],
                    "storageClassName": spec["storageClassName"],
                    "claimRef": {"namespace": namespace, "name": metadata["name"], "uid": metadata["uid"]},
                    "csi": files,
                },
            }
        )
    return len(claims)


#: Seconds. Ten times those of a kubelet, of which a quarter passes until a lease is renewed: hundreds of leases would
#: keep an API server busy.
NODE_LEASE = 400
#: Seconds after which a node whose lease is not renewed is taken for lost: more than any API server is away, and than
#: the quarters before and after that in which the lease is not renewed either. No test loses a node.
NODE_GRACE = 3600


def kubelets(cluster: Cluster) -> Process:
    """Play the kubelet of every node and the engines in its pods (kwok): a pod that is bound is soon Ready.

    One whose image has the tag `pods.NOT_FOUND` never is.
    """
    command: list[str | Path] = [
        components.path("kwok"),
        f"--kubeconfig={cluster.kubeconfig()}",
        f"--config={write_stages(cluster.run.folder / f'{cluster.name}-stages.yaml')}",
        "--manage-all-nodes=true",
        "--node-ip=127.0.0.1",
        f"--cidr={POD_ADDRESSES}",
        f"--node-lease-duration-seconds={NODE_LEASE}",
        f"--server-address=127.0.0.1:{free_port()}",
    ]
    return Process(f"{cluster.name}-kwok", cluster.run.folder, command)
