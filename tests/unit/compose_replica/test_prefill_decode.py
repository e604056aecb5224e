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
        "--port 8000 is the port of the decode sidecar, which takes the requests",
    ),
    "no number": (["--port=http"], "--port 'http' is not a port number from 1 to 65535"),
    "a variable": (["--port", "$(PORT)"], "--port '$(PORT)' is not a port number from 1 to 65535"),
    "a flag without a value": (["--port"], "--port '' is not a port number from 1 to 65535"),
    "beyond the last port": (["--port=65536"], "--port '65536' is not a port number from 1 to 65535"),
    "in a command string": (
        ["vllm serve m --port 8000"],
        "--port 8000 is the port of the decode sidecar, which takes the requests",
    ),
}


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


def test_an_engine_that_does_not_say_where_it_listens_is_warned_about_and_expected_on_8001() -> None:
    body = given.pair("--model=m")
    result = given.run(body, given.serving(body))
    accepted = given.condition(result, "ModelAccepted")
    assert accepted.status is Status.TRUE
    assert (
        "containers[0]: no --port, the decode sidecar takes 8000 and expects the engine on 8001. Set"
        in accepted.message
    )
    template = pod(body, "deployment-writer")
    assert "--vllm-port=8001" in template["spec"]["initContainers"][0]["args"]
    assert template["spec"]["containers"][0]["args"] == ["--model=m"]
    reported = given.condition(
        given.run(given.pair("--port=8001"), given.serving(given.pair("--port=8001"))), accepted.type
    )
    assert reported.message == ""


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
    ("args", "warned"),
    [([], False), (["--port=8000"], False), (["--port=$(PORT)"], False), (["--port=9000"], True), (["--port"], False)],
)
def test_a_prefill_engine_that_listens_where_no_request_comes_is_composed_with_a_warning(
    args: list[str], warned: bool
) -> None:
    body = given.pair("--port=8200")
    (container,) = body["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"]
    container["args"] = args
    accepted = given.condition(given.run(body, given.serving(body)), "ModelAccepted")
    assert accepted.status is Status.TRUE
    assert ("--port is 9000, requests and probes are sent to port 8000" in accepted.message) is warned
    assert bool(accepted.message) is warned


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
