"""An engine that crashes: the kubelet reports the end of its log, and the conditions say it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane.model.conditions import DeploymentCondition, ReplicaCondition
from modelplane.model.names import tenant_namespace
from modelplane_dev.plane import kubelet
from modelplane_dev.plane.api import condition
from modelplane_dev.plane.gateways.documented_engine import CRASHES
from modelplane_dev.plane.pods import PLAYS
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

WORDS = "RuntimeError: NIXL is not available"


@contextmanager
def _kubelet(fleet: Fleet, cluster: str) -> Iterator[Process]:
    """Run the engines of a scenario's pods on a cluster, in real time."""
    site = fleet.clusters[cluster].cluster
    folder = site.run.folder / f"kubelet-{fleet.tag}"
    folder.mkdir(exist_ok=True)
    command: list[str | Path] = [
        sys.executable,
        "-m",
        kubelet.__name__,
        site.kubeconfig(),
        tenant_namespace(fleet.tag),
        "1",
        folder,
    ]
    with Process(f"kubelet-{fleet.tag}", site.run.folder, command) as running:
        yield running


@pytest.mark.proves("P146")
def test_the_last_line_of_the_log_of_an_engine_that_crashes_stands_in_the_conditions(fleet: Fleet) -> None:
    cluster = fleet.add_cluster("east")
    made = engine(1)
    template = made["members"][0]["template"]
    template["metadata"] = {"annotations": {PLAYS: "vllm"}}
    template["spec"]["containers"][0]["env"] = [{"name": CRASHES, "value": WORDS}]
    with _kubelet(fleet, cluster):
        fleet.deploy("broken", engines=[made])

        def said() -> None:
            found = {
                "replica": condition(fleet.replica("broken"), ReplicaCondition.MODEL_READY).get("message", ""),
                "deployment": condition(fleet.deployment("broken"), DeploymentCondition.REPLICAS_READY).get(
                    "message", ""
                ),
            }
            assert {name for name, text in found.items() if WORDS in text} == found.keys(), found

        eventually(said, within=SOON)
        assert fleet.replica("broken")["status"]["crashed"] is True
