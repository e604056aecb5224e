"""What a ModelReplica of each topology becomes on the real engine, beside what a reviewer has read.

Each pair is NAME.replica.yaml of the unit tests and golden/replicas/NAME.yaml. `make golden` rewrites them.
"""

from typing import Any

import pytest
import yaml

import engines
from composing import Engine, render
from modelplane.preview import ControlPlane
from modelplane.preview.composed import RESOURCE_NAME
from modelplane.preview.pipelines import Pipeline, pipeline_of
from processes import Functions
from render.test_golden import GOLDEN, compare

REPLICAS = engines.ROOT / "tests" / "unit" / "compose_replica" / "golden"
TOPOLOGIES = sorted(file.name.removesuffix(".replica.yaml") for file in REPLICAS.glob("*.replica.yaml"))

Manifest = dict[str, Any]


def _replica(topology: str) -> Manifest:
    body: Manifest = yaml.safe_load((REPLICAS / f"{topology}.replica.yaml").read_text())
    return body


def _others(replica: Manifest) -> list[Manifest]:
    """Return what a replica needs: its cluster, which can be reached, and the Secrets of its team."""
    cluster = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceCluster",
        "metadata": {"name": replica["spec"]["clusterName"]},
        "spec": {"cluster": {"source": "Existing", "existing": {"secretRef": {"name": "kubeconfig"}}}},
        "status": {"providerConfigRef": {"name": replica["spec"]["clusterName"]}},
    }
    secrets = {"hugging-face": "Opaque", "registry": "kubernetes.io/dockerconfigjson"}
    namespace = replica["metadata"]["namespace"]
    return [cluster] + [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}, "type": kind}
        for name, kind in secrets.items()
    ]


def _replicas_only(kind: str) -> Pipeline | None:
    return pipeline_of(kind) if kind == "ModelReplica.modelplane.ai" else None


def _specs(objects: list[Manifest]) -> dict[str, Any]:
    return {obj["metadata"]["annotations"][RESOURCE_NAME]: obj["spec"] for obj in objects}


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_replica_renders_as_it_was_read_and_as_the_preview_composes_it(topology: str, functions: Functions) -> None:
    replica = _replica(topology)
    engine = Engine(cli=engines.path("crossplane"), core=engines.path("crossplane-core"))
    done = render(replica, functions, engine, others=_others(replica))
    assert done.returncode == 0, done.stderr
    compare(f"replicas/{topology}", done.stdout)

    control = ControlPlane([*_others(replica), replica], world=None, pipelines=_replicas_only)
    control.reconcile("ModelReplica", replica["metadata"]["namespace"], replica["metadata"]["name"])
    rendered = [obj for obj in yaml.safe_load_all(done.stdout) if obj["kind"] != "ModelReplica"]
    composed = [obj for obj in control.everything() if obj["metadata"].get("annotations", {}).get(RESOURCE_NAME)]
    assert _specs(rendered) == _specs(composed)


def test_there_is_no_golden_without_a_topology() -> None:
    assert [file.stem for file in sorted((GOLDEN / "replicas").glob("*.yaml"))] == TOPOLOGIES
