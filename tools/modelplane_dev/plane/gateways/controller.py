"""Envoy Gateway's controller as a process in a network namespace, and a real Envoy for each of its Gateways.

No kubelet and no load balancer runs Envoy's pods: this module starts Envoy with the arguments of the Deployment that
the controller creates, and writes into the status that it runs at an address.
"""

import base64
import json
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from modelplane.model.names import ENGINE_PORT
from modelplane_dev import components
from modelplane_dev.components.builds import envoy
from modelplane_dev.plane.api import Kind, Manifest
from modelplane_dev.plane.cluster import Cluster, namespace
from modelplane_dev.plane.gateways import extension, names
from modelplane_dev.plane.gateways.network import Network
from modelplane_dev.plane.gateways.relay import COMMAND, start_relay
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.ports import free_port
from modelplane_dev.processes.process import Process

NAMESPACE = "envoy-gateway-system"
_SECRET = Kind("v1", "Secret")
_CONFIG_MAP = Kind("v1", "ConfigMap")
_SERVICE = Kind("v1", "Service")
_DEPLOYMENT = Kind("apps/v1", "Deployment")
_SLICE = Kind("discovery.k8s.io/v1", "EndpointSlice")
#: Label of what the controller creates for a Gateway.
_OWNER = "gateway.envoyproxy.io/owning-gateway-name"
#: Where the controller, and Envoy's pods, mount their certificates: their paths cannot be changed.
_CERTIFICATES = "/certs"
#: Where programs look for the CAs that the system trusts.
_AUTHORITIES = "/etc/ssl/certs/ca-certificates.crt"
#: The port of statistics is the controller's own in this namespace.
STATISTICS = 19101
#: Seconds that the controller may take, and what it makes something of.
PATIENCE = 600.0
_CONFIGURATION = {
    "apiVersion": "gateway.envoyproxy.io/v1alpha1",
    "kind": "EnvoyGateway",
    "gateway": {"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"},
    "provider": {
        "type": "Kubernetes",
        "kubernetes": {"leaderElection": {"disable": True}, "proxyTopologyInjector": {"disabled": True}},
    },
    # Envoy's own port of statistics is the default of this one.
    "admin": {"address": {"host": "127.0.0.1", "port": 29000}},
    "extensionApis": {"enableBackend": True},
}
#: The default port of a Gateway's Envoy.
_ADMINISTRATION = 19000
#: The ConfigMap of its chart with what it is configured by.
_CHART_CONFIGURATION = "envoy-gateway-config"
_AVAILABLE = {"type": "Available", "status": "True", "reason": "Fake", "message": ""}


@dataclass(slots=True)
class Gateways:
    """Envoy Gateway on a cluster. `hosts` is what its network's DNS knows; `stack` ends what it has started.

    `envoy` is the Envoy of its Gateway, and `router` that of the router, once they are open. `names` are resolved there
    besides those of Services, and `authorities` is the file of the CAs that every program knows.
    """

    cluster: Cluster
    network: Network
    hosts: Path
    authorities: Path
    folder: Path
    stack: ExitStack = field(default_factory=ExitStack)
    names: dict[str, str] = field(default_factory=dict)
    envoy: Process = field(init=False)
    router: Process = field(init=False)

    def open(self, gateway: str, address: str) -> None:
        """Run the Envoy of the Gateway at an address of the network, once the controller has created its Deployment."""
        self.envoy = self.open_beside(gateway, address)

    def open_beside(self, gateway: str, address: str) -> Process:
        """Run the Envoy of one more Gateway, and return it."""
        self.resolve_services()
        deployment = self._made(_DEPLOYMENT, gateway)
        envoy = self.stack.enter_context(self._envoy(deployment))
        self.network.run("address", "ip", "address", "replace", f"{address}/32", "dev", "lo")
        service = self._made(_SERVICE, gateway)
        self.forward_ports(gateway, address, *(each["port"] for each in service["spec"]["ports"]))
        generation = deployment["metadata"]["generation"]
        counts = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "updatedReplicas"), 1)
        running = {**counts, "observedGeneration": generation, "conditions": [_AVAILABLE]}
        self._patch_status(_DEPLOYMENT, deployment, running)
        if service["spec"]["type"] == "LoadBalancer":
            self._patch_status(_SERVICE, service, {"loadBalancer": {"ingress": [{"ip": address}]}})
        return envoy

    def forward_ports(self, gateway: str, address: str, *ports: int) -> None:
        """Play the load balancer: lead ports of an address to those of a Gateway's Envoy, once its Service has them.

        Where both are the same, Envoy itself listens at every address.
        """

        def targets() -> dict[int, int]:
            found = self._made(_SERVICE, gateway)["spec"]["ports"]
            known = {each["port"]: int(each["targetPort"]) for each in found}
            assert known.keys() >= {*ports}, found
            return {port: known[port] for port in ports if known[port] != port}

        led = eventually(targets, within=PATIENCE)
        relayed = [part for at, to in led.items() for part in (f"{address}:{at}", f"127.0.0.1:{to}")]
        name = "-".join(map(str, (self.network.name, "balancer", gateway, *led)))
        start_relay(self.stack, self.network.process(name, *COMMAND, *relayed))

    def resolve_services(self, *expected: str) -> None:
        """Let the names of the Services resolve in the network that have EndpointSlices, once the expected ones do.

        They are expected by a name, or by an address.
        """

        def found() -> dict[str, str]:
            known = self._services()
            assert {*expected} <= {*known, *known.values()}, known
            return known

        names.write(self.hosts, eventually(found, within=PATIENCE))

    def _services(self) -> dict[str, str]:
        """Return the addresses of all names; what runs as a process is there, and not where fake pods are."""
        found_names = {}
        for found in self.cluster.api.list(_SLICE):
            metadata = found["metadata"]
            service = metadata.get("labels", {}).get("kubernetes.io/service-name")
            for endpoint in (found["endpoints"] or ()) if service else ():
                found_names[service_name(service, metadata["namespace"])] = endpoint["addresses"][0]
        return found_names | self.names

    def access_log(self) -> list[dict[str, Any]]:
        """Return the requests that Envoy has logged by now; it writes them every 10 s, perhaps a part of a line."""
        lines = self.envoy.log.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}\n")]

    def configuration(self) -> str:
        """Return the clusters and routes that Envoy uses now, as JSON."""
        parts = ("dynamic_active_clusters", "dynamic_route_configs")
        return "".join(self._administration_at(f"config_dump?resource={part}") for part in parts)

    def endpoints(self, route: str) -> set[str]:
        """Return the hosts of the endpoints to which Envoy sends the requests of an HTTPRoute now."""
        clusters = (each["cluster"] for each in self._dump("dynamic_active_clusters"))
        return {
            endpoint["endpoint"]["hostname"]
            for cluster in clusters
            if f"/{route}/" in cluster["name"]
            for locality in cluster["load_assignment"].get("endpoints", ())
            for endpoint in locality.get("lb_endpoints", ())
        }

    def authorities_of(self, part: str) -> list[str]:
        """Return the CA certificates that Envoy trusts now, as PEM, those whose names have a part."""
        secrets = (each["secret"] for each in self._dump("dynamic_active_secrets") if part in each["name"])
        trusted = (each["validation_context"]["trusted_ca"] for each in secrets if "validation_context" in each)
        return [base64.b64decode(each["inline_bytes"]).decode() for each in trusted]

    def _dump(self, part: str) -> list[dict[str, Any]]:
        """Return a part of Envoy's configuration."""
        dump = json.loads(self._administration_at(f"config_dump?resource={part}"))
        found: list[dict[str, Any]] = dump.get("configs", [])
        return found

    def route_changes(self) -> int:
        """Return how often the routes of all Envoy's listeners have changed."""
        lines = self._administration_at("stats?filter=[.]rds[.].*[.]config_reload$").splitlines()
        return sum(int(line.rpartition(": ")[2]) for line in lines)

    def resident_bytes(self) -> int:
        """Return how much memory Envoy has."""
        (line,) = (each for each in Path(f"/proc/{self.envoy.pid}/status").read_text().splitlines() if "VmRSS" in each)
        return int(line.split()[1]) * 1024

    def containers(self, gateway: str) -> list[dict[str, Any]]:
        """Return the containers of the pods that Envoy Gateway makes for a Gateway."""
        found: list[dict[str, Any]] = self._made(_DEPLOYMENT, gateway)["spec"]["template"]["spec"]["containers"]
        return found

    def listening_ports(self, process: Process) -> set[int]:
        """Return the TCP ports on which a process of the network listens."""
        lines = self.network.output("ss", "-Hltnp").splitlines()
        return {int(each.split()[3].rpartition(":")[2]) for each in lines if f"pid={process.pid}," in each}

    def router_listeners(self) -> dict[str, int]:
        """Return the ports of the router's listeners by name, as its Envoy says at its socket."""
        asked = ("curl", "-sS", "--fail", "--abstract-unix-socket", "administration")
        listed = json.loads(self.network.output(*asked, "http://envoy/listeners?format=json"))["listener_statuses"]
        return {each["name"]: each["local_address"]["socket_address"]["port_value"] for each in listed}

    def requests_received(self) -> int:
        """Return how many requests all of Envoy's listeners have received."""
        lines = self._administration_at("stats?filter=^http[.]http-.*[.]downstream_rq_total$").splitlines()
        return sum(int(line.rpartition(": ")[2]) for line in lines)

    def statistic(self, route: str, name: str) -> int:
        """Return a counter or gauge of Envoy's, summed up over the clusters of an HTTPRoute."""
        lines = self._administration_at(f"stats?filter=^cluster[.].*/{route}/.*[.]{name}$").splitlines()
        return sum(int(line.rpartition(": ")[2]) for line in lines)

    def _administration_at(self, path: str) -> str:
        """Return the response of Envoy's administration interface at a path."""
        return self.network.output("curl", "-sS", "--fail", "--globoff", f"http://127.0.0.1:{_ADMINISTRATION}/{path}")

    def run_engines(self, pods: Iterable[Manifest], cidr: str) -> dict[str, Process]:
        """Run a fake engine at the address of each pod; return them by the pods' names. `cidr` has all addresses."""
        self._route_addresses(cidr)
        return {
            pod["metadata"]["name"]: self.run_engine(
                pod["metadata"]["name"], pod["status"]["podIP"], *served_models(pod["spec"])
            )
            for pod in pods
        }

    def run_engine_for_all(self, cidr: str, *models: str) -> Process:
        """Run a fake engine that responds for every pod, now and later, and serves these models."""
        self._route_addresses(cidr)
        return self.run_engine(self.network.name, "0.0.0.0", *models)  # noqa: S104 - of the network

    def reach(self, address: str) -> str:
        """Return an address of this machine that leads to one in the network."""
        inside, outside = str(self.folder / "reach"), f"127.0.0.1:{free_port()}"
        start_relay(self.stack, self.network.process(f"{self.network.name}-reach", *COMMAND, inside, address))
        start_relay(self.stack, Process("reach-outside", self.folder, [*COMMAND, outside, inside]))
        return outside

    def _route_addresses(self, cidr: str) -> None:
        self.network.run("route", "ip", "route", "replace", "local", cidr, "dev", "lo")

    def run_engine(self, name: str, address: str, *models: str) -> Process:
        """Run a fake engine at an address of the network, on the port of engines, once it answers.

        It serves the models, or any if there are none.
        """
        command = (sys.executable, "-m", "modelplane_dev.plane.gateways.engine", address, str(ENGINE_PORT), name)
        return self.run_server(f"engine-{name}", f"{address}:{ENGINE_PORT}", *command, *models)

    def engine_in(self, network: Network, pod: Manifest, port: int) -> Process:
        """Return a fake engine in a pod that has a network of its own."""
        name = pod["metadata"]["name"]
        command = (sys.executable, "-m", "modelplane_dev.plane.gateways.engine", "0.0.0.0", str(port), name)  # noqa: S104
        return network.process(f"engine-{name}", *command, *served_models(pod["spec"]))

    def run_server(self, name: str, address: str, *command: str | Path) -> Process:
        """Run a fake that has OpenAI's API at an address of the network, once it answers."""
        server = self.stack.enter_context(self.network.process(name, *command))
        asked = ("curl", "-sS", "--fail", "--max-time", "5", "--output", "/dev/null", f"http://{address}/v1/models")
        server.wait_for(lambda: self.network.succeeds(*asked))
        return server

    def _made(self, kind: Kind, gateway: str) -> Manifest:
        def made() -> Manifest:
            found = self.cluster.api.list(kind, NAMESPACE, **{_OWNER: gateway})
            assert found, f"Envoy Gateway has not made the {kind.kind} of Gateway {gateway}"
            return found[0]

        return eventually(made, within=PATIENCE)

    def _patch_status(self, kind: Kind, manifest: Manifest, status: Mapping[str, Any]) -> None:
        self.cluster.api.patch(kind, manifest["metadata"]["name"], {"status": status}, NAMESPACE, "status")

    def _envoy(self, deployment: Manifest) -> Process:
        """Return Envoy with the arguments of a Deployment; a folder holds what a pod would mount."""
        name = deployment["metadata"]["name"]
        pod = deployment["spec"]["template"]["spec"]
        (container,) = (each for each in pod["containers"] if each["name"] == "envoy")
        mounted = self.folder / f"sds-{name}"
        mounted.mkdir()
        secrets = self.folder / "envoy"
        data = (self.cluster.api.get(_CONFIG_MAP, name, NAMESPACE) or {})["data"]
        for file, text in data.items():
            (mounted / file).write_text(text.replace(_CERTIFICATES, str(secrets)))
        arguments = [each.replace("$(ENVOY_POD_NAME)", f"{name}-0") for each in container["args"]]
        at = arguments.index("--config-yaml") + 1
        arguments[at] = _bootstrap(arguments[at].replace("/sds", str(mounted)))
        arguments.remove("--cpuset-threads")
        more = ("--use-dynamic-base-id", "--concurrency", "1")
        return self.network.process(f"{self.network.name}-envoy-{name}", envoy(), *arguments, *more)


def served_models(pod: Mapping[str, Any]) -> list[str]:
    """Return the names that the engine of a pod serves: those of its flags as vLLM reads them, adapters included."""
    words = [part for word in pod["containers"][0].get("args", ()) for part in word.split("=", 1)]
    flags: dict[str, list[str]] = {}
    values: list[str] = []
    for word in words:
        if word.startswith("--"):
            values = flags.setdefault(word, [])
        else:
            values.append(word)
    adapters = flags.get("--lora-modules", [])[::2]
    return [*(flags.get("--served-model-name") or flags.get("--model", [])), *adapters]


def service_name(service: str, namespace: str) -> str:
    """Return the name of a Service in a cluster's DNS."""
    return f"{service}.{namespace}.svc.cluster.local"


def _bootstrap(text: str) -> str:
    """Return Envoy's bootstrap with the controller on this host, and without the values of a pod's variables."""
    found = yaml.safe_load(text.replace("$(ENVOY_SERVICE_ZONE)", ""))
    for listener in found["static_resources"].get("listeners", ()):
        listener["address"]["socket_address"]["port_value"] = STATISTICS
    for cluster in found["static_resources"]["clusters"]:
        if cluster["name"] == "xds_cluster":
            (locality,) = cluster["load_assignment"]["endpoints"]
            (endpoint,) = locality["lb_endpoints"]
            endpoint["endpoint"]["address"]["socket_address"]["address"] = "127.0.0.1"
    return json.dumps(found)


def _write_secret(cluster: Cluster, name: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    for file, value in (cluster.api.get(_SECRET, name, NAMESPACE) or {})["data"].items():
        (folder / file).write_bytes(base64.b64decode(value))


def _configuration(cluster: Cluster, *, pools: bool, installed: bool) -> dict[str, Any]:
    """Return what the controller is configured by: what its chart has put on the cluster, or what is needed here."""
    if not installed:
        return _CONFIGURATION | ({"extensionManager": extension.MANAGER} if pools else {})
    found = cluster.api.get(_CONFIG_MAP, _CHART_CONFIGURATION, NAMESPACE) or {}
    content: dict[str, Any] = yaml.safe_load(found["data"]["envoy-gateway.yaml"])
    return content | {each: _CONFIGURATION[each] for each in ("provider", "admin")}


@contextmanager
def gateways(cluster: Cluster, name: str, *, pools: bool = False, installed: bool = False) -> Iterator[Gateways]:
    """Run Envoy Gateway's controller on a cluster that has its kinds, in a network of its own.

    With `pools` it routes to InferencePools. That needs Envoy AI Gateway's controller, which runs beside it. With
    `installed` the charts of both have been installed on the cluster, and it is configured by them.
    """
    folder = cluster.run.folder / f"gateways-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    cluster.api.apply(namespace(NAMESPACE))
    binary, kubeconfig = components.path("envoy-gateway"), cluster.kubeconfig()
    generate: list[str | Path] = [binary, "certgen", "--disable-topology-injector"]
    Process(f"{name}-certificates", folder, generate, {"KUBECONFIG": kubeconfig}).run(within=PATIENCE)
    for secret in ("envoy-gateway", "envoy"):
        _write_secret(cluster, secret, folder / secret)
    configuration, authorities = folder / "envoy-gateway.yaml", folder / "authorities"
    configuration.write_text(yaml.safe_dump(_configuration(cluster, pools=pools, installed=installed)))
    shutil.copy(_AUTHORITIES, authorities)
    hosts, resolver = names.files(folder)
    files = {_CERTIFICATES: folder / "envoy-gateway", names.RESOLVER: resolver, _AUTHORITIES: authorities}
    network = Network(name, folder, files)
    with ExitStack() as stack:
        stack.callback(network.stop)
        network.start()
        socket = folder / "api"
        start_relay(stack, Process(f"{name}-api-outside", folder, [*COMMAND, socket, cluster.address]))
        start_relay(stack, network.process(f"{name}-api", *COMMAND, cluster.address, socket))
        stack.enter_context(network.process(f"{name}-names", *names.command(hosts)))
        found = Gateways(cluster, network, hosts, authorities, folder, stack)
        if pools:
            pair = folder / "envoy-gateway"
            server = extension.extension_server(cluster, network, socket, pair, installed=installed)
            found.names[extension.HOST] = stack.enter_context(server)
        found.resolve_services()
        serve = ("server", "--config-path", configuration)
        stack.enter_context(network.process(f"{name}-envoy-gateway", binary, *serve, KUBECONFIG=kubeconfig))
        yield found
