"""What Modelplane places, Kubernetes binds; what is deleted leaves nothing behind."""

from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane.model.names import tenant_namespace
from modelplane_dev.plane.api import Kind
from modelplane_dev.plane.control_plane import DEPLOYMENT, ENDPOINT, OBJECT, REPLICA
from modelplane_dev.plane.inference import CLAIM, POD
from modelplane_dev.plane.waiting import eventually

TEMPLATE = Kind("resource.k8s.io/v1", "ResourceClaimTemplate")
WORKLOAD = Kind("apps/v1", "Deployment")
SERVICE = Kind("v1", "Service")
ROUTE = Kind("gateway.networking.k8s.io/v1", "HTTPRoute")
NAMESPACE = Kind("v1", "Namespace")


def assert_bound(fleet: Fleet, cluster: str, *, replicas: int, gpus: int) -> None:
    """Assert that replicas of one pod run on nodes of a cluster, each with as many devices and a ready endpoint."""
    pods = fleet.pods(cluster)
    assert [pod["status"]["phase"] for pod in pods] == ["Running"] * replicas
    assert all(pod["spec"]["nodeName"].startswith(cluster) for pod in pods)
    devices = [len(claim["status"]["allocation"]["devices"]["results"]) for claim in fleet.claims(cluster)]
    assert devices == [gpus] * replicas
    assert [endpoint["spec"]["ready"] for endpoint in fleet.endpoints("llama")] == [True] * replicas


def test_every_object_of_a_deployment_that_is_bound_goes_with_it_and_the_tenant_namespace_stays(
    fleet: Fleet,
) -> None:
    cluster = fleet.add_cluster("east")
    fleet.deploy("llama", engines=[engine(4)], replicas=2)
    fleet.wait_ready("llama")
    assert_bound(fleet, cluster, replicas=2, gpus=4)
    hub, site, tenant = fleet.plane.hub.api, fleet.clusters[cluster].cluster.api, tenant_namespace(fleet.tag)
    assert site.list(ROUTE, tenant)
    hub.delete(DEPLOYMENT, "llama", fleet.tag)

    def nothing_left() -> None:
        here = [(kind.kind, hub.list(kind, fleet.tag)) for kind in (DEPLOYMENT, REPLICA, ENDPOINT, OBJECT)]
        there = [(kind.kind, site.list(kind, tenant)) for kind in (WORKLOAD, POD, CLAIM, TEMPLATE, SERVICE, ROUTE)]
        left = [f"{kind} {found['metadata']['name']}" for kind, all_found in here + there for found in all_found]
        assert not left, left

    eventually(nothing_left, within=SOON)
    assert site.get(NAMESPACE, tenant)
