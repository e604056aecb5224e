"""The fake kubelet reports as a kubelet does, so that what Modelplane makes of it is not the fake's own mistake."""

import threading
from pathlib import Path
from typing import Any

import pytest

from modelplane_dev.plane.engines import ALL, DOCUMENTED, LOOPBACK
from modelplane_dev.plane.gateways.documented_engine import CRASHES
from modelplane_dev.plane.kubelet import EnginePod, Probing, termination_message
from modelplane_dev.plane.pods import PLAYS
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.ports import free_port

LOGGED = {"terminationMessagePolicy": "FallbackToLogsOnError"}
LOG = b"".join(b"line %d\n" % number for number in range(200))


def test_the_termination_message_is_the_end_of_the_log_of_what_failed_and_only_by_that_policy() -> None:
    assert termination_message(LOGGED, 1, LOG).splitlines() == [f"line {number}" for number in range(120, 200)]
    assert termination_message(LOGGED, 1, b"a" * 5000 + b"b") == "a" * 2047 + "b"
    assert termination_message(LOGGED, 0, LOG) == ""
    assert termination_message({}, 1, LOG) == ""


def test_a_probe_fails_once_it_has_failed_often_enough_in_a_row_and_is_asked_in_its_period() -> None:
    probing = Probing({"periodSeconds": 10, "failureThreshold": 2, "httpGet": {"path": "/", "port": 80}})
    answers = iter([False, True, False, False])
    asked = [probing.look(lambda *_: next(answers), at) for at in (0, 5, 10, 20, 25, 30)]
    assert asked == [False, False, False, False, False, True]


@pytest.mark.parametrize(
    ("name", "container", "expected"),
    [
        ("vllm", {"args": ["--port", "9000"]}, (ALL, 9000)),
        ("sglang", {"args": ["--model-path=m"]}, (LOOPBACK, 30000)),
        ("tensorrt-llm", {"args": ["--host=localhost"]}, (LOOPBACK, 8000)),
        ("tgi", {"env": [{"name": "PORT", "value": "9000"}]}, (ALL, 9000)),
        ("llama-cpp", {"command": ["sh", "-c", "llama-server --port 9000"]}, (ALL, 9000)),
        ("ollama", {"env": [{"name": "OLLAMA_HOST", "value": "127.0.0.1:9000"}]}, (LOOPBACK, 9000)),
    ],
)
def test_a_fake_engine_listens_where_its_documentation_says(
    name: str, container: dict[str, Any], expected: tuple[str, int]
) -> None:
    assert DOCUMENTED[name].listens_at(container) == expected


class Statuses:
    """A client of an API server that keeps what is written of a container."""

    def __init__(self) -> None:
        self.written: list[dict[str, Any]] = []

    def patch(self, _kind: object, _name: str, body: dict[str, Any], *_: str) -> None:
        self.written.append(dict(body["status"]["containerStatuses"][0]))


def _pod(port: int, **fields: Any) -> dict[str, Any]:
    probe = {"httpGet": {"path": "/health", "port": port}, "periodSeconds": 10, "failureThreshold": 600}
    container = {"name": "engine", "image": "vllm", "args": [f"--port={port}"], **LOGGED, **fields}
    container |= dict.fromkeys(("startupProbe", "readinessProbe", "livenessProbe"), probe)
    metadata = {"name": "pod", "namespace": "n", "annotations": {PLAYS: "vllm"}}
    return {"metadata": metadata, "spec": {"containers": [container]}, "status": {"conditions": []}}


@pytest.mark.parametrize("crashes", ["", "NIXL is not available"])
def test_an_engine_is_reported_as_it_starts_and_as_it_ends(tmp_path: Path, crashes: str) -> None:
    seen = Statuses()
    env = [{"name": CRASHES, "value": crashes}] if crashes else []
    pod = EnginePod(seen, _pod(free_port(), env=env), 600.0, tmp_path, "127.0.0.1")  # type: ignore[arg-type]
    running = threading.Thread(target=pod.run)
    running.start()

    def reported() -> None:
        if crashes:
            (ended,) = (each for each in seen.written[:2] if "waiting" in each["state"])
            assert ended["lastState"]["terminated"]["exitCode"] == 1
            assert ended["lastState"]["terminated"]["message"].endswith(f"{crashes}\n")
        else:
            assert [(each["started"], each["ready"]) for each in seen.written] == [
                (False, False),
                (True, False),
                (True, True),
            ]

    try:
        eventually(reported, within=60)
    finally:
        pod.over.set()
        running.join()
