"""A pair of engines: the decode engine behind its sidecar, each distinct from the other, nothing added to either."""

from typing import Any

import pytest

from modelplane.model.conditions import Status
from unit.compose_replica import replicas as given

SIDECAR = "ghcr.io/llm-d/llm-d-router-disagg-sidecar:v0.9.0"


def pod(body: dict[str, Any], resource: str) -> dict[str, Any]:
    template: dict[str, Any] = given.manifest_of(given.run(body), resource)["spec"]["template"]
    return template


WRONG = {
    "the sidecar's own port": (
        ["--port=8000"],
        "--port is 8000, the port of the decode sidecar, which takes the requests",
    ),
    "no number": (["--port=http"], "--port 'http' is not a port number from 1 to 65535"),
    "a variable": (["--port", "$(PORT)"], "--port '$(PORT)' is not a port number from 1 to 65535"),
    "a flag without a value": (["--port"], "--port '' is not a port number from 1 to 65535"),
    "beyond the last port": (["--port=65536"], "--port '65536' is not a port number from 1 to 65535"),
    "in a command string": (
        ["vllm serve m --port 8000"],
        "--port is 8000, the port of the decode sidecar, which takes the requests",
    ),
}


@pytest.mark.proves("P39")
@pytest.mark.parametrize(("args", "words"), WRONG.values(), ids=WRONG)
def test_a_decode_port_that_cannot_be_is_reported_with_the_field_and_the_remedy(args: list[str], words: str) -> None:
    for observed in ({}, given.serving(given.pair("--port=8200"))):
        result = given.run(given.pair(*args), observed)
        accepted = given.condition(result, "ModelAccepted")
        assert (accepted.status, accepted.reason) == (Status.FALSE, "InvalidEngine")
        field = "spec.engines[writer].members[0].template.spec.containers[0]"
        remedy = "Set another one, such as --port=8001."
        assert accepted.message.startswith(f"{field}: {words}. {remedy}")
        assert result.desired.keys() == observed.keys()


def of(body: dict[str, Any], engine: int) -> dict[str, Any]:
    """Return the container of an engine of a pair: 0 prefills, 1 decodes."""
    (container,) = body["spec"]["engines"][engine]["members"][0]["template"]["spec"]["containers"]
    assert isinstance(container, dict)
    return container


def paired(prefill: dict[str, Any], decode: dict[str, Any]) -> dict[str, Any]:
    """Return a pair whose containers have these fields."""
    body = given.pair()
    for engine, fields in enumerate((prefill, decode)):
        of(body, engine).clear()
        of(body, engine).update({"name": "engine", **fields})
    return body


VLLM, SGLANG = {"image": "vllm/vllm-openai:v0.15.0"}, {"image": "lmsysorg/sglang:v0.5.6"}
NIXL = '--kv-transfer-config={"kv_connector":"NixlConnector","kv_role":"kv_both"}'
TAKEN = "it listens on 8000, the port of the decode sidecar, which takes the requests. Set another one, such as"
#: Pairs that cannot serve as they are written: their containers, and what is said of them.
REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "vLLM on its default port": (VLLM, VLLM, f"no --port, {TAKEN} --port=8001, or declare where it listens in ports."),
    "an unknown engine": (VLLM, {"image": "own:1"}, f"no --port, {TAKEN} --port=8001, or declare where it listens in"),
    "its declared port": (
        VLLM,
        {**VLLM, "ports": [{"name": "http", "containerPort": 8000}]},
        "ports[http].containerPort is 8000, the port of the decode sidecar, which takes the requests. Set another one, "
        "such as ports[http].containerPort: 8001.",
    ),
    "a prefill engine that listens elsewhere": (
        {**VLLM, "args": ["--port=9000"]},
        {**VLLM, "args": ["--port=8001"]},
        "--port is 9000, requests and probes are sent to port 8000. Set --port=8000.",
    ),
    "a prefill engine whose default is elsewhere": (
        SGLANG,
        SGLANG,
        "no --port, it listens on 30000, requests and probes are sent to port 8000. Set --port=8000, or declare",
    ),
    "a default port that a declared one only hides": (
        VLLM,
        {**VLLM, "ports": [{"name": "http", "containerPort": 8001}]},
        f"no --port, {TAKEN} --port=8001.",
    ),
    "a port that a declared one only hides": (
        {**VLLM, "args": ["--port=9000"], "ports": [{"name": "http", "containerPort": 8000}]},
        {**VLLM, "args": ["--port=8001"]},
        "--port is 9000, requests and probes are sent to port 8000. Set --port=8000.",
    ),
    "a second declared port": (
        VLLM,
        {
            **VLLM,
            "args": ["--port=8001"],
            "ports": [{"name": "http", "containerPort": 8001}, {"name": "admin", "containerPort": 8000}],
        },
        "ports[admin].containerPort is 8000, the port of the decode sidecar, which takes the requests. Set another one",
    ),
    "a probe that the sidecar would answer": (
        VLLM,
        {**VLLM, "args": ["--port=8001"], "readinessProbe": {"httpGet": {"port": 8000}}},
        "spec.engines[writer].members[0].template.spec.containers[0].readinessProbe.httpGet.port is 8000, where the "
        "decode sidecar answers for itself alone. Set 8001, or remove it.",
    ),
    "engines without a connector": (
        {"image": "nvcr.io/nvidia/tensorrt-llm/release:1.1.0"},
        {"image": "nvcr.io/nvidia/tensorrt-llm/release:1.1.0", "args": ["m", "--port=8001"]},
        "spec.engines: reader runs TensorRT-LLM and writer runs TensorRT-LLM, with which the decode sidecar has no KV "
        "connector. Use vLLM or SGLang.",
    ),
    "two engines": (
        VLLM,
        SGLANG,
        "spec.engines: reader runs vLLM and writer runs SGLang, which pass KV caches in different ways. Use one engine",
    ),
    "an SGLang that is asked elsewhere": (
        {**SGLANG, "args": ["--port=8000", "--disaggregation-bootstrap-port=9100"]},
        SGLANG,
        "--disaggregation-bootstrap-port is 9100, the decode sidecar asks on port 8998. Set",
    ),
    "an SGLang that is told to be the other half": (
        {**SGLANG, "args": ["--port=8000", "--disaggregation-mode=decode"]},
        {**SGLANG, "args": ["--disaggregation-mode=decode"]},
        "spec.engines[reader].members[0].template.spec.containers[0]: --disaggregation-mode is decode, phase is "
        "Prefill. Set --disaggregation-mode=prefill.",
    ),
}


@pytest.mark.proves("P38")
@pytest.mark.parametrize(("prefill", "decode", "words"), REFUSED.values(), ids=REFUSED)
def test_a_pair_that_cannot_serve_as_it_is_written_composes_nothing_and_names_what_to_set(
    prefill: dict[str, Any], decode: dict[str, Any], words: str
) -> None:
    body = paired(prefill, decode)
    result = given.run(body)
    accepted, ready = given.condition(result, "ModelAccepted"), given.condition(result, "ModelReady")
    assert (accepted.status, accepted.reason) == (Status.FALSE, "InvalidEngine")
    assert words in accepted.message
    assert ready.status is Status.FALSE
    assert result.desired == {}
    running = given.serving(given.pair("--port=8200"))
    held = given.run(body, running)
    assert held.desired.keys() == running.keys()
    assert given.condition(held, "ModelReady").status is Status.TRUE


SERVES: dict[str, tuple[dict[str, Any], dict[str, Any], int, str, str]] = {
    "vLLM told a port": (
        {**VLLM, "args": [NIXL]},
        {**VLLM, "args": ["--port=8001", NIXL]},
        8001,
        "nixlv2",
        "prefix-based-pd-decider",
    ),
    "vLLM started by a script": (
        {**VLLM, "command": ["/start"]},
        {**VLLM, "command": ["/start"], "ports": [{"name": "http", "containerPort": 8001}]},
        8001,
        "nixlv2",
        "prefix-based-pd-decider",
    ),
    "SGLang on its default port": (
        {
            **SGLANG,
            "args": [
                "--port=8000",
                "--host=0.0.0.0",
                "--disaggregation-mode=prefill",
                "--disaggregation-bootstrap-port=8998",
            ],
        },
        {**SGLANG, "args": ["--host=0.0.0.0", "--disaggregation-mode", "decode"]},
        30000,
        "sglang",
        "always-disagg-pd-decider",
    ),
}


@pytest.mark.proves("P25")
@pytest.mark.parametrize(("prefill", "decode", "port", "connector", "decider"), SERVES.values(), ids=SERVES)
def test_the_sidecar_and_the_picker_work_as_the_engines_of_the_pair_pass_kv_caches(
    prefill: dict[str, Any], decode: dict[str, Any], port: int, connector: str, decider: str
) -> None:
    body = paired(prefill, decode)
    spec = pod(body, "deployment-writer")["spec"]
    assert spec["initContainers"][0]["args"] == [
        "--secure-proxy=false",
        f"--kv-connector={connector}",
        f"--vllm-port={port}",
    ]
    assert spec["containers"][0].get("args") == decode.get("args")
    assert spec["containers"][0]["readinessProbe"]["httpGet"] == {"path": "/health", "port": port}
    (config,) = given.manifest_of(given.run(body), "picker-configmap")["data"].values()
    assert {name for name in ("prefix-based-pd-decider", "always-disagg-pd-decider") if name in config} == {decider}
    assert given.condition(given.run(body, given.serving(body)), "ModelAccepted").message == ""


def test_requests_reach_a_decode_engine_through_its_sidecar_and_its_health_is_asked_of_itself() -> None:
    spec = pod(given.pair("--port=8200"), "deployment-writer")["spec"]
    (engine,), (sidecar,) = spec["containers"], spec["initContainers"]
    assert sidecar["image"] == SIDECAR
    assert sidecar["args"] == ["--secure-proxy=false", "--kv-connector=nixlv2", "--vllm-port=8200"]
    assert sidecar["restartPolicy"] == "Always"
    assert [port["containerPort"] for port in sidecar["ports"]] == [8000]
    assert [port["containerPort"] for port in engine["ports"]] == [8200]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert engine[probe]["httpGet"] == {"path": "/health", "port": 8200}


def test_a_prefill_engine_stays_on_8000_without_a_sidecar() -> None:
    spec = pod(given.pair("--port=8200"), "deployment-reader")["spec"]
    assert "initContainers" not in spec
    assert spec["containers"][0]["readinessProbe"]["httpGet"]["port"] == 8000


@pytest.mark.parametrize(
    ("args", "warning"),
    [
        ([], ""),
        (["--port=8000"], ""),
        (["--port=$(PORT)"], "--port '$(PORT)' is no port number, requests and probes go to 8000. Write the number"),
        (["--port"], "--port '' is no port number, requests and probes go to 8000. Write the number"),
    ],
)
def test_a_prefill_engine_that_may_listen_where_requests_come_is_composed(args: list[str], warning: str) -> None:
    body = given.pair("--port=8200", NIXL)
    of(body, 0)["args"] = [NIXL, *args]
    accepted = given.condition(given.run(body, given.serving(body)), "ModelAccepted")
    assert accepted.status is Status.TRUE
    assert warning in accepted.message
    assert bool(accepted.message) is bool(warning)


def test_only_pairs_carry_roles_side_channels_and_sidecars() -> None:
    roles = {"reader": "prefill", "writer": "decode"}
    for engine, role in roles.items():
        assert pod(given.pair("--port=8200"), f"deployment-{engine}")["metadata"]["labels"]["llm-d.ai/role"] == role
    alone = pod(given.replica(), "deployment-main")
    assert "llm-d.ai/role" not in alone["metadata"]["labels"]
    assert "env" not in alone["spec"]["containers"][0]
    assert "initContainers" not in alone["spec"]


HOST = {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
PORT = {"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": "5557"}
MY_HOST = {"name": "VLLM_NIXL_SIDE_CHANNEL_HOST", "value": "10.0.0.7"}
MY_PORT = {"name": "VLLM_NIXL_SIDE_CHANNEL_PORT", "value": "5600"}
MINE = {"name": "A", "value": "1"}


@pytest.mark.parametrize(
    ("rows", "composed"),
    [
        ([], [HOST, PORT]),
        ([MINE], [HOST, PORT, MINE]),
        ([MINE, MY_PORT], [HOST, MINE, MY_PORT]),
        ([MY_HOST, MINE], [PORT, MY_HOST, MINE]),
        ([MY_PORT, MY_HOST], [MY_PORT, MY_HOST]),
    ],
)
@pytest.mark.parametrize("engine", ["reader", "writer"])
def test_the_side_channel_is_passed_first_unless_the_user_sets_it(
    engine: str, rows: list[dict[str, Any]], composed: list[dict[str, Any]]
) -> None:
    body = given.pair("--port=8200")
    for found in body["spec"]["engines"]:
        (container,) = found["members"][0]["template"]["spec"]["containers"]
        container["env"] = rows
    assert pod(body, f"deployment-{engine}")["spec"]["containers"][0]["env"] == composed


def test_a_gang_takes_the_requests_of_its_phase_at_its_leader() -> None:
    body = given.pair("--port=8200")
    gang = given.gang(name="writer", template={"spec": {"containers": [given.container(args=["--port=8300"])]}})
    body["spec"]["engines"][1] = gang | {"phase": "Decode"}
    made = given.manifest_of(given.run(body), "leaderworkerset-writer")["spec"]["leaderWorkerTemplate"]
    leader, worker = made["leaderTemplate"], made["workerTemplate"]
    assert leader["metadata"]["labels"]["llm-d.ai/role"] == "decode"
    assert "--vllm-port=8300" in leader["spec"]["initContainers"][0]["args"]
    assert "llm-d.ai/role" not in worker["metadata"]["labels"]
    assert "initContainers" not in worker["spec"]
    assert [row["name"] for row in worker["spec"]["containers"][0]["env"]][:2] == [HOST["name"], PORT["name"]]
