"""Crossplane core as an installation runs it: its own account and rights, the RBAC manager, functions over mTLS."""

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from modelplane.cli.serve import FUNCTIONS as SERVED
from modelplane_dev import components
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.api import Kind, Manifest, condition, defined_kind
from modelplane_dev.plane.cluster import Cluster, Run, namespace
from modelplane_dev.plane.manifests import read_manifests
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.ports import free_port
from modelplane_dev.processes.process import START, Process, ProcessError

NAMESPACE = "crossplane-system"
CRD = Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
CONFIGURATION = Kind("pkg.crossplane.io/v1", "Configuration")
FUNCTION = Kind("pkg.crossplane.io/v1", "Function")
REVISION = Kind("pkg.crossplane.io/v1", "FunctionRevision")
WEBHOOKS = Kind("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")
#: Our functions, by the name that a Composition gives them.
FUNCTIONS = {f"modelplane-{name}": name for name in SERVED}
#: The registry in the names of packages. None is pulled: they are in the cache, which cuts longer names.
REGISTRY = "xpkg.example.org"
#: Parts of Crossplane's chart that grant rights.
_RIGHTS = (
    "clusterrole",
    "clusterrolebinding",
    "rbac-manager-clusterrole",
    "rbac-manager-clusterrolebinding",
    "rbac-manager-allowed-provider-permissions",
    "rbac-manager-managed-clusterroles",
)


def installed_settings() -> tuple[str, ...]:
    """Return the arguments that an installation gives Crossplane beside those of its chart."""
    return tuple(yaml.safe_load((ROOT / "install/crossplane/values.yaml").read_text())["args"])


def crds(folder: Path, pattern: str = "*.yaml") -> Iterator[dict[str, Any]]:
    """Return the CustomResourceDefinitions in the files of a folder, and no other objects."""
    for file in sorted(folder.glob(pattern)):
        yield from (found for found in read_manifests(file.read_text()) if found["kind"] == CRD.kind)


def establish(cluster: Cluster, definitions: Iterable[dict[str, Any]]) -> None:
    """Apply CustomResourceDefinitions and wait until they are served."""
    applied = [cluster.api.apply(definition) for definition in definitions]

    def established(definition: Manifest) -> None:
        name = definition["metadata"]["name"]
        assert condition(cluster.api.get(CRD, name) or {}, "Established").get("status") == "True", name
        assert cluster.api.serves(defined_kind(definition)), name

    for definition in applied:  # One after the other: each response is as large as the schemas of the definition.
        eventually(partial(established, definition), within=START)


def rights() -> Iterator[dict[str, Any]]:
    """Return the roles and bindings that Crossplane's chart installs, with its templates filled in."""
    chart = components.source(*components.CORE) / "cluster/charts/crossplane/templates"
    for part in _RIGHTS:
        text = (chart / f"{part}.yaml").read_text()
        text = re.sub(r"\{\{ template \"crossplane.name\" \. \}\}", "crossplane", text)
        text = text.replace("{{ .Release.Namespace }}", NAMESPACE)
        # The names of service accounts that a user provides are between `if` and `else`.
        text = re.sub(r"\{\{- if not .Values.serviceAccount.create \}\}.*?\{\{- else \}\}", "", text, flags=re.DOTALL)
        text = re.sub(r"^.*\{\{.*$", "", text, flags=re.MULTILINE)
        yield from read_manifests(text)


def prepare(hub: Cluster) -> None:
    """Install on an empty API server what Crossplane's chart installs there, its CRDs first."""
    hub.api.apply(namespace(NAMESPACE))
    account = {"name": "crossplane", "namespace": NAMESPACE}
    hub.api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account})
    # On an empty server `core init` requests kinds whose CRDs it has just created: create them first.
    establish(hub, crds(components.core_crds()))
    for manifest in rights():
        hub.api.apply(manifest)


@dataclass(frozen=True, slots=True)
class Core:
    """Crossplane core on a control cluster, with the port of the webhook that refuses to delete what is in use."""

    hub: Cluster
    webhook_port: int = field(default_factory=free_port)
    metrics_port: int = field(default_factory=free_port)

    def initialise(self) -> None:
        """Run what makes Crossplane's kinds and Secrets, and then ends; lead its webhook to this machine."""
        made = self._process("crossplane-init", "init")
        try:
            made.run(within=START)
        except ProcessError:
            made.run(within=START)  # as a kubelet starts an init container again
        (name,) = (found["metadata"]["name"] for found in self.hub.api.list(WEBHOOKS))
        found = self.hub.api.get(WEBHOOKS, name) or {}
        for webhook in found["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            url = f"https://localhost:{self.webhook_port}{path}"
            webhook["clientConfig"] = {"url": url, "caBundle": self.hub.run.certificates.bundle}
        self.hub.api.patch(WEBHOOKS, name, {"webhooks": found["webhooks"]})

    def start(self, *settings: str, runtime: str = "External") -> Process:
        """Return the process of the controllers, with the settings of an installation (none: the defaults).

        With the runtime External it starts no packages, with Deployment it makes a Deployment of each.
        """
        (self.hub.run.folder / "xpkg").mkdir(exist_ok=True)  # it unpacks no package without
        ports = (f"--metrics-port={self.metrics_port}", f"--health-probe-port={free_port()}")
        return self._process("crossplane", "start", f"--package-runtime={runtime}", *ports, *settings)

    def _process(self, name: str, *arguments: str) -> Process:
        run = self.hub.run
        environment: dict[str, str | Path] = {
            "KUBECONFIG": self.hub.kubeconfig("crossplane"),
            "POD_NAMESPACE": NAMESPACE,
            "POD_SERVICE_ACCOUNT": "crossplane",
            "TLS_CA_SECRET_NAME": "crossplane-root-ca",
            "TLS_CLIENT_SECRET_NAME": "crossplane-tls-client",
            "TLS_CLIENT_CERTS_DIR": run.certificates.client,
            "TLS_SERVER_SECRET_NAME": "crossplane-tls-server",
            "TLS_SERVER_CERTS_DIR": run.certificates.server,
            "WEBHOOK_CONFIGS_PATH": components.source(*components.CORE) / "cluster/webhookconfigurations",
            "WEBHOOK_SERVICE_NAME": "crossplane-webhooks",
            "WEBHOOK_SERVICE_NAMESPACE": NAMESPACE,
            "WEBHOOK_SERVICE_PORT": "9443",
            "WEBHOOK_PORT": str(self.webhook_port),
            "CRDS_PATH": components.core_crds(),
            "XPKG_CACHE_DIR": run.folder / "xpkg",
            "XFN_CACHE_DIR": run.folder / "xfn",
        }
        command: list[str | Path] = [components.path("crossplane-core"), "core", *arguments]
        return Process(name, run.folder, command, environment)


def rbac_manager(hub: Cluster) -> Process:
    """Return Crossplane's RBAC manager, which grants Crossplane the kinds of each XRD."""
    command: list[str | Path] = [components.path("crossplane-core"), "rbac", "start"]
    command += ["--provider-clusterrole=crossplane:allowed-provider-permissions"]
    return Process("rbac-manager", hub.run.folder, command, {"KUBECONFIG": hub.kubeconfig("rbac-manager")})


def function(run: Run, name: str, port: int) -> Process:
    """Return one of our functions, served over mutual TLS."""
    command: list[str | Path] = [Path(sys.executable).with_name("modelplane"), "serve", FUNCTIONS[name]]
    command += ["--tls-certs-dir", run.certificates.server, "--address", f"127.0.0.1:{port}"]
    return Process(name, run.folder, command)


def install_configuration(hub: Cluster, file: Path, name: str) -> None:
    """Install a Configuration package as a user does, without its dependencies: nothing is pulled."""
    _install(hub, CONFIGURATION, file, name)

    def healthy() -> None:
        found = hub.api.get(CONFIGURATION, name) or {}
        assert condition(found, "Healthy").get("status") == "True", found.get("status")

    eventually(healthy, within=START)


def install_function(hub: Cluster, file: Path, name: str, port: int) -> None:
    """Install a function's package as a user does, and configure the address at which it listens.

    The package stays unhealthy: this Crossplane starts no pods.
    """
    _install(hub, FUNCTION, file, name)

    def capable() -> str:
        revisions = hub.api.list(REVISION, **{"pkg.crossplane.io/package": name})
        assert [found.get("status", {}).get("capabilities") for found in revisions] == [["composition"]], revisions
        revision: str = revisions[0]["metadata"]["name"]
        return revision

    revision = eventually(capable, within=START)
    status = {"status": {"endpoint": f"dns:///localhost:{port}"}}
    hub.api.patch(REVISION, revision, status, subresource="status")


def _install(hub: Cluster, kind: Kind, file: Path, name: str) -> None:
    """Install a package from a cache that is filled by hand instead of from a registry."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    cached = f"{REGISTRY}/{name}".replace("/", "-").replace(".", "-") + f"-sha256-{digest[:5]}.gz"
    cache = hub.run.folder / "xpkg"
    cache.mkdir(parents=True, exist_ok=True)
    command: list[str | Path] = [
        components.path("crossplane"),
        "xpkg",
        "extract",
        "--from-xpkg",
        file,
        "-o",
        cache / cached,
    ]
    subprocess.run(command, check=True, capture_output=True)
    hub.api.apply(
        {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": name},
            "spec": {
                "package": f"{REGISTRY}/{name}@sha256:{digest}",
                "packagePullPolicy": "Never",
                "skipDependencyResolution": True,
            },
        }
    )
