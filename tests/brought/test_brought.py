"""Clusters that are brought, on the real control plane: real provider-helm installs the real charts in their order.

Real are Crossplane, both providers, the charts, Envoy Gateway, Envoy AI Gateway, and Helm's own client for what others
have installed. Fakes are: the pods of the charts (kwok), where the controllers of the gateways run as processes with
what their charts configure; webhooks, which admit everything as it is; cert-manager's controllers; NVIDIA's DRA driver
(its DeviceClass and ResourceSlices); Prometheus (a definition of its API group); a GPU operator (objects like its own).
"""

import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from brought.installation import FUNCTION, RELEASE, STACK, Brought, brought, everything, revisions
from e2e.fleet import SOON, Fleet
from e2e.scenarios import FIGURES, own_fleet
from e2e.services import model_service
from gateways.live import LiveFleet
from modelplane.model.names import CLUSTER_GATEWAY, SYSTEM_NAMESPACE
from modelplane.stack import PARTS, Part
from modelplane_dev.plane.api import Kind, Manifest, condition
from modelplane_dev.plane.charted import silence_webhooks
from modelplane_dev.plane.cluster import Cluster, namespace
from modelplane_dev.plane.control_plane import INFERENCE_CLUSTER, ControlPlane
from modelplane_dev.plane.envoy_gateway import GATEWAY
from modelplane_dev.plane.fakes import POD_ADDRESSES
from modelplane_dev.plane.gateways.live import LiveGateways
from modelplane_dev.plane.requests import now, requests, table
from modelplane_dev.plane.waiting import eventually

#: Parts whose charts can be had here; the others are said to be Present.
INSTALLED = (Part.CERT_MANAGER, Part.GATEWAY, Part.AI_GATEWAY, Part.LWS)
CHARTS = {chart.release for part in INSTALLED for chart in PARTS[part].charts}
ASKED = {str(part): "Managed" if part in INSTALLED else "Present" for part in (*INSTALLED, Part.DRA, Part.METRICS)}
#: Most requests a minute to the control cluster that a settled cluster with its gateway and its stack costs, and most
#: characters of its InferenceCluster without what it publishes as charged.
COST, SIZE = 40.0, 6000
#: Seconds until what the last change has caused is over, and for which a settled cluster is watched.
CALM, WATCHED = 10.0, 70.0


@pytest.fixture(scope="module")
def installation(plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brought]:
    """Serve the charts; provider-helm is not installed yet."""
    with brought(plane, tmp_path_factory.mktemp("charts")) as running:
        yield running


@pytest.fixture
def mine(plane: ControlPlane, gateways: LiveGateways, request: pytest.FixtureRequest) -> Iterator[LiveFleet]:
    """Give a test clusters and a namespace, reached through the gateway of the fleet."""
    with own_fleet(plane, request.node) as fleet:
        yield LiveFleet(fleet, gateways)


def _rows(fleet: Fleet, name: str) -> dict[str, dict[str, Any]]:
    """Return what a ServingStack says of its parts, by name."""
    found = fleet.plane.hub.api.get(STACK, name, SYSTEM_NAMESPACE) or {}
    return {row["name"]: row for row in found.get("status", {}).get("parts", ())}


def _wait_states(fleet: Fleet, name: str, **wanted: str) -> None:
    """Wait until parts have these states."""

    def reached() -> None:
        rows = _rows(fleet, name)
        assert {part: rows[part]["state"] for part in wanted} == wanted, rows

    eventually(reached, within=SOON)


def _wait_running(fleet: Fleet, name: str) -> None:
    _wait_states(fleet, name, **{str(part): "Running" for part in INSTALLED})


def _wait_said(fleet: Fleet, name: str, reason: str, words: str) -> None:
    """Wait until BackendReady of an InferenceCluster is False for a reason, in these words."""

    def said() -> None:
        found = condition(fleet.assert_condition(fleet.cluster(name), "BackendReady", "False", reason), "BackendReady")
        assert words in found["message"], found

    eventually(said, within=SOON)


def _play_prometheus(cluster: Cluster) -> None:
    """Play Prometheus's operator: define a kind of its API group."""
    names = {"kind": "Prometheus", "plural": "prometheuses"}
    schema = {"openAPIV3Schema": {"type": "object"}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    spec = {"group": "monitoring.coreos.com", "names": names, "scope": "Namespaced", "versions": [version]}
    metadata = {"name": "prometheuses.monitoring.coreos.com"}
    api = "apiextensions.k8s.io/v1"
    cluster.api.apply({"apiVersion": api, "kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec})


def test_an_empty_cluster_gets_a_stack_and_answers_and_what_others_have_installed_stays_as_it_is(
    mine: LiveFleet, installation: Brought, request: pytest.FixtureRequest
) -> None:
    fleet, site, others = mine.fleet, installation.add_site("brought"), installation.add_site("foreign")
    before = _install_as_somebody_else(installation, others)
    started = time.monotonic()
    name = fleet.begin_cluster("brought", stack=ASKED)
    beside = fleet.begin_cluster("foreign", stack={"lws": "Managed", "dra": "Present", "metrics": "Present"})
    _wait_said(fleet, name, "ProviderMissing", "Install provider-helm: kubectl apply -k install/")
    installation.install_provider()
    _killed_while_it_installs(installation, site)
    _wait_running(fleet, name)
    assert revisions(site) == dict.fromkeys(CHARTS, "1 deployed")
    # What is Missing and serves nothing is said, and takes nothing down.
    assert "spec.stack.metrics is Present" in _rows(fleet, name)["metrics"]["message"]
    running, address = installation.run_gateway(site, mine.gateways.public)
    running.open(CLUSTER_GATEWAY, address)
    fleet.wait_cluster(name)
    ready = time.monotonic() - started
    url = _answers(mine, name, running)
    answered = time.monotonic() - started
    _play_prometheus(site)
    _wait_states(fleet, name, metrics="Present")
    figures = request.config.stash[FIGURES]
    figures.append(f"An empty cluster is Ready after {ready:.0f} s, and answers after {answered:.0f} s")
    _left_alone(fleet, beside, others, before)
    figures += _settled(fleet, name)
    _let_go_and_taken_again(mine, name, site, url)


def _killed_while_it_installs(installation: Brought, site: Cluster) -> None:
    """Kill provider-helm and our function once a release is begun; both begin again where they were."""

    def begun() -> None:
        assert revisions(site)

    eventually(begun, within=SOON)
    assert installation.helm
    for process in (installation.helm, installation.plane.processes[FUNCTION]):
        process.kill()
        process.start()


def _answers(mine: LiveFleet, name: str, running: Any) -> str:
    """Deploy on the cluster, and return the URL of a service that it answers."""
    fleet, public = mine.fleet, mine.gateways.public
    running.run_engine_for_all(POD_ADDRESSES, "example/model")
    fleet.deploy("llama")
    fleet.plane.hub.api.apply(model_service("chat", fleet.tag, {"llama": 1}))
    fleet.wait_ready("llama")
    assert [pod["metadata"]["namespace"] for pod in fleet.pods(name)]
    public.resolve_services()
    url = mine.url("chat")
    mine.wait_chat(url)
    return url


def _settled(fleet: Fleet, name: str) -> list[str]:
    """Return what a minute of the settled cluster costs."""
    hub = fleet.plane.hub
    generations = _generations(fleet)
    fleet.wait_cluster(name)
    time.sleep(CALM)
    since = now()
    time.sleep(WATCHED)
    asked = requests(hub.audit_log, since, now(), about=name)
    # The deployment that serves there has a cost of its own.
    found = Counter({kind: count for kind, count in asked.items() if kind.namespace != fleet.tag})
    # As many passes of the InferenceCluster as there are minutes, whichever of them fall into the time.
    passes = {kind: count for kind, count in found.items() if kind.user == "crossplane"}
    times = sum(count for kind, count in passes.items() if kind.resource == "inferenceclusters/status")
    cost = sum(passes.values()) / times + (found.total() - sum(passes.values())) * 60 / WATCHED
    assert cost <= COST, "\n".join(table(found, rows=20, minutes=WATCHED / 60))
    assert _generations(fleet) == generations
    manifest = fleet.cluster(name)
    size = len(json.dumps(_without_charges(manifest)))
    assert size <= SIZE, manifest
    costs = (
        f"A settled cluster with its stack costs {cost:.0f} requests a minute, its InferenceCluster {size} characters"
    )
    return [costs, *table(found, rows=8, minutes=WATCHED / 60)]


def _generations(fleet: Fleet) -> dict[str, int]:
    """Return the generations of all Releases: each is written as its provider writes it."""
    found = fleet.plane.hub.api.list(RELEASE, SYSTEM_NAMESPACE)
    return {each["metadata"]["name"]: each["metadata"]["generation"] for each in found}


def _without_charges(manifest: Manifest) -> Manifest:
    """Return an InferenceCluster as a function is given it, without what its pools publish as charged."""
    metadata = {key: value for key, value in manifest["metadata"].items() if key != "managedFields"}
    pools = [{key: each[key] for key in each if key != "charged"} for each in manifest["status"]["gpuPools"]]
    return {**manifest, "metadata": metadata, "status": {**manifest["status"], "gpuPools": pools}}


def _let_go_and_taken_again(mine: LiveFleet, name: str, site: Cluster, url: str) -> None:
    """Delete the InferenceCluster: its releases stay, and another one takes them over at their revisions."""
    fleet, api, before = mine.fleet, mine.fleet.plane.hub.api, revisions(site)
    mine.wait_chat(url)
    for each in ("ModelService", "ModelDeployment"):
        api.delete(Kind("modelplane.ai/v1alpha1", each), "chat" if each == "ModelService" else "llama", fleet.tag)
    _let_go(fleet, name, site)
    assert revisions(site) == before
    again = fleet.begin_cluster("brought", suffix="-again", stack=ASKED)
    _wait_running(fleet, again)
    assert revisions(site) == before
    assert {row.get("origin") for part, row in _rows(fleet, again).items() if part in INSTALLED} == {"Modelplane"}
    _let_go(fleet, again, site)


def _let_go(fleet: Fleet, name: str, site: Cluster) -> None:
    """Delete an InferenceCluster, and wait until nothing of it is left but what Helm has installed."""
    api = fleet.plane.hub.api
    api.delete(INFERENCE_CLUSTER, name)

    def gone() -> None:
        left = [api.get(INFERENCE_CLUSTER, name), api.get(STACK, name, SYSTEM_NAMESPACE)]
        left += [each for each in api.list(RELEASE, SYSTEM_NAMESPACE) if name in each["metadata"]["name"]]
        assert not any(left), left
        assert site.api.get(GATEWAY, CLUSTER_GATEWAY, SYSTEM_NAMESPACE) is None

    eventually(gone, within=SOON)


def _gpu_operator(where: str) -> list[Manifest]:
    """Return objects as a GPU operator has them: its settings, what runs on each node, and a definition."""
    metadata = {"name": "gpu-operator", "namespace": where}
    labels = {"app": "nvidia-device-plugin"}
    pod = {"nodeSelector": {"nvidia.com/gpu.present": "true"}, "containers": [{"name": "plugin", "image": "plugin:v1"}]}
    plugin = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod}}
    names = {"kind": "ClusterPolicy", "plural": "clusterpolicies"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    policy = {"group": "nvidia.com", "names": names, "scope": "Cluster", "versions": [version]}
    definition = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return [
        namespace(where),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"driver": "580"}},
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": plugin},
        {**definition, "metadata": {"name": "clusterpolicies.nvidia.com"}, "spec": policy},
    ]


def _install_as_somebody_else(installation: Brought, site: Cluster) -> dict[tuple[str, str, str], Manifest]:
    """Install on a cluster what somebody else may have there; return everything of it."""
    installation.helm_install(site, "cm", "cert-manager", "security", crds_enabled="true")
    installation.helm_install(site, "eg", "gateway-helm", "team-gateway")
    for manifest in _gpu_operator("gpu-operator"):
        site.api.apply(manifest)
    return _at_rest(site)


def _left_alone(fleet: Fleet, name: str, site: Cluster, before: dict[tuple[str, str, str], Manifest]) -> None:
    """Let the stack be installed beside what somebody else has, and the cluster go: it is as before, byte for byte."""
    _wait_states(fleet, name, certManager="Present", gateway="Present", aiGateway="Missing", lws="Running")
    rows = _rows(fleet, name)
    assert (rows["certManager"]["origin"], rows["gateway"]["origin"]) == ("Other", "Other")
    _wait_said(fleet, name, "PartMissing", "set spec.stack.gateway and spec.stack.aiGateway to Present")
    assert revisions(site) == {"cm": "1 deployed", "eg": "1 deployed", "mp-lws": "1 deployed"}
    fleet.plane.hub.api.delete(INFERENCE_CLUSTER, name)

    def gone() -> None:
        assert fleet.plane.hub.api.get(INFERENCE_CLUSTER, name) is None

    eventually(gone, within=SOON)
    after = everything(site)
    assert {key: after.get(key) for key in before} == before


def _at_rest(site: Cluster) -> dict[tuple[str, str, str], Manifest]:
    """Return everything of a cluster once its pods run and nothing changes any more."""

    def found() -> dict[tuple[str, str, str], Manifest]:
        first = everything(site)
        time.sleep(3)
        changed = [key for key, each in everything(site).items() if first.get(key) != each]
        assert not changed, changed
        return first

    silence_webhooks(site)
    return eventually(found, within=SOON)
