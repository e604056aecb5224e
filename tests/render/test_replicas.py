"""What a ModelReplica of each topology becomes on the real engine, beside what a reviewer has read.

Each pair is NAME.replica.yaml of the unit tests and golden/replicas/NAME.yaml. `make golden` rewrites them.
"""

import pytest

from golden import Golden, read_documents
from modelplane.preview import ControlPlane
from modelplane_dev.processes.functions import Functions
from render.reading import GOLDEN, compare_composed, first_pass
from unit.compose_replica.replicas import TOPOLOGIES, alone, others


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_replica_renders_as_it_was_read_and_as_the_preview_composes_it(
    topology: str, functions: Functions, golden: Golden
) -> None:
    (replica,) = read_documents(TOPOLOGIES[topology])
    rendered = first_pass(replica, others(replica), functions)
    golden.compare_text(GOLDEN / "replicas" / f"{topology}.yaml", rendered)
    compare_composed(ControlPlane([*others(replica), replica], world=None, pipelines=alone), replica, rendered)


def test_there_is_no_golden_without_a_topology() -> None:
    assert [file.stem for file in sorted((GOLDEN / "replicas").glob("*.yaml"))] == sorted(TOPOLOGIES)
