"""Clusters without anything that engines need, and what somebody else has installed on one, by Helm's own client."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from modelplane.kube.charts import CHARTS_VARIABLE
from modelplane.model.names import API_VERSION
from modelplane.stack import CHARTS
from modelplane_dev import components
from modelplane_dev.plane import provider
from modelplane_dev.plane.api import ApiError, Kind, Manifest
from modelplane_dev.plane.charted import silent_webhooks
from modelplane_dev.plane.charts import NAMES, package
from modelplane_dev.plane.cluster import Cluster
from modelplane_dev.plane.control_plane import ControlPlane, provider_arguments
from modelplane_dev.plane.gateways.controller import Gateways, gateways
from modelplane_dev.plane.inference import brought_site
from modelplane_dev.plane.registry import serve
from modelplane_dev.processes.ports import free_port
from modelplane_dev.processes.process import Process

STACK: Final = Kind(API_VERSION, "ServingStack")
RELEASE: Final = Kind("helm.m.crossplane.io/v1beta1", "Release")
FUNCTION: Final = "modelplane-compose-cluster"
#: The number of the link to the gateway of the brought cluster.
_LINK: Final = 1
#: Written by what runs on a cluster, whoever has installed what.
_RESTLESS: Final = frozenset({"Event", "Lease", "Node", "ComponentStatus", "CSINode"})


@dataclass
class Brought:
    """What installs charts on brought clusters: provider-helm once it runs, and the archives of the charts."""

    plane: ControlPlane
    archives: Mapping[str, Path]
    stack: ExitStack = field(default_factory=ExitStack)
    helm: Process | None = None

    def add_site(self, name: str) -> Cluster:
        """Run a cluster as it may be brought."""
        cluster = Cluster(self.plane.hub.run, name, free_port(), self.plane.hub.etcd_port)
        self.plane.sites[name] = self.stack.enter_context(brought_site(cluster))
        self.stack.callback(self.plane.sites.pop, name)
        self.stack.enter_context(silent_webhooks(cluster))
        return cluster

    def install_provider(self) -> None:
        """Install provider-helm, with the arguments that an installation gives it, unless it runs."""
        if self.helm:
            return
        provider.prepare_helm(self.plane.hub)
        self.helm = provider.helm_provider(self.plane.hub, *provider_arguments(provider.HELM))
        self.stack.enter_context(self.helm)
        # They discover kinds late: the dependents of a ServingStack would outlive it.
        self.plane.processes["controllers"].restart()

    def run_gateway(self, cluster: Cluster, public: Gateways) -> tuple[Gateways, str]:
        """Run the controllers of a cluster's gateways as their charts configure them; return them and their address."""
        running = self.stack.enter_context(gateways(cluster, cluster.name, pools=True, installed=True))
        _, address = public.network.link(running.network, _LINK)
        return running, address

    def helm_install(self, cluster: Cluster, release: str, chart: str, where: str, **values: str) -> None:
        """Install a chart as somebody else does, with Helm's own client."""
        chosen = [part for key, value in values.items() for part in ("--set", f"{key.replace('_', '.')}={value}")]
        command: list[str | Path] = [components.path("helm"), "install", release, self.archives[chart], *chosen]
        command += ["--namespace", where, "--create-namespace", "--kubeconfig", cluster.kubeconfig()]
        subprocess.run(command, check=True, capture_output=True)


@contextmanager
def brought(plane: ControlPlane, folder: Path) -> Iterator[Brought]:
    """Serve the charts, and let compose-cluster take them from there."""
    archives = {name: package(name, CHARTS[name][1].version, folder) for name in NAMES}
    running, function = Brought(plane, archives), plane.processes[FUNCTION]
    with pytest.MonkeyPatch.context() as patch, running.stack:
        repository = running.stack.enter_context(serve(plane.hub.run.certificates, archives.values()))
        patch.setenv(CHARTS_VARIABLE, repository)
        function.restart()
        yield running
    function.restart()


def revisions(cluster: Cluster) -> dict[str, str]:
    """Return the last revision of each of Helm's releases on a cluster, with its state, by name."""
    labels = [each["metadata"]["labels"] for each in cluster.api.list(Kind("v1", "Secret"), owner="helm")]
    last = sorted(labels, key=lambda each: int(each["version"]))
    return {each["name"]: f"{each['version']} {each['status']}" for each in last}


def everything(cluster: Cluster) -> dict[tuple[str, str, str], Manifest]:
    """Return every object of a cluster by kind, namespace and name, but what changes by itself."""
    found = {}
    for kind in _kinds(cluster):
        for each in cluster.api.list(kind):
            metadata = each["metadata"]
            found[f"{kind.kind} {kind.api_version}", metadata.get("namespace", ""), metadata["name"]] = each
    return found


def _kinds(cluster: Cluster) -> Iterator[Kind]:
    """Yield every kind that a cluster lists."""
    groups = cluster.api.request("GET", "/apis")["groups"]
    roots = {"v1": "/api/v1"} | {
        each["groupVersion"]: f"/apis/{each['groupVersion']}" for group in groups for each in group["versions"]
    }
    for api, root in roots.items():
        try:
            resources = cluster.api.request("GET", root)["resources"]
        except ApiError:  # a group whose definitions have just gone
            continue
        for each in resources:
            if "/" not in each["name"] and "list" in each["verbs"] and each["kind"] not in _RESTLESS:
                yield Kind(api, each["kind"])
