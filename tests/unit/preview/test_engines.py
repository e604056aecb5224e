"""The engines in examples/engines, each asked by a kubelet's probes while it behaves as its documentation says."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import yaml

from modelplane.preview import ControlPlane
from modelplane_dev.folders import ROOT

FOLDER = ROOT / "examples" / "engines"


@dataclass(frozen=True)
class FakeEngine:
    """An engine as its documentation says: where it listens, what answers when, and how long it loads, in seconds.

    `loaded` are the paths that answer 200 once the model is loaded, `alive` those that do as soon as it listens; before
    `listens` nothing answers. Other paths are 404.
    """

    port: int
    loaded: frozenset[str]
    alive: frozenset[str] = frozenset()
    listens: int = 5
    loads: int = 600

    def answer(self, path: str, port: int, at: int) -> int | None:
        """Return the status of a request at a second after the start, None if nothing listens."""
        if port != self.port or at < self.listens:
            return None
        if path in self.alive:
            return 200
        return 404 if path not in self.loaded else 200 if at >= self.loads else 503


def engine(port: int, *loaded: str, alive: tuple[str, ...] = (), listens: int = 5, loads: int = 600) -> FakeEngine:
    return FakeEngine(port, frozenset(loaded), frozenset(alive), listens, loads)


#: vLLM, SGLang, TensorRT-LLM and TGI listen when they have loaded; llama.cpp, NIM, and Triton answer 503 until then.
DOCUMENTED = {
    "vllm": engine(8000, "/health", listens=600),
    "sglang": engine(30000, "/health", listens=600),
    "tensorrt-llm": engine(8000, "/health", listens=1800, loads=1800),
    "tgi": engine(80, "/health", listens=600),
    "llama-cpp": engine(8080, "/health", loads=120),
    "nim": engine(8000, "/v1/health/ready", alive=("/v1/health/live",), loads=3600),
    "triton": engine(9000, "/v1/models", listens=600),
    "ollama": engine(11434, alive=("/", "/api/version"), loads=5),
}


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


def run(container: Mapping[str, Any], engine: FakeEngine, until: int = 9000) -> Iterator[str]:
    """Yield what a kubelet does with a container in time: started, ready, restarted (Kubernetes' rules of probes)."""
    started = ready = False
    failures = dict.fromkeys(("startupProbe", "readinessProbe", "livenessProbe"), 0)
    for at in range(until):
        for name in ("livenessProbe", "readinessProbe") if started else ("startupProbe",):
            probe = container[name]
            if at % probe["periodSeconds"]:
                continue
            status = engine.answer(probe["httpGet"]["path"], probe["httpGet"]["port"], at)
            failures[name] = 0 if status is not None and 200 <= status < 400 else failures[name] + 1
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


@pytest.mark.parametrize("name", DOCUMENTED)
def test_an_engine_that_answers_as_documented_becomes_ready_when_it_has_loaded(name: str) -> None:
    assert list(run(container_of(name), DOCUMENTED[name])) == ["started", "ready True"]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_requests_go_to_the_port_on_which_the_engine_listens(name: str) -> None:
    (port,) = composed(name)["Service"]["spec"]["ports"]
    assert port["targetPort"] == DOCUMENTED[name].port


def test_an_engine_that_answers_elsewhere_is_never_started_and_restarted_after_two_hours() -> None:
    assert list(run(container_of("vllm"), engine(8001, "/health"))) == ["restarted at 7190"]
