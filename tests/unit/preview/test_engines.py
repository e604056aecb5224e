"""The engines in examples/engines, each asked by a kubelet's probes while it behaves as its documentation says."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import yaml

from modelplane.preview import ControlPlane
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.engines import ALL, DOCUMENTED, DocumentedEngine

FOLDER = ROOT / "examples" / "engines"


@cache
def fleet() -> tuple[dict[str, Any], ...]:
    files = sorted((ROOT / "examples" / "fleet").glob("*.yaml"))
    return tuple(each for file in files for each in yaml.safe_load_all(file.read_text()) if each)


#: The Secret that the NIM reads.
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "ngc", "namespace": "ml"}, "data": {"api-key": ""}}


@cache
def composed(name: str) -> dict[str, Mapping[str, Any]]:
    """Return the manifests on the cluster of an example's replica, by kind."""
    plane = ControlPlane([*fleet(), SECRET, *yaml.safe_load_all((FOLDER / f"{name}.yaml").read_text())])
    assert plane.settle()
    applied = (each["spec"] for each in plane.list("Object") if each["spec"].get("managementPolicies") != ["Observe"])
    manifests = [spec["forProvider"]["manifest"] for spec in applied]
    return {each["kind"]: each for each in manifests}


def container_of(name: str) -> dict[str, Any]:
    (found,) = composed(name)["Deployment"]["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def answers(engine: DocumentedEngine, container: Mapping[str, Any], get: Mapping[str, Any], at: int) -> bool:
    """Tell whether an engine answers a probe's request at a second after its start."""
    reached = engine.listens_at(container) == (ALL, get["port"]) and at >= engine.listens
    return reached and 200 <= engine.answer(get["path"], at) < 400


def run(container: Mapping[str, Any], engine: DocumentedEngine, until: int = 9000) -> Iterator[str]:
    """Yield what a kubelet does with a container in time: started, ready, restarted (Kubernetes' rules of probes)."""
    started = ready = False
    failures = dict.fromkeys(("startupProbe", "readinessProbe", "livenessProbe"), 0)
    for at in range(until):
        for name in ("livenessProbe", "readinessProbe") if started else ("startupProbe",):
            probe = container[name]
            if at % probe["periodSeconds"]:
                continue
            failures[name] = 0 if answers(engine, container, probe["httpGet"], at) else failures[name] + 1
            if failures[name] >= probe["failureThreshold"] and name != "readinessProbe":
                yield f"restarted at {at}"
                return
            if failures[name] == 0 and name == "startupProbe":
                started = True
                yield "started"
            if failures[name] == 0 and name == "readinessProbe" and not ready:
                ready = True
                yield f"ready {at >= engine.loads}"


def test_every_engine_that_is_documented_has_an_example() -> None:
    assert {file.stem for file in FOLDER.glob("*.yaml")} == DOCUMENTED.keys()


@pytest.mark.proves("P37")
@pytest.mark.parametrize("name", DOCUMENTED)
def test_an_engine_that_answers_as_documented_becomes_ready_when_it_has_loaded(name: str) -> None:
    assert list(run(container_of(name), DOCUMENTED[name])) == ["started", "ready True"]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_requests_go_to_the_port_on_which_the_engine_listens(name: str) -> None:
    (port,) = composed(name)["Service"]["spec"]["ports"]
    assert (ALL, port["targetPort"]) == DOCUMENTED[name].listens_at(container_of(name))


def test_an_engine_that_answers_elsewhere_is_never_started_and_restarted_after_two_hours() -> None:
    elsewhere = replace(DOCUMENTED["vllm"], port=8001)
    assert list(run(container_of("vllm"), elsewhere)) == ["restarted at 7190"]
