"""The built packages through Crossplane's own package manager, from a registry on loopback, and an upgrade of them.

Real are the packages, their dependencies' metadata and kinds, and how Crossplane resolves and activates them, and makes
their Deployments. Packages hold no images, and no pod runs: a fake says that those of Deployments are available.
"""

import io
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from docs.blocks import patient_scripts
from e2e.fleet import SOON
from e2e.scenes import gpu_class
from modelplane import __version__
from modelplane.cli.serve import FUNCTIONS
from modelplane.model.names import API_VERSION
from modelplane_dev import components
from modelplane_dev.components import sources
from modelplane_dev.folders import ROOT
from modelplane_dev.packages import xpkg
from modelplane_dev.plane import crossplane
from modelplane_dev.plane.api import Kind, Manifest, condition
from modelplane_dev.plane.certificates import make_certificates
from modelplane_dev.plane.cluster import EVERYWHERE, Cluster, Run, etcd
from modelplane_dev.plane.control_plane import INFERENCE_CLASS, XRD, provider_arguments
from modelplane_dev.plane.registry import packages, serve_contents
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.ports import free_port, listens

DEPLOYMENT = Kind("apps/v1", "Deployment")
LOCK = Kind("pkg.crossplane.io/v1beta1", "Lock")
PROVIDER = Kind("pkg.crossplane.io/v1", "Provider")
DEFINITION = Kind("apiextensions.crossplane.io/v1alpha1", "ManagedResourceDefinition")
#: What install/ names, and what the page on installing does.
UPBOUND, REGISTRY = "xpkg.upbound.io", "registry.example.org"
VERSION, BEFORE = f"v{__version__}", "v0.0.1"
PROVIDERS = {"provider-kubernetes": (sources.PROVIDER, "v1.3.1"), "provider-helm": (sources.HELM_PROVIDER, "v1.3.0")}


def _tree_before(folder: Path) -> Path:
    """Return a folder with the packages' content of the commit before; of this one where there is no history."""
    content = ("crossplane.yaml", "apis", "compositions", "package")
    for commit in ("HEAD~1", "HEAD"):
        command = ["git", "-C", str(ROOT), "archive", commit, *content]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode == 0:
            with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
                archive.extractall(folder, filter="data")
            return folder
    raise AssertionError(done.stderr)


def _packages(folder: Path) -> dict[tuple[str, str], Path]:
    """Build all packages, of this tree and of the commit before; return them by repository and tag."""
    built: dict[tuple[str, str], Path] = {}
    for tag, tree in ((VERSION, ROOT), (BEFORE, _tree_before(folder / "before"))):
        file = folder / f"modelplane-{tag}.xpkg"
        built[f"{REGISTRY}/modelplane", tag] = xpkg.build_configuration(file, tree, tag.removeprefix("v"))
        for function in FUNCTIONS:
            file = folder / f"{function}-{tag}.xpkg"
            built[f"{REGISTRY}/modelplane-{function}", tag] = xpkg.build(tree / "package" / function, file)
    for name, (source, tag) in PROVIDERS.items():
        content = components.source(*source) / "package"
        built[f"{UPBOUND}/upbound/{name}", tag] = xpkg.build(content, folder / f"{name}.xpkg")
    return built


@dataclass(frozen=True, slots=True)
class Installation:
    """A control cluster with Crossplane alone, and the registry that its packages come from."""

    hub: Cluster

    def healthy(self, kind: Kind, name: str, tag: str) -> None:
        """Assert that a package is installed and healthy, in a version."""
        found = self.hub.api.get(kind, name) or {}
        assert found["spec"]["package"].endswith(f":{tag}"), found
        states = {each: condition(found, each).get("status") for each in ("Installed", "Healthy")}
        assert states == dict.fromkeys(states, "True"), found["status"]
        assert found["status"]["currentIdentifier"].endswith(f":{tag}"), found["status"]


def _rewritten(host: str, prefix: str) -> dict[str, Any]:
    """Return the ImageConfig by which Crossplane pulls images from a mirror, as an air gap has it."""
    return {
        "apiVersion": "pkg.crossplane.io/v1beta1",
        "kind": "ImageConfig",
        "metadata": {"name": prefix},
        "spec": {
            "matchImages": [{"type": "Prefix", "prefix": prefix}],
            "rewriteImage": {"prefix": f"{host}/{prefix}"},
        },
    }


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Run Crossplane, whose packages come from a registry on loopback over the run's CA."""
    folder = tmp_path_factory.mktemp("installation")
    run, port = Run(folder, make_certificates(folder / "certificates")), free_port()
    hub = Cluster(run, "hub", free_port(), port)
    (folder / "packages").mkdir()
    with ExitStack() as stack:
        store = stack.enter_context(etcd(run, port))
        store.wait_for(lambda: listens(port))
        stack.enter_context(hub.api_server)
        host = stack.enter_context(serve_contents(run.certificates, packages(_packages(folder / "packages"))))
        hub.api_server.wait_for(hub.api.ready)
        stack.enter_context(hub.controllers((*EVERYWHERE, "clusterrole-aggregation-controller")))
        crossplane.prepare(hub)
        core = crossplane.Core(hub)
        core.initialise()
        for prefix in (UPBOUND, REGISTRY):
            hub.api.apply(_rewritten(host, prefix))
        authority = f"--ca-bundle-path={run.certificates.authority}"
        stack.enter_context(core.start(authority, *crossplane.installed_settings(), runtime="Deployment"))
        stack.enter_context(crossplane.rbac_manager(hub))
        yield Installation(hub)


def test_packages_are_installed_with_what_they_depend_on_and_upgraded_while_objects_stay(
    installation: Installation,
) -> None:
    hub = installation.hub
    prepare, install, look = patient_scripts(ROOT / "docs" / "install.md")[:3]
    hub.shell(prepare, ROOT)
    hub.shell(install.replace(f":{VERSION}", f":{BEFORE}"), ROOT)
    _assert_installed(installation, BEFORE)
    kept = hub.api.apply(gpu_class("kept"))
    hub.shell(install, ROOT)
    _assert_installed(installation, VERSION)
    assert "modelservices.modelplane.ai" in hub.shell(look, ROOT)
    found = hub.api.get(INFERENCE_CLASS, "kept") or {}
    assert (found["metadata"]["uid"], found["spec"]["devices"]) == (kept["metadata"]["uid"], kept["spec"]["devices"])


def _assert_installed(installation: Installation, tag: str) -> None:
    """Assert that every package is installed, once, and that exactly the kinds that are composed are active."""
    hub = installation.hub

    def installed() -> None:
        _play_pods(hub)
        installation.healthy(crossplane.CONFIGURATION, "modelplane", tag)
        for function in FUNCTIONS:
            installation.healthy(crossplane.FUNCTION, f"modelplane-{function}", tag)
        for name, (_, version) in PROVIDERS.items():
            installation.healthy(PROVIDER, f"upbound-{name}", version)
        (lock,) = hub.api.list(LOCK)
        found = {each["source"]: each["version"] for each in lock["packages"]}
        wanted = {f"{REGISTRY}/modelplane": tag} | {f"{REGISTRY}/modelplane-{each}": tag for each in FUNCTIONS}
        assert found == wanted | {f"{UPBOUND}/upbound/{name}": each for name, (_, each) in PROVIDERS.items()}
        for definition in hub.api.list(XRD):
            assert condition(definition, "Established").get("status") == "True", definition["metadata"]["name"]
            assert hub.api.serves(Kind(API_VERSION, definition["spec"]["names"]["kind"]))

    def active() -> None:
        states = {each["metadata"]["name"]: each["spec"]["state"] for each in hub.api.list(DEFINITION)}
        assert {name for name, state in states.items() if state == "Active"} == {
            "releases.helm.m.crossplane.io",
            "objects.kubernetes.m.crossplane.io",
            "observedobjectcollections.kubernetes.m.crossplane.io",
        }, states

    eventually(installed, within=SOON)
    eventually(active, within=SOON)
    for name in PROVIDERS:
        (pod,) = (each for each in _pods(hub) if each["serviceAccountName"] == f"modelplane-{name}")
        (container,) = pod["containers"]
        assert set(provider_arguments(name)) <= set(container["args"]), container


def _deployments(hub: Cluster) -> list[Manifest]:
    return hub.api.list(DEPLOYMENT, crossplane.NAMESPACE)


def _pods(hub: Cluster) -> list[Manifest]:
    """Return the specs of the pods that Crossplane lets packages run in."""
    return [each["spec"]["template"]["spec"] for each in _deployments(hub)]


def _play_pods(hub: Cluster) -> None:
    """Play kubelets: the pods of all Deployments are available."""
    available = {"type": "Available", "status": "True", "reason": "Fake", "message": ""}
    for each in _deployments(hub):
        counts = dict.fromkeys(("replicas", "readyReplicas", "availableReplicas", "updatedReplicas"), 1)
        status = {**counts, "observedGeneration": each["metadata"]["generation"], "conditions": [available]}
        hub.api.patch(DEPLOYMENT, each["metadata"]["name"], {"status": status}, crossplane.NAMESPACE, "status")
