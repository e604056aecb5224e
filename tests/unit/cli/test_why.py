"""`modelplane why` and `modelplane tree`: the deepest cause first, every pool that refuses, and what is composed."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from given.manifests import cluster, deployment, hardware
from golden import Golden
from modelplane.cli import main
from modelplane.cli.refs import parse_ref
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import failing, unreachable
from modelplane.reading.kinds import Key

Manifest = dict[str, Any]
HERE = Path(__file__).parent
FLEET = (hardware(), cluster("east"), cluster("west", nodes=2))


def settled(*objects: Manifest, **options: Any) -> ControlPlane:
    control = ControlPlane(objects, **options)
    assert control.settle()
    return control


def ask(command: str, control: ControlPlane, *arguments: str, ours: bool = False) -> Result:
    """Return what a command says of a fleet; `ours`: without the objects of other kinds."""
    objects = [obj for obj in control.everything() if not ours or obj["apiVersion"].startswith("modelplane.ai/")]
    listed = {"apiVersion": "v1", "kind": "List", "items": objects}
    return CliRunner().invoke(main, [command, "-f", "-", *arguments], input=json.dumps(listed))


def why(control: ControlPlane, ref: str) -> Manifest:
    done = ask("why", control, ref, "-o", "json")
    assert done.exit_code == 0, done.output
    found: Manifest = json.loads(done.stdout)
    return found


def said(causes: Iterable[Manifest]) -> list[str]:
    return [f"{each['kind']} {each['message'].partition(',')[0].partition(':')[0]}" for each in causes]


def test_what_is_ready_has_no_causes() -> None:
    found = why(settled(*FLEET, deployment()), "team/chat")
    assert (found["ready"], found["summary"]) == (True, "1 of 1 placed, 1 serving")
    assert (found["causes"], found["refusals"]) == ([], [])
    assert found["apiVersion"] == "why.modelplane.ai/v1alpha1"


def test_the_pods_come_before_the_replica_and_the_replica_before_the_deployment() -> None:
    control = settled(*FLEET, deployment(), world=failing(lambda _: "no such image"))
    found = why(control, "team/chat")
    assert (found["ready"], found["summary"]) == (False, "1 of 1 placed, 0 serving")
    kinds = [each["kind"] for each in found["causes"]]
    assert (kinds[0], sorted(set(kinds), key=kinds.index)) == (
        "Deployment",
        ["Deployment", "ModelReplica", "ModelDeployment"],
    )
    assert "no such image" in found["causes"][0]["message"]


def test_every_pool_that_takes_no_replica_is_named_with_its_numbers_and_what_helps() -> None:
    two = cluster("east")
    pools = two["spec"]["nodePools"]
    two["spec"]["nodePools"] = [*pools, {**pools[0], "name": "second", "nodeCount": 2}]
    tainted = cluster("south", taints=[{"key": "maintenance", "effect": "NoSchedule"}])
    control = settled(hardware(), two, tainted, deployment(replicas=4))
    rows = {(each["cluster"], each["pool"]): each for each in why(control, "team/chat")["refusals"]}
    assert {key: each["reason"] for key, each in rows.items()} == {
        ("east", "pool"): "NoRoom",
        ("east", "second"): "NoRoom",
        ("south", ""): "Tainted",
    }
    assert "needs 1 node, 0 free" in rows["east", "second"]["message"]
    assert rows["east", "pool"]["help"] == "Free nodes by scaling something down, or add nodes."


def test_of_a_selector_that_fails_on_a_device_only_its_correction_helps() -> None:
    broken = deployment()
    (request,) = broken["spec"]["engines"][0]["members"][0]["nodeSelector"]["devices"]
    request["selectors"] = [{"cel": 'device.attributes["gpu.example.org"].absent == "x"'}]
    control = settled(hardware(), cluster("east"), broken)
    (row,) = why(control, "team/chat")["refusals"]
    assert (row["reason"], row["message"].rpartition("; ")[2], row["help"]) == ("NoDevice", "correct the selector", "")
    assert "What helps:" not in ask("why", control, "team/chat").stdout


def test_a_cluster_that_a_selector_leaves_out_is_named_too() -> None:
    selective = deployment(replicas=1)
    selective["spec"]["clusterSelector"] = {"matchLabels": {"region": "mars"}}
    found = why(settled(*FLEET, selective), "team/chat")
    assert {(each["cluster"], each["reason"]) for each in found["refusals"]} == {
        ("east", "SelectorMismatch"),
        ("west", "SelectorMismatch"),
    }


def test_room_that_has_come_is_said() -> None:
    control = settled(*FLEET, deployment(replicas=4))
    objects = [obj for obj in control.everything() if obj["kind"] in {"InferenceCluster", "ModelDeployment"}]
    for obj in objects:
        if obj["kind"] == "InferenceCluster":
            obj["status"]["replicas"] = 0
    listed = json.dumps({"kind": "List", "items": objects})
    done = CliRunner().invoke(main, ["why", "-f", "-", "team/chat", "-o", "json"], input=listed)
    assert json.loads(done.stdout)["room"] in {"east", "west"}


def test_a_cluster_that_does_not_answer_is_a_cause() -> None:
    control = settled(*FLEET, deployment(replicas=3))
    control.world = unreachable({"east"})
    for obj in control.list("InferenceCluster"):
        if obj["metadata"]["name"] == "east":
            conditions = [{"type": "Ready", "status": "False", "reason": "Unreachable", "message": "dial tcp: timeout"}]
            control.patch_status("InferenceCluster", None, "east", {"conditions": conditions})
    objects = why(control, "cluster/east")
    assert [each["message"] for each in objects["causes"]] == ["Ready False, Unreachable: dial tcp: timeout"]


@pytest.mark.parametrize("width", [80, 120])
def test_the_text_is_whole_and_breaks_no_name(width: int, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    far = cluster("a-cluster-with-a-very-long-name-in-a-region-far-away", taints=[{"key": "x", "effect": "NoSchedule"}])
    control = settled(*FLEET, far, deployment(replicas=4), world=failing(lambda _: "bad\x1b[2Jimage"))
    text = ask("why", control, "team/chat").stdout
    golden.compare_text(HERE / f"why.{width}.txt", text)
    assert "\x1b" not in text
    tree = ask("tree", control, "team/chat").stdout
    golden.compare_text(HERE / f"tree.{width}.txt", tree)
    assert "\x1b" not in tree


def test_a_tree_has_what_replicas_compose_and_where() -> None:
    found = json.loads(ask("tree", settled(*FLEET, deployment()), "team/chat", "-o", "json").stdout)
    assert (found["kind"], found["ref"]) == ("ModelDeployment", "team/chat")
    (replica,) = [each for each in found["parts"] if each["kind"] == "ModelReplica"]
    places = {each["kind"]: (each["place"], each["state"]) for each in replica["parts"]}
    assert places["Deployment"] == (f"{replica['place']}/mp-team", "Ready")
    assert all(each["rule"] for each in replica["parts"])


def test_without_the_providers_objects_a_tree_ends_at_the_workloads_and_says_what_was_not_read() -> None:
    done = ask("tree", settled(*FLEET, deployment()), "team/chat", ours=True)
    assert "1 of 1 ready" in done.stdout
    assert " Objects, not read" in done.stdout


def test_names_are_those_that_tree_takes() -> None:
    lines = ask("tree", settled(*FLEET, deployment()), "team/chat", "-o", "name").stdout.splitlines()
    assert lines[0] == "ModelDeployment/team/chat"


#: References, and their keys.
REFS = {
    "chat": ("ModelDeployment", "", "chat"),
    "ml/chat": ("ModelDeployment", "ml", "chat"),
    "md/chat": ("ModelDeployment", "", "chat"),
    "ModelService/ml/chat": ("ModelService", "ml", "chat"),
    "services/ml/chat": ("ModelService", "ml", "chat"),
    "cluster/eu-1": ("InferenceCluster", "", "eu-1"),
    "ic/eu-1": ("InferenceCluster", "", "eu-1"),
}


@pytest.mark.parametrize(("ref", "key"), REFS.items(), ids=REFS)
def test_a_reference_is_kind_namespace_and_name(ref: str, key: tuple[str, str, str]) -> None:
    assert parse_ref(ref) == Key(f"{key[0]}.modelplane.ai", *key[1:])


@pytest.mark.parametrize("ref", ["a/b/c", "cluster/ml/eu-1", "ml/", "/chat", "md/ml/chat/x", ""])
def test_a_reference_that_is_none_is_refused_with_examples(ref: str) -> None:
    done = CliRunner().invoke(main, ["why", ref])
    assert (done.exit_code, "for example ml/chat, service/ml/chat or cluster/eu-1" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", ["why", "tree"])
def test_a_name_that_is_not_there_is_answered_with_the_nearest(command: str) -> None:
    control = settled(*FLEET, deployment("chat"), deployment("chatter"), deployment("batch"))
    done = ask(command, control, "team/chats")
    assert done.exit_code == 2
    assert done.stderr == (
        "There is no ModelDeployment team/chats; the nearest: team/chat, team/chatter. "
        "List them: kubectl get modeldeployments -A\n"
    )
