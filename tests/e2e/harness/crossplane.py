"""Crossplane core as an installation runs it: its own account and rights, the RBAC manager, functions by mTLS."""

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

import engines
from e2e.harness.api import Kind, condition
from e2e.harness.cluster import Cluster, Run, namespace
from e2e.harness.process import Process, eventually, free_port
from modelplane.cli.serve import FUNCTIONS as SERVED

NAMESPACE = "crossplane-system"
CRD = Kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
CONFIGURATION = Kind("pkg.crossplane.io/v1", "Configuration")
REVISION = Kind("pkg.crossplane.io/v1", "FunctionRevision")
#: Our functions, by the name that a Composition gives them.
FUNCTIONS = {f"modelplane-{name}": name for name in SERVED}
#: Where packages would be pulled from, did they not lie in the cache: nowhere.
REGISTRY = "xpkg.example.org/modelplane"
#: Parts of Crossplane's chart that grant rights.
_RIGHTS = (
    "clusterrole",
    "clusterrolebinding",
    "rbac-manager-clusterrole",
    "rbac-manager-clusterrolebinding",
    "rbac-manager-allowed-provider-permissions",
    "rbac-manager-managed-clusterroles",
)
#: A test edits one object far more often than the default of the circuit breaker allows.
NO_BREAKER = ("--circuit-breaker-burst=1000000", "--circuit-breaker-refill-rate=10000")


def crds(folder: Path, pattern: str = "*.yaml") -> Iterator[dict[str, Any]]:
    """Return the CustomResourceDefinitions of a folder's files, without what else stands there."""
    for file in sorted(folder.glob(pattern)):
        yield from (found for found in yaml.safe_load_all(file.read_text()) if found and found["kind"] == CRD.kind)


def establish(cluster: Cluster, definitions: Iterator[dict[str, Any]]) -> None:
    """Apply CustomResourceDefinitions and wait until they are served."""
    names = [cluster.api.apply(definition)["metadata"]["name"] for definition in definitions]

    def established() -> None:
        for name in names:
            assert condition(cluster.api.get(CRD, name) or {}, "Established").get("status") == "True", name

    eventually(established, within=30)


def rights() -> Iterator[dict[str, Any]]:
    """Return the roles and bindings that Crossplane's chart installs, its templates filled in."""
    chart = engines.source(*engines.CORE) / "cluster/charts/crossplane/templates"
    for part in _RIGHTS:
        text = (chart / f"{part}.yaml").read_text()
        text = re.sub(r"\{\{ template \"crossplane.name\" \. \}\}", "crossplane", text)
        text = text.replace("{{ .Release.Namespace }}", NAMESPACE)
        # The names of service accounts that are given by the user stand between if and else.
        text = re.sub(r"\{\{- if not .Values.serviceAccount.create \}\}.*?\{\{- else \}\}", "", text, flags=re.DOTALL)
        text = re.sub(r"^.*\{\{.*$", "", text, flags=re.MULTILINE)
        yield from (found for found in yaml.safe_load_all(text) if found)


def prepare(hub: Cluster) -> None:
    """Install on an empty API server what Crossplane's chart installs there, its CRDs first."""
    hub.api.apply(namespace(NAMESPACE))
    # `core init` on an empty server asks for kinds whose CRDs it has just made: make them before.
    establish(hub, crds(engines.core_crds()))
    for manifest in rights():
        hub.api.apply(manifest)


def core(hub: Cluster, *arguments: str, breaker: tuple[str, ...] = NO_BREAKER) -> tuple[Process, Process]:
    """Return the processes of Crossplane: one that initialises and ends, and the one that stays."""
    run, binary = hub.run, engines.path("crossplane-core")
    environment: dict[str, str | Path] = {
        "KUBECONFIG": hub.kubeconfig("crossplane"),
        "POD_NAMESPACE": NAMESPACE,
        "POD_SERVICE_ACCOUNT": "crossplane",
        "TLS_CA_SECRET_NAME": "crossplane-root-ca",
        "TLS_CLIENT_SECRET_NAME": "crossplane-tls-client",
        "CRDS_PATH": engines.core_crds(),
        "TLS_CLIENT_CERTS_DIR": run.certificates.client,
        "XPKG_CACHE_DIR": run.folder / "xpkg",
        "XFN_CACHE_DIR": run.folder / "xfn",
    }
    init = Process("crossplane-init", run.folder, [binary, "core", "init", "--enable-webhooks=false"], environment)
    ports = (f"--metrics-port={free_port()}", f"--health-probe-port={free_port()}")
    start = [binary, "core", "start", "--enable-webhooks=false", "--package-runtime=External", *ports, *breaker]
    return init, Process("crossplane", run.folder, [*start, *arguments], environment)


def rbac_manager(hub: Cluster) -> Process:
    """Return Crossplane's RBAC manager, which grants Crossplane the kinds of each XRD."""
    command = [engines.path("crossplane-core"), "rbac", "start"]
    command += ["--provider-clusterrole=crossplane:allowed-provider-permissions"]
    return Process("rbac-manager", hub.run.folder, command, {"KUBECONFIG": hub.kubeconfig("rbac-manager")})


def function(run: Run, name: str, port: int) -> Process:
    """Return one of our functions, served over mutual TLS."""
    command = [Path(sys.executable).with_name("modelplane"), "serve", FUNCTIONS[name]]
    command += ["--tls-certs-dir", run.certificates.server, "--address", f"127.0.0.1:{port}"]
    return Process(name, run.folder, command)


def register(hub: Cluster, name: str, port: int) -> None:
    """Tell Crossplane where a function listens, as its package manager would: an active, paused FunctionRevision."""
    labels, annotations = {"pkg.crossplane.io/package": name}, {"crossplane.io/paused": "true"}
    hub.api.apply(
        {
            "apiVersion": REVISION.api_version,
            "kind": REVISION.kind,
            "metadata": {"name": f"{name}-local", "labels": labels, "annotations": annotations},
            "spec": {"desiredState": "Active", "revision": 1, "image": f"xpkg.example.org/local/{name}:v0.0.0"},
        }
    )
    status = {"status": {"endpoint": f"dns:///localhost:{port}", "capabilities": ["composition"]}}
    hub.api.patch(REVISION, f"{name}-local", status, subresource="status")


def install_configuration(hub: Cluster, package: Path, name: str) -> None:
    """Install a Configuration package as a user does, from a cache that was filled by hand instead of a registry.

    What it depends on is installed by hand too: nothing can be pulled here.
    """
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    cached = f"{REGISTRY}/{name}".replace("/", "-").replace(".", "-") + f"-sha256-{digest[:5]}.gz"
    cache = hub.run.folder / "xpkg"
    cache.mkdir(parents=True, exist_ok=True)
    command = [engines.path("crossplane"), "xpkg", "extract", "--from-xpkg", package, "-o", cache / cached]
    subprocess.run(command, check=True, capture_output=True)
    hub.api.apply(
        {
            "apiVersion": CONFIGURATION.api_version,
            "kind": CONFIGURATION.kind,
            "metadata": {"name": name},
            "spec": {
                "package": f"{REGISTRY}/{name}@sha256:{digest}",
                "packagePullPolicy": "Never",
                "skipDependencyResolution": True,
            },
        }
    )

    def healthy() -> None:
        found = hub.api.get(CONFIGURATION, name) or {}
        assert condition(found, "Healthy").get("status") == "True", found.get("status")

    eventually(healthy, within=60)
