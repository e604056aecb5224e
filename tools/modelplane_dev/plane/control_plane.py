"""A whole Modelplane: a control cluster with Crossplane and our functions, and the inference clusters it reaches."""

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from modelplane.model.names import ANNOTATION_SHARES, API_VERSION, SYSTEM_NAMESPACE
from modelplane_dev.folders import ROOT
from modelplane_dev.packages import xpkg
from modelplane_dev.plane import crossplane, inference, provider
from modelplane_dev.plane.api import Kind, Manifest, defined_kind
from modelplane_dev.plane.certificates import make_certificates
from modelplane_dev.plane.cluster import ADMIN, EVERYWHERE, Cluster, Run, etcd
from modelplane_dev.plane.inference import InferenceSite, inference_site
from modelplane_dev.plane.waiting import PlaneError, eventually, only_one
from modelplane_dev.processes.ports import free_port, listens
from modelplane_dev.processes.process import START, Process

CLUSTER_ROLE = Kind("rbac.authorization.k8s.io/v1", "ClusterRole")
XRD = Kind("apiextensions.crossplane.io/v2", "CompositeResourceDefinition")
DEPLOYMENT = Kind(API_VERSION, "ModelDeployment")
REPLICA = Kind(API_VERSION, "ModelReplica")
ENDPOINT = Kind(API_VERSION, "ModelEndpoint")
INFERENCE_CLUSTER = Kind(API_VERSION, "InferenceCluster")
INFERENCE_CLASS = Kind(API_VERSION, "InferenceClass")
CACHE = Kind(API_VERSION, "ModelCache")
OBJECT = Kind("kubernetes.m.crossplane.io/v1alpha1", "Object")
CONTROLLERS = (*EVERYWHERE, "clusterrole-aggregation-controller", "horizontal-pod-autoscaler-controller")
#: Addresses of the sites' gateways, of TEST-NET-3, which no host uses.
GATEWAYS = "203.0.113.{}"


@dataclass
class Timeline:
    """Seconds after the start, and what was ready by then."""

    marks: list[tuple[float, str]] = field(default_factory=list)
    _started: float = field(default_factory=time.monotonic)

    def mark(self, what: str) -> None:
        """Record that something is ready."""
        self.marks.append((round(time.monotonic() - self._started, 1), what))

    def __str__(self) -> str:
        """Return a line for each mark."""
        return "\n".join(f"{seconds:5.1f} s  {what}" for seconds, what in self.marks)


@dataclass
class ControlPlane:
    """A running control plane: the control cluster `hub`, the inference clusters `sites` by name, and all processes."""

    hub: Cluster
    core: crossplane.Core
    sites: dict[str, InferenceSite]
    processes: Mapping[str, Process]
    timeline: Timeline
    #: Many InferenceClusters are connected to each site, each with nodes of its own there.
    shared_sites: bool = False

    @property
    def clusters(self) -> list[Cluster]:
        """Return the control cluster, then the inference clusters."""
        return [self.hub, *(site.cluster for site in self.sites.values())]

    def connect(self, inference_cluster: Manifest, site: str) -> None:
        """Apply an InferenceCluster of source Existing, and the Secret it names with a kubeconfig of a site.

        Where sites are shared it is annotated to share the cluster.
        """
        secret = inference_cluster["spec"]["cluster"]["existing"]["secretRef"]
        kubeconfig = self.sites[site].cluster.kubeconfig(ADMIN).read_text()
        self.hub.api.apply(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": secret["name"], "namespace": SYSTEM_NAMESPACE},
                "stringData": {secret.get("key", "kubeconfig"): kubeconfig},
            }
        )
        metadata = inference_cluster["metadata"]
        if self.shared_sites:
            metadata = {**metadata, "annotations": {**metadata.get("annotations", {}), ANNOTATION_SHARES: "true"}}
        self.hub.api.apply({**inference_cluster, "metadata": metadata})


def install(hub: Cluster, ports: Mapping[str, int]) -> None:
    """Install our packages, and wait until Crossplane has the rights to write the kinds that the Configuration defines.

    `ports` says where each function listens.
    """
    folder = hub.run.folder
    for name, port in ports.items():
        metadata = ROOT / "package" / crossplane.FUNCTIONS[name]
        crossplane.install_function(hub, xpkg.build(metadata, folder / f"{name}.xpkg"), name, port)
    file = xpkg.build_configuration(folder / "modelplane.xpkg")
    crossplane.install_configuration(hub, file, "modelplane")

    def granted() -> None:
        for definition in hub.api.list(XRD):
            name = definition["metadata"]["name"]
            assert hub.api.get(CLUSTER_ROLE, f"crossplane:composite:{name}:aggregate-to-crossplane"), name
            assert hub.api.serves(defined_kind(definition)), name

    eventually(granted, within=START)


def provider_arguments(name: str) -> list[str]:
    """Return the arguments that install/ gives a provider."""
    for manifest in yaml.safe_load_all((ROOT / "install" / f"{name}.yaml").read_text()):
        if manifest["kind"] == "DeploymentRuntimeConfig":
            container = manifest["spec"]["deploymentTemplate"]["spec"]["template"]["spec"]["containers"][0]
            return list(container["args"])
    raise PlaneError(f"install/{name}.yaml has no DeploymentRuntimeConfig")


def apply_installation(hub: Cluster) -> None:
    """Apply install/ as `kubectl apply -k` would, except for packages: nothing can pull their images here."""
    for name in yaml.safe_load((ROOT / "install/kustomization.yaml").read_text())["resources"]:
        for manifest in yaml.safe_load_all((ROOT / "install" / name).read_text()):
            if not manifest["apiVersion"].startswith("pkg.crossplane.io/"):
                hub.api.apply(manifest)


@contextmanager
def control_plane(folder: Path, sites: Sequence[str], queue: float) -> Iterator[ControlPlane]:
    """Run a new control plane in an empty folder, where the logs stay; `sites` names the inference clusters.

    `queue` is the number of seconds to wait for the end of another one on this machine.
    """
    with ExitStack() as stack:
        # Crossplane and the providers listen on ports that cannot be configured.
        stack.enter_context(only_one("modelplane-control-plane", within=queue))
        if busy := provider.busy_ports():
            raise PlaneError(f"a control plane needs the ports {provider.FIXED_PORTS}, and {busy} are taken")
        timeline = Timeline()
        run = Run(folder, make_certificates(folder / "certificates"))
        # Two, so that a snapshot of the control cluster restores nothing of the others.
        store, port = _store(stack, run, "etcd")
        _, of_sites = _store(stack, run, "etcd-of-sites")
        hub = Cluster(run, "hub", free_port(), port, audited=True)
        others = [Cluster(run, name, free_port(), of_sites) for name in sites]
        for cluster in (hub, *others):
            stack.enter_context(cluster.api_server)
        hub.api_server.wait_for(hub.api.ready)
        timeline.mark("the control cluster's API server is ready")
        core = crossplane.Core(hub)
        with ThreadPoolExecutor(len(others) or 1) as pool:
            addresses = [GATEWAYS.format(number) for number in range(10, 10 + len(others))]
            prepared = pool.map(inference.prepare, others, addresses)
            processes = {"etcd": store, "hub": hub.api_server, **_start_modelplane(stack, core)}
            timeline.mark("Modelplane is installed")
            list(prepared)
        running = {cluster.name: stack.enter_context(inference_site(cluster)) for cluster in others}
        for site in running.values():
            site.open()
        timeline.mark("the inference clusters run")
        yield ControlPlane(hub, core, running, processes, timeline)


def _store(stack: ExitStack, run: Run, name: str) -> tuple[Process, int]:
    """Run an etcd; return it with its port."""
    port = free_port()
    store = stack.enter_context(etcd(run, port, name))
    store.wait_for(lambda: listens(port))
    return store, port


def _start_modelplane(stack: ExitStack, core: crossplane.Core) -> dict[str, Process]:
    """Run Crossplane, our functions and the provider on a control cluster, and install our packages."""
    hub = core.hub
    controllers = stack.enter_context(hub.controllers(CONTROLLERS))
    processes = {"controllers": controllers}
    ports = {name: free_port() for name in crossplane.FUNCTIONS}
    for name, port in ports.items():
        processes[name] = stack.enter_context(crossplane.function(hub.run, name, port))
    crossplane.prepare(hub)
    provider.prepare(hub)
    apply_installation(hub)
    core.initialise()
    processes["crossplane"] = stack.enter_context(core.start(*crossplane.installed_settings()))
    with crossplane.rbac_manager(hub):
        install(hub, ports)
    # It has granted our kinds; provider-helm needs its port, 8080, too.
    processes["provider-kubernetes"] = stack.enter_context(
        provider.provider(hub, *provider_arguments(provider.KUBERNETES))
    )
    # They discover kinds late: unless they start after them, dependents outlive a deleted owner by up to 40 s.
    controllers.restart()
    return processes
