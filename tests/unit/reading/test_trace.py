"""A platform engineer can follow what a replica became: every object, and the rule by which it is there."""

from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from given.manifests import cluster, deployment, hardware
from golden import read_documents
from modelplane.cli.preview import command
from modelplane.compose_replica.stages import POLICY
from modelplane.compose_replica.why import RULES, why
from modelplane.preview import ControlPlane
from modelplane.reading.trace import trace
from unit.compose_replica import replicas


@pytest.mark.parametrize("topology", replicas.TOPOLOGIES)
def test_everything_that_a_replica_composes_is_under_a_rule(topology: str) -> None:
    (body,) = read_documents(replicas.TOPOLOGIES[topology])
    composed = [*replicas.run(body).desired, "pods", POLICY]
    assert [resource for resource in composed if not why(resource)] == []


def test_a_rule_is_one_sentence() -> None:
    assert [rule for rule in RULES.values() if not (rule.endswith(".") and rule[0].isupper())] == []


def _run(folder: Path, *arguments: str) -> tuple[int, str]:
    file = folder / "fleet.yaml"
    file.write_text(yaml.safe_dump_all([hardware(), cluster("eu"), deployment()]))
    done = CliRunner().invoke(command, [str(file), *arguments])
    return done.exit_code, done.output


def test_a_trace_names_each_object_with_its_place_and_its_rule(tmp_path: Path) -> None:
    _, of_deployment = _run(tmp_path, "--trace", "team/chat")
    name = of_deployment.partition(" on eu\n")[0].removeprefix("team/")
    assert name.startswith("chat-eu-0-")
    code, printed = _run(tmp_path, "--trace", f"team/{name}")
    lines = [line.strip() for line in printed.splitlines()]
    assert code == 0
    assert lines[0] == f"team/{name} on eu"
    assert lines[1].startswith("placed there: pool pool, first in order with room; 0 other replicas of the deployment ")
    assert lines[2:4] == ["eu  Namespace mp-team", RULES["namespace"]]
    assert f"eu/mp-team  Service {name}" in lines
    assert lines.count(RULES["deployment-"]) == 1


def test_what_stays_on_the_control_cluster_is_said_to_be_here() -> None:
    (body,) = read_documents(replicas.TOPOLOGIES["cached"])
    source = {"source": "Existing", "existing": {"secretRef": {"name": "kubeconfig"}}}
    reached = {**replicas.cluster(), "spec": {"cluster": source}}
    cache = replicas.staged()
    cache["metadata"]["namespace"] = body["metadata"]["namespace"]
    cache["spec"] = {"source": "HuggingFace", "huggingFace": {"repo": "org/model", "sizeGiB": 1}}
    control = ControlPlane([reached, cache, body], pipelines=replicas.alone)
    assert control.settle()
    replica = control.get("ModelReplica", "ml-team", body["metadata"]["name"])
    assert replica is not None
    found = trace(control.view(), replica)
    (usage,) = [each for each in found if each.place.startswith("here")]
    assert (usage.name.partition(" ")[0], usage.place, usage.ready) == ("Usage", "here/ml-team", True)
    assert usage.rule == RULES["cache-in-use-"]


def test_a_trace_of_no_replica_says_which_there_are(tmp_path: Path) -> None:
    code, printed = _run(tmp_path, "--trace", "team/nothing")
    assert code == 2
    assert printed.startswith(
        "no ModelDeployment or ModelReplica team/nothing has anything to show; choose one of team/chat"
    )
