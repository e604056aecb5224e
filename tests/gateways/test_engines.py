"""The engines of examples/engines on a cluster with a real gateway: each behaves as its documentation says.

A fake kubelet runs them in the cluster's network, and asks what Modelplane has composed as their probes. Where
Modelplane is wrong about an engine's port or path, it never becomes Ready, or does before it has loaded.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Final

import pytest
import yaml

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.live import LiveFleet
from modelplane.model.conditions import DeploymentCondition
from modelplane.model.names import CLIENT_PAIR, LABEL_DEPLOYMENT, tenant_namespace
from modelplane_dev.folders import ROOT
from modelplane_dev.plane import kubelet
from modelplane_dev.plane.api import Manifest, condition
from modelplane_dev.plane.control_plane import DEPLOYMENT
from modelplane_dev.plane.engines import DOCUMENTED
from modelplane_dev.plane.gateways.pod_network import pod_network
from modelplane_dev.plane.pods import PLAYS
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

SITE: Final = "west"
#: How many times as fast as in life engines load and are asked: those that load for ten minutes take five seconds, and
#: what is not started after two hours is restarted after a minute.
PACE: Final = 120
#: Where the pods are that the kubelet runs, beside those of kwok.
ADDRESSES: Final = "10.2.0."
#: An engine that is told another port than its container declares.
ELSEWHERE: Final = "elsewhere"


def _deployment(live: LiveFleet, name: str, plays: str) -> Manifest:
    """Return the manifest of an example for the site, whose pods the kubelet runs."""
    found: Manifest = yaml.safe_load((ROOT / "examples" / "engines" / f"{plays}.yaml").read_text())
    found["metadata"] = {"name": name, "namespace": live.fleet.tag}
    found["spec"] |= {"drainSeconds": 0, "clusterSelector": {"matchLabels": {"name": f"{live.fleet.tag}-{SITE}"}}}
    found["spec"]["engines"][0]["members"][0]["template"]["metadata"] = {"annotations": {PLAYS: plays}}
    return found


def _container(manifest: Manifest) -> dict[str, Any]:
    (found,) = manifest["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def _apply(live: LiveFleet) -> list[str]:
    """Apply the manifests of all engines, and of one that listens elsewhere; return their names."""
    apply, tag = live.fleet.plane.hub.api.apply, live.fleet.tag
    apply(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "ngc", "namespace": tag}, "data": {"api-key": ""}}
    )
    for name in DOCUMENTED:
        apply(_deployment(live, name, name))
    elsewhere = _deployment(live, ELSEWHERE, "vllm")
    _container(elsewhere)["ports"] = [{"name": "http", "containerPort": 9000}]
    apply(elsewhere)
    return [*DOCUMENTED, ELSEWHERE]


@pytest.fixture(scope="module")
def running(fleet_with_gateways: LiveFleet) -> Iterator[Process]:
    """Deploy all engines, and run them; they are gone afterwards, because other tests run an engine in every pod."""
    live = fleet_with_gateways
    site, tag = live.gateways.sites[SITE], live.fleet.tag
    module = (sys.executable, "-m", kubelet.__name__)
    arguments = (site.cluster.kubeconfig(), tenant_namespace(tag), str(PACE), site.folder, ADDRESSES)
    with ExitStack() as stack:
        network = stack.enter_context(pod_network(site, f"{ADDRESSES}0/24", 0))
        process = stack.enter_context(network.process("kubelet-engines", *module, *arguments))
        names = _apply(live)
        yield process
        for name in names:
            live.fleet.plane.hub.api.delete(DEPLOYMENT, name, tag)
        eventually(lambda: _assert_gone(live), within=SOON)


def _assert_gone(live: LiveFleet) -> None:
    left = [pod["metadata"]["name"] for pod in live.fleet.pods(f"{live.fleet.tag}-{SITE}") if _is_played(pod)]
    assert not left, left


def _is_played(pod: Manifest) -> bool:
    return PLAYS in pod["metadata"].get("annotations", {})


@pytest.mark.proves("P37")
@pytest.mark.parametrize("name", DOCUMENTED)
def test_an_engine_is_ready_once_it_has_loaded_and_answers_through_the_route(
    live: LiveFleet, running: Process, name: str
) -> None:
    live.fleet.wait_ready(name)
    pods = live.fleet.pods(f"{live.fleet.tag}-{SITE}")
    (pod,) = (each for each in pods if each["metadata"]["labels"].get(LABEL_DEPLOYMENT) == name)
    pod_name = pod["metadata"]["name"]
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 0
    (at,) = re.findall(rf"{pod_name} started=True ready=True at (\d+)", running.log.read_text())
    assert int(at) >= DOCUMENTED[name].loads
    live.wait_site(SITE, name)
    answer = live.ask_site(SITE, live.host(name, SITE), CLIENT_PAIR)
    assert answer.body["system_fingerprint"] == pod_name


def test_one_service_reaches_engines_on_any_port(live: LiveFleet, running: Process) -> None:
    assert running.alive
    for name in DOCUMENTED:
        live.fleet.wait_ready(name)
    live.fleet.plane.hub.api.apply(model_service("any", live.fleet.tag, dict.fromkeys(DOCUMENTED, 1)))
    live.wait_chat(live.url("any"))

    def reached() -> None:
        answered = live.send_many(live.url("any"), 80)
        missing = [name for name in DOCUMENTED if not any(each.startswith(name) for each in answered)]
        assert not missing, answered

    eventually(reached, within=SOON)


def test_an_engine_that_nothing_reaches_is_said_with_the_request_and_the_fields_to_set(
    live: LiveFleet, running: Process
) -> None:
    assert running.alive

    def said() -> None:
        message = condition(live.fleet.deployment(ELSEWHERE), DeploymentCondition.REPLICAS_READY).get("message", "")
        assert "does not answer GET /health on port 9000" in message
        assert "set ports or startupProbe of its container" in message

    eventually(said, within=SOON)
