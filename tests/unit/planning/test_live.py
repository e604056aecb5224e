"""plan and drain on a control cluster: its API server admits the edits, and a drain is applied after a second look."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from given.manifests import cluster, deployment, hardware
from modelplane.cli import main
from modelplane.preview import ControlPlane
from modelplane.reading.kinds import OWN
from unit.live.played import Played, played_kubectl

ROOT = "/apis/modelplane.ai/v1alpha1"
Manifest = dict[str, Any]


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Played:
    played = played_kubectl(tmp_path)
    monkeypatch.setenv("PATH", played.environment()["PATH"])
    return played


def answers(*deployments: Manifest, **nodes: int) -> dict[str, list[tuple[int, Any]]]:
    """Return the lists of a control cluster with a settled fleet."""
    control = ControlPlane([hardware(), *(cluster(name, nodes=count) for name, count in nodes.items()), *deployments])
    assert control.settle()
    return {
        f"{ROOT}/{own.plural}": [(200, {"metadata": {"resourceVersion": "7"}, "items": control.list(kind)})]
        for kind, own in OWN.items()
    }


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments])


def edits(kubectl: Played) -> list[list[str]]:
    return [command for command in kubectl.commands() if command[0] in ("apply", "patch")]


def test_a_drain_reads_clusters_first_and_replicas_last_and_changes_nothing(kubectl: Played) -> None:
    kubectl.answer(answers(deployment("chat"), east=1, west=1))
    done = run("drain", "east")
    assert (done.exit_code, "moves from east to west" in done.stdout) == (0, True), done.output
    asked = [path.removeprefix(f"{ROOT}/").partition("?")[0] for path in kubectl.asked()]
    assert asked[0] in ("inferenceclasses", "inferenceclusters")
    assert asked[-1] == "modelreplicas"
    assert edits(kubectl) == []


def test_apply_sets_the_taint_after_a_second_look(kubectl: Played) -> None:
    kubectl.answer(answers(deployment("chat"), east=1, west=1))
    kubectl.give(printed="inferencecluster.modelplane.ai/east patched\n")
    done = run("drain", "east", "--apply")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[-1] == "inferencecluster.modelplane.ai/east patched"
    ((command, kind, name, *_, patch),) = edits(kubectl)
    assert (command, kind, name) == ("patch", "inferencecluster", "east")
    assert json.loads(patch) == {"spec": {"taints": [{"key": "maintenance", "effect": "NoExecute"}]}}
    assert sum("/inferenceclusters?" in path for path in kubectl.asked()) == 2


def test_apply_is_refused_while_the_last_replica_that_serves_would_be_lost(kubectl: Played) -> None:
    kubectl.answer(answers(deployment("chat"), east=1))
    done = run("drain", "east", "--apply")
    assert done.exit_code == 1
    assert "team/chat would lose the last replica that serves; --accept-loss team/chat accepts it" in done.stderr
    assert edits(kubectl) == []
    assert run("drain", "east", "--apply", "--accept-loss", "team/chat").exit_code == 1
    assert [command[0] for command in edits(kubectl)] == ["patch"]


def test_apply_is_refused_when_the_answer_has_changed(kubectl: Played) -> None:
    first, then = answers(deployment("chat"), east=1, west=1), answers(deployment("chat"), east=1, west=1, north=1)
    kubectl.answer({path: [*first[path], *then[path]] for path in first})
    done = run("drain", "east", "--apply")
    assert (done.exit_code, "the fleet has changed meanwhile" in done.stderr) == (1, True), done.output
    assert edits(kubectl) == []


def test_an_edit_is_planned_as_the_api_server_would_store_it(kubectl: Played) -> None:
    new = deployment("new", replicas=1)
    kubectl.answer(answers(east=2))
    stored = {**new, "spec": {**new["spec"], "replicas": 2}}
    kubectl.give(printed=json.dumps(stored))
    (kubectl.folder / "new.json").write_text(json.dumps(new))
    done = run("plan", "-f", str(kubectl.folder / "new.json"), "-o", "json")
    assert [each["event"] for each in json.loads(done.stdout)["certain"]] == ["Starts", "Starts"], done.output
    ((command, *options),) = edits(kubectl)
    assert (command, "--dry-run=server" in options, "--server-side" in options) == ("apply", True, True)


def test_a_refusal_of_the_api_server_is_printed_whole(kubectl: Played) -> None:
    words = 'The ModelDeployment "new" is invalid: spec.replicas: Invalid value: -1'
    kubectl.answer(answers(east=1))
    kubectl.give(words=words, code=1)
    (kubectl.folder / "new.json").write_text(json.dumps(deployment("new")))
    done = run("plan", "-f", str(kubectl.folder / "new.json"))
    assert (done.exit_code, words in done.stderr) == (2, True), done.output


def test_without_a_context_kubectl_says_why_and_nothing_is_planned(kubectl: Played) -> None:
    words = "error: current-context is not set"
    kubectl.give(words=words, code=1)
    done = run("plan")
    assert (done.exit_code, words in done.stderr, done.stdout) == (2, True, ""), done.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--accept-loss", "team/chat"], "--accept-loss says what --apply may do"),
        (["--apply", "--from", "fleet.json"], "--apply sets a taint on a control cluster"),
    ],
)
def test_options_that_contradict_each_other_are_refused(arguments: list[str], words: str) -> None:
    done = run("drain", "east", *arguments)
    assert (done.exit_code, words in done.stderr) == (2, True), done.output
