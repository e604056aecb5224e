"""A fleet with real gateways, on the control cluster and on two inference clusters, and what serves on it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from e2e.fleet import SOON, Fleet
from e2e.services import SERVICE, ObservedService
from gateways.calls import Calls
from modelplane.compose_endpoint.route_owner import ROUTE as ROUTE_PART
from modelplane.model.names import CLUSTER_GATEWAY, INFERENCE_GATEWAY, SYSTEM_NAMESPACE, service_object
from modelplane_dev.plane.api import ApiError, Kind, Manifest
from modelplane_dev.plane.control_plane import DEPLOYMENT, ENDPOINT, OBJECT
from modelplane_dev.plane.envoy_gateway import BACKEND, GATEWAY, ROUTE, SECURITY_POLICY
from modelplane_dev.plane.fakes import POD_ADDRESSES
from modelplane_dev.plane.gateways.live import INFERENCE_GATEWAY_KIND, live_gateways
from modelplane_dev.plane.issuer import SECRET
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

#: The inference clusters.
SITES = ("west", "north")
#: The names under which the engines of the deployments serve, the first one of each.
SERVED = {"llama": "example/model", "canary": "canary/model"}
#: Tolerated by the deployments of all tests: they stay on a drained cluster, which others leave.
STAYS = {"operator": "Exists", "effect": "NoExecute"}
#: Label of the services that are there for more than one test.
OUTLASTS = "example.com/outlasts-a-test"
#: What services and endpoints compose in their namespace.
_COMPOSED = (
    ROUTE,
    BACKEND,
    SECURITY_POLICY,
    Kind(BACKEND.api_version, "BackendTrafficPolicy"),
    Kind(BACKEND.api_version, "HTTPRouteFilter"),
    Kind("v1", "ConfigMap"),
    SECRET,
)


@dataclass(frozen=True, slots=True)
class LiveFleet(Calls):
    """A fleet whose gateways are real."""

    def observed(self, service: str) -> ObservedService:
        """Return a service as the control cluster shows it."""
        return ObservedService(self.fleet, service)

    def forget_services(self) -> None:
        """Delete the services that tests have made for themselves, and wait until nothing is left of them.

        Others of their names may come, which would find old objects and be answered by old routes.
        """
        api, tag, public = self.fleet.plane.hub.api, self.fleet.tag, self.gateways.public

        def made() -> set[str]:
            found = (each["metadata"] for each in api.list(SERVICE, tag))
            return {each["name"] for each in found if OUTLASTS not in each.get("labels", {})}

        routes = set()
        for name in made():
            api.delete(SERVICE, name, tag)
            routes.add(service_object(name, tag, ROUTE_PART))

        def gone() -> None:
            left = made()
            assert not left, left
            self.assert_no_orphans()
            configuration = public.configuration() if routes else ""
            routed = [name for name in routes if f"/{name}/" in configuration]
            assert not routed, routed

        eventually(gone, within=SOON)

    def assert_no_orphans(self) -> None:
        """Assert that nothing is left of services and endpoints that are gone."""
        api, tag = self.fleet.plane.hub.api, self.fleet.tag
        owners = {SERVICE.kind, ENDPOINT.kind}
        there = {each["metadata"]["uid"] for kind in (SERVICE, ENDPOINT) for each in api.list(kind, tag)}
        left = [
            f"{each['kind']} {each['metadata']['name']}"
            for kind in _COMPOSED
            for each in ({"kind": kind.kind, **found} for found in api.list(kind, tag))
            for owner in each["metadata"].get("ownerReferences", ())
            if owner["kind"] in owners and owner["uid"] not in there
        ]
        assert not left, left

    def spread(self, deployment: str) -> None:
        """Wait until a deployment has a ready replica on each cluster, wherever its replicas have been placed at first.

        On a busy machine Crossplane may see that a cluster takes replicas later than its API server does, and places
        both on the other. Replicas that are leaving do not count: whoever waits for them makes more.
        """

        def placed() -> list[str]:
            placements = self.fleet.deployment(deployment)["status"]["placements"]
            return sorted(each["cluster"] for each in placements if not each["leaving"])

        def ready(replicas: int) -> None:
            self.fleet.wait_counts(deployment, total=replicas, ready=replicas)

        def spread() -> None:
            for replicas in (1, len(wanted)) if placed() != wanted else ():  # a new replica goes to the other cluster
                scaled = {"spec": {"replicas": replicas}}
                self.fleet.plane.hub.api.patch(DEPLOYMENT, deployment, scaled, self.fleet.tag)
                ready(replicas)
            assert placed() == wanted

        wanted = sorted(self.fleet.clusters)
        ready(len(wanted))
        eventually(spread, within=SOON)

    def assert_gone(self, deployment: str) -> None:
        """Assert that nothing is left of a deployment, not even a pod that finishes its requests."""
        left = [each["metadata"]["name"] for each in self.fleet.replicas(deployment)]
        assert not left, left

    def assert_spread(self, deployment: str) -> None:
        """Assert that each cluster has one replica of a deployment, which takes requests."""
        endpoints = self.fleet.endpoints(deployment)
        clusters = sorted(endpoint["metadata"]["labels"]["modelplane.ai/cluster"] for endpoint in endpoints)
        assert clusters == sorted(self.fleet.clusters), clusters
        ready = [each.get("status", {}).get("routing", {}).get("ready") for each in endpoints]
        assert all(ready), ready

    def assert_endpoints(self, service: str, count: int) -> None:
        """Assert that requests to a service go to so many endpoints."""
        listed = frozenset[str]().union(*self.observed(service).shares())
        assert len(listed) == count, listed
        self.assert_routed(service)

    def assert_routed(self, service: str) -> None:
        """Assert that the gateway sends requests to a service to the endpoints to which its route leads by now."""
        observed = self.observed(service)
        listed = frozenset[str]().union(*observed.shares())
        hosts = self.gateways.public.endpoints(observed.route["metadata"]["name"])
        assert {each.partition(".")[0] for each in hosts} == listed, hosts

    def run_engines(self, started: dict[str, Process]) -> None:
        """Run an engine in each pod, once each cluster has one replica of `llama`.

        `started` has those of before by the pods' names, and then all: what runs goes on, and what has no pod is ended.
        """
        eventually(lambda: self.assert_spread("llama"), within=SOON)
        sites, pods = self.gateways.sites, eventually(self._pods_with_addresses, within=SOON)
        for name in started.keys() - {pod["metadata"]["name"] for found in pods.values() for pod in found}:
            started.pop(name).stop()
        running = {name for name, engine in started.items() if engine.alive}
        for site, found in pods.items():
            missing = [pod for pod in found if pod["metadata"]["name"] not in running]
            started |= sites[site].run_engines(missing, POD_ADDRESSES)
        for site in sites:  # which may know of a pod later than the ModelEndpoint does
            self.wait_site(site, "llama")

    def _pods_with_addresses(self) -> dict[str, list[Manifest]]:
        """Return the pods of each site; assert that all have addresses."""
        found = {site: self.fleet.pods(f"{self.fleet.tag}-{site}") for site in self.gateways.sites}
        without = [pod["metadata"]["name"] for pods in found.values() for pod in pods if "podIP" not in pod["status"]]
        assert not without, without
        return found

    @contextmanager
    def engines_for_all(self) -> Iterator[list[Process]]:
        """Run one engine for all pods of each site, those that come meanwhile and those that go; yield them."""
        with ExitStack() as stack:
            engines = []
            for site in self.gateways.sites.values():
                engines.append(site.run_engine_for_all(POD_ADDRESSES, SERVED["llama"]))
                stack.callback(engines[-1].stop)
            yield engines


def _remove(fleet: Fleet) -> None:
    """Delete the InferenceGateway and the fleet, and wait until the Gateways on the sites are gone."""
    api = fleet.plane.hub.api

    def deleted() -> None:  # it is kept until it has seen that there is no ModelService
        try:
            api.delete(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY)
        except ApiError as error:
            raise AssertionError(error) from error

    eventually(deleted, within=SOON)
    fleet.close()

    def gone() -> None:
        there = {name: site.cluster.api.get(GATEWAY, CLUSTER_GATEWAY, SYSTEM_NAMESPACE) for name, site in sites}
        clusters = [fleet.cluster(name).get("metadata") for name, _ in sites]
        objects = {each["metadata"]["name"]: each.get("status") for each in api.list(OBJECT, SYSTEM_NAMESPACE)}
        assert not any(there.values()), f"Gateways {there}, InferenceClusters {clusters}, Objects {objects}"

    sites = tuple(fleet.clusters.items())
    eventually(gone, within=SOON)


@contextmanager
def live_fleet(fleet: Fleet) -> Iterator[LiveFleet]:
    """Run the gateways, and make a cluster of the fleet on each of their sites."""
    with live_gateways(fleet.plane, SITES, pools=True) as gateways:
        clusters = [fleet.begin_cluster(name, nodes=3) for name in SITES]
        gateways.open_sites()
        for name in clusters:
            fleet.wait_cluster(name)
        gateways.open_public()
        gateways.open_router()
        yield LiveFleet(fleet, gateways)
        _remove(fleet)
