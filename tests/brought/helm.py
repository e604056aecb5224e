"""A cluster whose stack real Helm installs: real API servers, the real provider-helm and the real charts on loopback.

Stand-ins are provider-kubernetes (what it only observes is read from the cluster here) and the cluster's controllers:
pods of workloads are counted as available, and Jobs of hooks as done, unless a test says otherwise. Webhooks are taken
away: no API server here reaches a Service.
"""

import base64
import copy
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from modelplane.compose_cluster.serving_stack import compose
from modelplane.model.names import SYSTEM_NAMESPACE
from modelplane.stack import CHARTS, Part
from modelplane.step import Object, Request, Result
from modelplane_dev import components
from modelplane_dev.components import sources
from modelplane_dev.plane.api import ApiError, Kind
from modelplane_dev.plane.certificates import make_certificates
from modelplane_dev.plane.charts import NAMES, package
from modelplane_dev.plane.cluster import Cluster, Run, etcd, namespace
from modelplane_dev.plane.crossplane import crds, establish
from modelplane_dev.plane.gateways.network import Network
from modelplane_dev.plane.gateways.relay import COMMAND, start_relay
from modelplane_dev.plane.registry import serve
from modelplane_dev.processes.ports import free_port, listens
from modelplane_dev.processes.process import Process
from unit.compose_cluster.stacks import ABSENT, KINDS, stack, synced

RELEASE: Final = Kind("helm.m.crossplane.io/v1beta1", "Release")
CONFIG: Final = Kind("helm.m.crossplane.io/v1beta1", "ProviderConfig")
_DEPLOYMENT, _JOB = Kind("apps/v1", "Deployment"), Kind("batch/v1", "Job")
_WEBHOOKS: Final = tuple(
    Kind("admissionregistration.k8s.io/v1", f"{each}WebhookConfiguration") for each in ("Mutating", "Validating")
)
#: Parts whose charts can be had here; the others are said to be Present.
PARTS: Final = (Part.CERT_MANAGER, Part.GATEWAY, Part.AI_GATEWAY, Part.LWS)


@dataclass
class Site:
    """The control cluster and the cluster of one ServingStack.

    `late` are Deployments without pods. `hooks`: Jobs of hooks end.
    """

    hub: Cluster
    east: Cluster
    provider: Process
    spec: dict[str, Any] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)
    hooks: bool = True
    status: dict[str, Any] = field(default_factory=dict)
    observing: dict[str, dict[str, Any]] = field(default_factory=dict)

    def turn(self) -> Result:
        """Run a pass over what the API servers have, and apply what it desires."""
        self._play()
        observed = {name: Object(body, object()) for name, body in self._observed().items()}
        composite = Object({**stack(**self.spec), "status": copy.deepcopy(self.status)}, object())
        result = compose(Request(composite, observed, schemas=KINDS))
        self.status = dict(result.status or {})
        for name, desired in result.desired.items():
            body = copy.deepcopy(dict(desired.build()))
            body["metadata"] |= {"name": body["metadata"].get("name") or f"eu-1-{name}", "namespace": SYSTEM_NAMESPACE}
            if body["kind"] == "Object":
                self.observing[name] = body
            else:
                self.hub.api.apply(body)
        return result

    def releases(self) -> dict[str, dict[str, Any]]:
        """Return the Releases by chart."""
        found = self.hub.api.list(RELEASE, SYSTEM_NAMESPACE)
        return {each["spec"]["forProvider"]["chart"]["name"]: each for each in found}

    def revisions(self) -> dict[str, str]:
        """Return the last revision of each of Helm's releases on the cluster, with its state, by name."""
        secrets = self.east.api.list(Kind("v1", "Secret"), owner="helm")
        labels = [each["metadata"]["labels"] for each in secrets]
        last = sorted(labels, key=lambda each: int(each["version"]))
        return {each["name"]: f"{each['version']} {each['status']}" for each in last}

    def _observed(self) -> dict[str, dict[str, Any]]:
        found = {f"release-{name}": body for name, body in self.releases().items()}
        if config := self.hub.api.get(CONFIG, "eu-1", SYSTEM_NAMESPACE):
            found["helm-config"] = config
        for name, body in self.observing.items():
            found[name] = {**body, "status": self._look(body["spec"]["forProvider"]["manifest"])}
        return found

    def _look(self, wanted: dict[str, Any]) -> dict[str, Any]:
        metadata = wanted["metadata"]
        kind = Kind(wanted["apiVersion"], wanted["kind"])
        there = self.east.api.get(kind, metadata["name"], metadata.get("namespace"))
        if there is None:
            return {"conditions": synced(ABSENT)}
        return {"atProvider": {"manifest": {**there, "kind": kind.kind}}, "conditions": synced()}

    def _play(self) -> None:
        """Do what the cluster's controllers do."""
        api = self.east.api
        for kind in _WEBHOOKS:
            for each in api.list(kind):
                api.delete(kind, each["metadata"]["name"])
        for each in api.list(_DEPLOYMENT):
            metadata, wanted = each["metadata"], each["spec"]["replicas"]
            ready = 0 if metadata["name"] in self.late else wanted
            counts = dict.fromkeys(("availableReplicas", "readyReplicas"), ready)
            status = {"observedGeneration": metadata["generation"], "replicas": wanted, "updatedReplicas": wanted}
            self._report(_DEPLOYMENT, each, status | counts)
        for each in api.list(_JOB) if self.hooks else ():
            times = dict.fromkeys(("startTime", "completionTime"), each["metadata"]["creationTimestamp"])
            conditions = [{"type": kind, "status": "True"} for kind in ("SuccessCriteriaMet", "Complete")]
            self._report(_JOB, each, {**times, "succeeded": 1, "conditions": conditions})

    def _report(self, kind: Kind, obj: dict[str, Any], status: dict[str, Any]) -> None:
        metadata = obj["metadata"]
        where = f"/apis/{kind.api_version}/namespaces/{metadata['namespace']}"
        path = f"{where}/{kind.kind.lower()}s/{metadata['name']}/status"
        try:
            self.east.api.request("PATCH", path, {"status": status}, "application/merge-patch+json")
        except ApiError as error:
            if error.status != 404:
                raise


@contextmanager
def site(folder: Path) -> Iterator[tuple[Site, str]]:
    """Run it all; yield it, and the repository that the charts are in."""
    run, port = Run(folder, make_certificates(folder / "certificates")), free_port()
    hub, east = (Cluster(run, name, free_port(), port) for name in ("hub", "east"))
    archives = folder / "charts"
    archives.mkdir()
    packaged = [package(name, CHARTS[name][1].version, archives) for name in NAMES]
    with ExitStack() as stack_of:
        store = stack_of.enter_context(etcd(run, port))
        store.wait_for(lambda: listens(port))
        for cluster in (hub, east):
            process = stack_of.enter_context(cluster.api_server)
            process.wait_for(cluster.api.ready)
        repository = stack_of.enter_context(serve(run.certificates, packaged))
        hub.api.apply(namespace(SYSTEM_NAMESPACE))
        establish(hub, crds(sources.helm_provider_crds()))
        key = base64.b64encode(east.kubeconfig().read_bytes()).decode()
        secret = {"metadata": {"name": "eu-1", "namespace": SYSTEM_NAMESPACE}, "data": {"kubeconfig": key}}
        hub.api.apply({"apiVersion": "v1", "kind": "Secret", **secret})
        network = Network("helm", folder)
        stack_of.callback(network.stop)
        network.start()
        registry = repository.removeprefix("oci://").partition("/")[0].replace("localhost", "127.0.0.1")
        for name, address in (("hub", hub.address), ("east", east.address), ("registry", registry)):
            socket = folder / f"{name}.socket"
            start_relay(stack_of, Process(f"{name}-outside", folder, [*COMMAND, socket, address]))
            start_relay(stack_of, network.process(f"{name}-inside", *COMMAND, address, socket))
        provider = network.process(
            "provider-helm",
            components.path("provider-helm"),
            "--poll=5s",
            KUBECONFIG=hub.kubeconfig(),
            SSL_CERT_FILE=run.certificates.authority,
            HOME=folder,
        )
        stack_of.enter_context(provider)
        yield Site(hub, east, provider), repository
