"""Ports and probes of an engine: those that its container states, and where it states none those of a known engine."""

from typing import Any

import pytest

from unit.compose_replica import replicas as given
from unit.compose_replica.test_pods import BODY, pod, starting

ALL = ("startupProbe", "readinessProbe", "livenessProbe")


def replica(*containers: dict[str, Any]) -> dict[str, Any]:
    """Return a replica of an engine for each container."""
    templates = [{"spec": {"containers": [given.container(**each)]}} for each in containers]
    return given.replica(
        *(given.engine(f"e{at}", members=[given.member(template=each)]) for at, each in enumerate(templates))
    )


def composed(container: dict[str, Any]) -> dict[str, Any]:
    template = given.manifest_of(given.run(replica(container)), "deployment-e0")["spec"]["template"]
    (found,) = template["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def asked(container: dict[str, Any]) -> dict[str, tuple[str, int | str]]:
    """Return the path and port of each probe."""
    made = composed(container)
    return {probe: (made[probe]["httpGet"]["path"], made[probe]["httpGet"]["port"]) for probe in ALL}


def probe(**get: Any) -> dict[str, Any]:
    return {"httpGet": get}


def accepted(body: dict[str, Any]) -> tuple[str, str]:
    found = given.condition(given.run(body), "ModelAccepted")
    return str(found.status), found.message


OWN = "registry.corp/own:1"
NIM = "nvcr.io/nim/meta/llama:1"
ASKED: dict[str, tuple[dict[str, Any], list[tuple[str, int | str]]]] = {
    "nothing stated, a NIM": (
        {"image": NIM},
        [("/v1/health/ready", 8000), ("/v1/health/ready", 8000), ("/v1/health/live", 8000)],
    ),
    "a path stated for readiness is asked by all of an unknown engine": (
        {"image": OWN, "readinessProbe": probe(path="/up")},
        [("/up", 8000), ("/up", 8000), ("/up", 8000)],
    ),
    "a known engine keeps its liveness": (
        {"image": NIM, "readinessProbe": probe(path="/up", port=9000)},
        [("/up", 9000), ("/up", 9000), ("/v1/health/live", 8000)],
    ),
    "each as stated": (
        {
            "image": NIM,
            "startupProbe": probe(path="/s", port=1),
            "readinessProbe": probe(path="/r", port=2),
            "livenessProbe": probe(path="/l", port=3),
        },
        [("/s", 1), ("/r", 2), ("/l", 3)],
    ),
    "a port by its name": (
        {
            "image": OWN,
            "ports": [{"name": "http", "containerPort": 7000}, {"name": "admin", "containerPort": 7001}],
            "readinessProbe": probe(path="/up", port="admin"),
            "livenessProbe": probe(path="/live"),
        },
        [("/up", "admin"), ("/up", "admin"), ("/live", 7000)],
    ),
    "a port alone": ({"image": OWN, "readinessProbe": probe(port=7000)}, [("/health", 7000)] * 3),
}


@pytest.mark.proves("P35")
@pytest.mark.parametrize(("container", "expected"), ASKED.values(), ids=ASKED)
def test_a_probe_asks_what_is_stated_and_for_the_rest_what_the_engine_is_known_for(
    container: dict[str, Any], expected: list[tuple[str, int | str]]
) -> None:
    assert list(asked(container).values()) == expected


def test_stated_ports_reach_the_pod_and_requests_go_to_the_one_named_http() -> None:
    ports = [{"name": "metrics", "containerPort": 9400}, {"name": "http", "containerPort": 7000}]
    body = replica({"ports": ports})
    assert composed({"ports": ports})["ports"] == [{**port, "protocol": "TCP"} for port in ports]
    (port,) = given.manifest_of(given.run(body), "service")["spec"]["ports"]
    assert port["targetPort"] == 7000


def test_a_worker_has_the_probes_that_it_states_and_no_others() -> None:
    members = [
        given.member(role="Leader"),
        given.member(
            role="Worker",
            template={"spec": {"containers": [given.container(livenessProbe=probe(path="/live", port=9000))]}},
        ),
    ]
    body = given.replica(given.engine(members=members))
    made = given.manifest_of(given.run(body), "leaderworkerset-main")["spec"]["leaderWorkerTemplate"]
    (worker,) = made["workerTemplate"]["spec"]["containers"]
    assert worker["livenessProbe"]["httpGet"] == {"path": "/live", "port": 9000}
    assert not {"startupProbe", "readinessProbe", "ports"} & worker.keys()


def test_engines_behind_one_service_on_different_ports_need_one_name_for_them() -> None:
    first, second = ({"ports": [{"name": name, "containerPort": port}]} for name, port in (("a", 7000), ("b", 7001)))
    status, message = accepted(replica(first, second))
    assert status == "False"
    assert "(e0 on a 7000, e1 on b 7001)" in message
    assert "Name the port of each http" in message


def test_a_probe_on_a_port_that_has_no_such_name_is_refused_with_the_field() -> None:
    status, message = accepted(replica({"readinessProbe": probe(path="/up", port="admin")}))
    assert status == "False"
    assert "spec.engines[e0].members[0].template.spec.containers[0].readinessProbe.httpGet.port: 'admin'" in message


def test_a_port_that_the_engine_is_told_otherwise_is_a_warning() -> None:
    body = replica({"args": ["--model=m", "--port=9000"], "ports": [{"name": "http", "containerPort": 7000}]})
    message = given.condition(given.run(body, given.serving(body)), "ModelAccepted").message
    assert "--port is 9000, and requests and probes go to 7000" in message
    assert "Set ports[http].containerPort: 9000, or --port=7000" in message


@pytest.mark.parametrize(
    ("container", "words"),
    [
        (
            {"image": "vllm/vllm-openai:v0.15.0"},
            "vLLM listens on 8000, and requests and probes go to 9000. Set ports[http].containerPort: 8000, or "
            "--port=9000.",
        ),
        (
            {"image": "ollama/ollama:0.13.0"},
            "Ollama listens on 11434, and requests and probes go to 9000. Set ports[http].containerPort: 11434, or "
            "OLLAMA_HOST=0.0.0.0:9000.",
        ),
        ({"image": "vllm/vllm-openai:v0.15.0", "args": ["--port=9000"]}, ""),
        ({"image": "vllm/vllm-openai:v0.15.0", "args": ["--config=/etc/vllm.yaml"]}, ""),
        ({"image": "vllm/vllm-openai:v0.15.0", "command": ["/start"]}, ""),
        ({"image": OWN}, ""),
    ],
)
def test_a_declared_port_on_which_a_known_engine_does_not_listen_is_a_warning(
    container: dict[str, Any], words: str
) -> None:
    body = replica({"args": ["--model=m"], "ports": [{"name": "http", "containerPort": 9000}], **container})
    message = given.condition(given.run(body, given.serving(body)), "ModelAccepted").message
    assert words in message
    assert ("requests and probes go to" in message) is bool(words)


@pytest.mark.parametrize("state", [{"ready": True, "started": True}, {"ready": False}], ids=["ready", "not probed"])
def test_a_pod_that_answers_or_is_not_probed_says_nothing(state: dict[str, Any]) -> None:
    assert said(state) == "engine main: 0 of 2 copies ready"


def said(state: dict[str, Any]) -> str:
    """Return what the replica says while the engine of a pod runs, in this state of its probes."""
    status = {"phase": "Running", "containerStatuses": [{"name": "engine", "state": {"running": {}}} | state]}
    found = pod(status)
    get = {"httpGet": {"path": "/health", "port": 8000}}
    container = {"name": "engine", "startupProbe": get}
    for probe_name, path in (("readinessProbe", "/r"), ("livenessProbe", "/l")):
        container[probe_name] = {"httpGet": {**get["httpGet"], "path": path}}
    found["status"]["atProvider"]["manifest"]["spec"] = {"containers": [container]}
    return given.condition(given.run(BODY, starting(), pods=[found]), "ModelReady").message


def test_an_engine_that_was_stopped_is_said_with_the_requests_for_which_that_may_be() -> None:
    waiting = {"waiting": {"reason": "CrashLoopBackOff"}}

    def crashed(code: int, reason: str = "Error") -> str:
        ended = {"terminated": {"exitCode": code, "reason": reason, "message": "Shutting down"}}
        return said({"ready": False, "started": False, "state": waiting, "lastState": ended})

    for code in (137, 143):
        assert (
            f"CrashLoopBackOff: exit code {code} (Error): Shutting down, it was stopped, perhaps because it does not "
            "answer GET /health on port 8000 or GET /l on port 8000; if it answers elsewhere, set ports, startupProbe "
            "or livenessProbe of its container"
        ) in crashed(code)
    assert [crashed(*end) for end in ((1,), (137, "OOMKilled")) if "was stopped" in crashed(*end)] == []


@pytest.mark.proves("P36")
@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (
            {"ready": False, "started": False},
            "loads, or does not answer GET /health on port 8000; if it answers elsewhere, set ports or startupProbe of",
        ),
        (
            {"ready": False, "started": True},
            "does not answer GET /r on port 8000; if it answers elsewhere, set ports or readinessProbe of its",
        ),
    ],
)
def test_a_request_that_nothing_answers_is_said_with_the_field_to_set(state: dict[str, Any], expected: str) -> None:
    assert expected in said(state)
