"""Probes and the Service follow the port that an engine is told to listen on."""

from typing import Any

import pytest

from unit.compose_replica import replicas as given

PICKED = {"modelplane.ai/endpoint-picker": "true"}


def listening(*ports: int) -> dict[str, Any]:
    """Return a replica of an engine for each port, all of one model."""
    engines = []
    for at, port in enumerate(ports):
        container = given.container(args=["--model=m", f"--port={port}"])
        engines.append(given.engine(f"e{at}", members=[given.member(template={"spec": {"containers": [container]}})]))
    return given.replica(*engines)


def engine_of(body: dict[str, Any], name: str = "e0") -> dict[str, Any]:
    pod = given.manifest_of(given.run(body), f"deployment-{name}")["spec"]["template"]["spec"]
    (found,) = pod["containers"]
    assert isinstance(found, dict)
    return found


def target_of(body: dict[str, Any]) -> object:
    (port,) = given.manifest_of(given.run(body), "service")["spec"]["ports"]
    assert port["port"] == 80
    return port["targetPort"]


@pytest.mark.proves("P34")
def test_probes_and_the_service_follow_the_port_of_the_engine() -> None:
    body = listening(9000)
    engine = engine_of(body)
    assert engine["ports"] == [{"name": "http", "containerPort": 9000, "protocol": "TCP"}]
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert engine[probe]["httpGet"] == {"path": "/health", "port": 9000}
    assert target_of(body) == 9000


def test_engines_on_different_ports_are_reached_by_the_ports_name() -> None:
    body = listening(8000, 9000)
    assert target_of(body) == "http"
    assert [engine_of(body, name)["ports"][0]["containerPort"] for name in ("e0", "e1")] == [8000, 9000]


def test_an_endpoint_picker_chooses_among_pods_on_the_port_of_the_engine() -> None:
    body = listening(9000)
    body["metadata"]["annotations"] = PICKED
    pool = given.manifest_of(given.run(body), "inferencepool")
    assert pool["spec"]["targetPorts"] == [{"number": 9000}]
