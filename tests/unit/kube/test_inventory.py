"""The pod of `modelplane inventory`: it runs what its image has, and says when it no longer reads."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from modelplane.kube.inventory import PYTHON, around, deployment
from modelplane_dev.packages import image


def pod() -> dict[str, Any]:
    found: dict[str, Any] = deployment("example.org/modelplane:v1", ["arm64"])["spec"]["template"]["spec"]
    return found


def test_its_probe_runs_the_python_of_the_image() -> None:
    assert f"#!{PYTHON} " in Path(image.__file__).read_text()


@pytest.mark.parametrize(("age", "healthy"), [(10, True), (179, True), (190, False), (None, False)])
def test_it_is_ready_while_its_last_reading_is_young(age: int | None, healthy: bool, tmp_path: Path) -> None:
    (container,) = pod()["containers"]
    _, option, program = container["readinessProbe"]["exec"]["command"]
    file = tmp_path / "inventory"
    if age is not None:
        file.touch()
        os.utime(file, (time.time() - age,) * 2)
    named = program.replace("/tmp/inventory", str(file))  # noqa: S108 - its own volume
    done = subprocess.run([sys.executable, option, named], check=False, capture_output=True)
    assert (done.returncode == 0) is healthy


def test_it_runs_on_nodes_whose_architecture_the_image_has() -> None:
    assert '"values": ["arm64"]' in str(pod()["affinity"]).replace("'", '"')


def test_nothing_reaches_it_and_it_reaches_the_api_server_alone() -> None:
    spec = around()["walls"]["spec"]
    assert (spec["podSelector"], spec["policyTypes"]) == ({}, ["Ingress", "Egress"])
    assert "ingress" not in spec
    assert [port["port"] for rule in spec["egress"] for port in rule["ports"]] == [443, 6443]
