"""The examples on the real engine: every pass of every composite comes to what the preview says."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.preview import ControlPlane
from modelplane_dev import components
from modelplane_dev.folders import ROOT
from modelplane_dev.processes.functions import Functions
from render.examples import DEPLOYMENTS, FLEET, SERVING, fleet, settle_both
from render.validation import validate


def assert_valid(plane: ControlPlane, scratch: Path) -> None:
    """Assert that every object is as its XRD or CRD defines it, status included."""
    file = scratch / "objects.yaml"
    file.write_text(yaml.safe_dump_all(plane.everything()))
    schemas = [ROOT / "apis", components.provider_crds(), components.core_crds()]
    assert validate(file, schemas, scratch / "cache") == ""


def test_the_fleet_publishes_on_the_real_engine_what_the_preview_says(functions: Functions, tmp_path: Path) -> None:
    plane = fleet()
    assert settle_both(plane, FLEET, functions) > 0
    assert_valid(plane, tmp_path)


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_deployment_comes_to_the_same_on_the_real_engine_pass_by_pass(
    name: str, functions: Functions, tmp_path: Path
) -> None:
    plane = fleet()
    assert plane.settle()
    plane.apply(DEPLOYMENTS[name])
    assert settle_both(plane, SERVING, functions) > 0
    assert_valid(plane, tmp_path)


class TestChanges:
    """What is changed later: again every pass comes to the same, garbage collection included."""

    @staticmethod
    def changed(
        kind: str, namespace: str | None, name: str, spec: dict[str, Any], functions: Functions
    ) -> ControlPlane:
        """Return a plane on which the spec of an object was changed while qwen3-8b served, at rest."""
        plane = fleet()
        plane.apply(DEPLOYMENTS["qwen3-8b"])
        assert plane.settle()
        found = plane.get(kind, namespace, name)
        assert found is not None
        plane.apply({**found, "spec": {**found["spec"], **spec}})
        settle_both(plane, (kind, *SERVING), functions)
        return plane

    @staticmethod
    def clusters(plane: ControlPlane) -> list[str]:
        return sorted(replica["spec"]["clusterName"] for replica in plane.list("ModelReplica"))

    def test_scaled_down_it_keeps_one(self, functions: Functions) -> None:
        plane = self.changed("ModelDeployment", "ml", "qwen3-8b", {"replicas": 1}, functions)
        assert self.clusters(plane) == ["eu-west-1"]

    def test_scaled_to_zero_nothing_is_left(self, functions: Functions) -> None:
        plane = self.changed("ModelDeployment", "ml", "qwen3-8b", {"replicas": 0}, functions)
        assert plane.list("ModelReplica") == plane.list("ModelEndpoint") == []

    def test_scaled_up_what_serves_stays(self, functions: Functions) -> None:
        plane = self.changed("ModelDeployment", "ml", "qwen3-8b", {"replicas": 4}, functions)
        assert set(self.clusters(plane)) == {"eu-west-1", "us-east-1", "us-west-1"}
        assert len(self.clusters(plane)) == 4

    def test_an_edited_argument_reaches_every_replica_in_place(self, functions: Functions) -> None:
        edited = deepcopy(DEPLOYMENTS["qwen3-8b"]["spec"]["engines"])
        edited[0]["members"][0]["template"]["spec"]["containers"][0]["args"] = ["--edited"]
        plane = self.changed("ModelDeployment", "ml", "qwen3-8b", {"engines": edited}, functions)
        arguments = [
            replica["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["args"]
            for replica in plane.list("ModelReplica")
        ]
        assert arguments == [["--edited"]] * 3

    def test_evicted_by_a_taint_it_moves(self, functions: Functions) -> None:
        taints = [{"key": "drain", "effect": "NoExecute"}]
        plane = self.changed("InferenceCluster", None, "us-west-1", {"taints": taints}, functions)
        assert "us-west-1" not in self.clusters(plane)
        assert len(self.clusters(plane)) == 3
