"""What a ModelReplica of each topology becomes on the real engine, beside what a reviewer has read.

Each pair is NAME.replica.yaml of the unit tests and golden/replicas/NAME.yaml. `make golden` rewrites them.
"""

from typing import Any

import pytest

from golden import Golden, read_documents
from modelplane.preview import ControlPlane
from modelplane_dev.processes.functions import Functions
from render.reading import GOLDEN, compare_composed, first_pass
from unit.compose_replica.replicas import TOPOLOGIES, alone

Manifest = dict[str, Any]


def _others(replica: Manifest) -> list[Manifest]:
    """Return what a replica needs: its cluster, which can be reached, and the Secrets and the cache of its team."""
    cluster = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "InferenceCluster",
        "metadata": {"name": replica["spec"]["clusterName"]},
        "spec": {"cluster": {"source": "Existing", "existing": {"secretRef": {"name": "kubeconfig"}}}},
        "status": {"providerConfigRef": {"name": replica["spec"]["clusterName"]}},
    }
    secrets = {"hugging-face": "Opaque", "registry": "kubernetes.io/dockerconfigjson"}
    namespace = replica["metadata"]["namespace"]
    staged = {
        "name": replica["spec"]["clusterName"],
        "phase": "Ready",
        "volume": {"name": "weights-1a2b3c4d", "uid": "u"},
    }
    cache = {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelCache",
        "metadata": {"name": "weights", "namespace": namespace},
        "spec": {"source": "HuggingFace", "huggingFace": {"repo": "Qwen/Qwen3-Coder-30B-A3B-Instruct", "sizeGiB": 80}},
        "status": {"clusters": [staged]},
    }
    return [cluster, cache] + [
        {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace}, "type": kind}
        for name, kind in secrets.items()
    ]


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_replica_renders_as_it_was_read_and_as_the_preview_composes_it(
    topology: str, functions: Functions, golden: Golden
) -> None:
    (replica,) = read_documents(TOPOLOGIES[topology])
    rendered = first_pass(replica, _others(replica), functions)
    golden.compare_text(GOLDEN / "replicas" / f"{topology}.yaml", rendered)
    compare_composed(ControlPlane([*_others(replica), replica], world=None, pipelines=alone), replica, rendered)


def test_there_is_no_golden_without_a_topology() -> None:
    assert [file.stem for file in sorted((GOLDEN / "replicas").glob("*.yaml"))] == sorted(TOPOLOGIES)
