"""A deployment with an endpoint picker before the copies of each replica, and those pickers."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from e2e.fleet import Fleet
from e2e.scenes import deployment, engine
from gateways.live import STAYS, LiveFleet
from modelplane.model.names import ANNOTATION_PICKER, ENGINE_PORT, tenant_namespace
from modelplane_dev.plane.api import Manifest
from modelplane_dev.plane.gateways.pickers import picker
from modelplane_dev.processes.process import Process

PICKED = "picked"


def _picked(fleet: Fleet) -> Manifest:
    """Return the deployment: a replica of two copies on each cluster."""
    selector = {"matchLabels": {"scenario": fleet.tag}}
    # While a pool leaves a cluster, Envoy AI Gateway's filters fail requests of others' routes.
    spec = {"replicas": 2, "engines": [engine(1, copies=2)], "clusterSelector": selector, "tolerations": [STAYS]}
    manifest = deployment(PICKED, fleet.tag, **spec)
    manifest["metadata"]["annotations"] = {ANNOTATION_PICKER: "true"}
    return manifest


@contextmanager
def pickers(live: LiveFleet) -> Iterator[dict[str, Process]]:
    """Make the deployment, and run the picker of each of its replicas; yield them by their sites."""
    fleet, namespace = live.fleet, tenant_namespace(live.fleet.tag)
    fleet.plane.hub.api.apply(_picked(fleet))
    live.spread(PICKED)
    fleet.wait_ready(PICKED)
    with ExitStack() as stack:
        yield {name: stack.enter_context(picker(site, namespace, PICKED)) for name, site in live.gateways.sites.items()}


def addresses(live: LiveFleet, site: str) -> dict[str, str]:
    """Return where each pod of a site takes requests, by the pods' names."""
    pods = live.fleet.pods(f"{live.fleet.tag}-{site}")
    return {pod["metadata"]["name"]: f"{pod['status']['podIP']}:{ENGINE_PORT}" for pod in pods}
