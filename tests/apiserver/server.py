"""A real API server that says of any object whether it would take it, in the words that a user would see."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from modelplane_dev import components
from modelplane_dev.components import sources
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.api import Api, ApiError
from modelplane_dev.plane.certificates import make_certificates
from modelplane_dev.plane.cluster import Cluster, Run, etcd, namespace
from modelplane_dev.plane.crossplane import crds, establish
from modelplane_dev.plane.issuer import certificate_kinds
from modelplane_dev.processes.ports import free_port, listens

#: The namespaces that the tests' objects are in.
NAMESPACES = ("ml", "ml-team", "ml-team-research", "mp-ml-team", "modelplane-system", "team")

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Server:
    """A running API server. `resources` are the plural names and scopes of kinds, by apiVersion and kind."""

    cluster: Cluster
    resources: dict[tuple[str, str], tuple[str, bool]]
    #: Who asks.
    api: Api

    def refusal(self, manifest: Mapping[str, Any]) -> str:
        """Return the words with which the server would refuse to create an object, "" when it would take it.

        It is asked for a dry run and for strict field validation: unknown and doubled fields are refused.
        """
        try:
            self.api.request("POST", f"{self.path(manifest)}?dryRun=All&fieldValidation=Strict", manifest)
        except ApiError as error:
            return str(error)
        return ""

    def refusal_of_status(self, manifest: Mapping[str, Any]) -> str:
        """Return the words with which the server would refuse an object's status, "" when it would take it.

        A server drops the status of what is created, so the object is made without one first, and removed after.
        """
        self.cluster.api.apply({field: value for field, value in manifest.items() if field != "status"})
        named = f"{self.path(manifest)}/{manifest['metadata']['name']}"
        body = {"status": manifest.get("status")}
        try:
            self.cluster.api.request("PATCH", f"{named}/status?dryRun=All", body, "application/merge-patch+json")
        except ApiError as error:
            return str(error)
        finally:
            self.cluster.api.request("DELETE", named)
        return ""

    def path(self, manifest: Mapping[str, Any]) -> str:
        """Return the path under which objects of this kind and namespace are."""
        api_version, kind = manifest["apiVersion"], manifest["kind"]
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        if (api_version, kind) not in self.resources:
            for found in self.cluster.api.request("GET", root)["resources"]:
                if "/" not in found["name"]:
                    self.resources[api_version, found["kind"]] = (found["name"], found["namespaced"])
        plural, namespaced = self.resources[api_version, kind]
        within = f"/namespaces/{manifest['metadata']['namespace']}" if namespaced else ""
        return f"{root}{within}/{plural}"


def definitions() -> Iterator[Manifest]:
    """Yield the definitions of every kind that is composed, and of our own: each XRD as Crossplane converts it."""
    yield from crds(sources.core_crds())
    for each in crds(sources.provider_crds(), "kubernetes.*.yaml"):
        # Crossplane would fill in where the provider converts its earlier kinds.
        yield {**each, "spec": {**each["spec"], "conversion": {"strategy": "None"}}}
    yield from crds(sources.helm_provider_crds(), "helm.m.*.yaml")
    gateways = (sources.gateway_crds(), sources.envoy_gateway_crds(), sources.inference_pool_crds())
    for folder in (sources.lws_crds(), *gateways):
        yield from crds(folder)
    yield from certificate_kinds()
    for file in sorted((ROOT / "apis").glob("*/definition.yaml")):
        command: list[str | Path] = [components.path("crossplane"), "xrd", "convert", file]
        converted = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        # Its owner, the XRD, is not on this server.
        yield from ({**each, "metadata": {"name": each["metadata"]["name"]}} for each in yaml.safe_load_all(converted))


@contextmanager
def serve(folder: Path) -> Iterator[Server]:
    """Run an API server with all definitions established; its files and logs lie in an empty folder."""
    run, port = Run(folder, make_certificates(folder / "certificates")), free_port()
    cluster = Cluster(run, "dry", free_port(), port, audited=True)
    with etcd(run, port) as store:
        store.wait_for(lambda: listens(port))
        with cluster.api_server as process:
            process.wait_for(cluster.api.ready)
            establish(cluster, definitions())
            for name in NAMESPACES:
                cluster.api.apply(namespace(name))
            yield Server(cluster, {}, cluster.api)
