"""What a plan says of an edit: what is certain, what is contested, and what drifts without it."""

import json
from typing import Any

import pytest
from click.testing import CliRunner, Result

from given.manifests import cluster, deployment, hardware
from modelplane.cli import main
from modelplane.planning import Apply, Delete, Drain, Edit, Plan, Scale, UnknownObjectError, What, make_plan
from modelplane.planning.orders import groups, orders
from modelplane.preview import ControlPlane, InvalidObject
from modelplane.reading.deployments import DEPLOYMENT

Manifest = dict[str, Any]


def fleet(*deployments: Manifest, **nodes: int) -> ControlPlane:
    """Return what kubectl exports of a settled fleet: clusters of so many nodes of eight GPUs, and deployments."""
    control = ControlPlane([hardware(), *(cluster(name, nodes=count) for name, count in nodes.items()), *deployments])
    assert control.settle()
    return ControlPlane([obj for obj in control.everything() if obj["apiVersion"].startswith("modelplane.ai/")])


def plan(control: ControlPlane, *edits: Edit) -> Plan:
    found = make_plan(control, edits, "2026-01-01T00:00:00Z")
    assert found.settled
    return found


def certain(found: Plan) -> list[tuple[str, What, str, str]]:
    return [(event.name, event.what, event.source, event.target) for event in found.certain]


def test_a_drain_moves_what_has_room_elsewhere() -> None:
    found = plan(fleet(deployment("chat"), east=1, west=1), Drain("east"))
    assert certain(found) == [("chat", What.MOVES, "east", "west")]
    assert (found.contested, found.lost(), found.drift) == ((), [], ())
    assert found.certain[0].reason == "east is tainted maintenance NoExecute"


def test_what_finds_no_room_ends_waits_and_is_lost() -> None:
    found = plan(fleet(deployment("chat"), east=1), Drain("east"))
    assert certain(found) == [("chat", What.ENDS, "east", ""), ("chat", What.WAITS, "", "")]
    assert found.lost() == [("team", "chat")]


def test_two_that_are_displaced_compete_for_the_room_of_one() -> None:
    found = plan(fleet(deployment("a"), deployment("b"), east=2, west=1), Drain("east"))
    (contest,) = found.contested
    assert (contest.cluster, contest.pool) == ("west", "pool")
    assert contest.competitors == (("team", "a"), ("team", "b"))
    moved = {tuple(event.name for event in each if event.what is What.MOVES) for each in contest.outcomes}
    assert moved == {("a",), ("b",)}
    assert certain(found) == []
    assert found.complete


def test_of_more_than_four_competitors_not_every_order_is_tried() -> None:
    names = [("team", f"d{number}") for number in range(11)]
    assert len(orders([names[:4]])) == 24
    tried = orders([names])
    assert {order[0] for order in tried} == {*names}
    assert len(tried) < 24
    found = plan(fleet(*(deployment(name) for _, name in names), east=6, west=6), Drain("east"))
    assert not found.complete


def test_deployments_without_a_common_cluster_do_not_compete() -> None:
    a, b, c = ("team", "a"), ("team", "b"), ("team", "c")
    found = groups({a: frozenset({"east"}), b: frozenset({"west"}), c: frozenset({"east", "north"})})
    assert sorted(found) == [(a, c), (b,)]


def test_the_first_cluster_that_has_room_again_gets_what_waits() -> None:
    old = deployment("old", replicas=2)
    found = plan(fleet(old, deployment("waits"), east=1, west=1), Delete("ModelDeployment", "team", "old"))
    (contest,) = found.contested
    assert contest.competitors == (("team", "waits"),)
    assert {event.target for outcome in contest.outcomes for event in outcome} == {"east", "west"}


def blinking(control: ControlPlane, name: str, **spec: Any) -> ControlPlane:
    """Return the export of a fleet with a cluster that does not answer; `spec` are further fields of the cluster."""
    fleet = ControlPlane(control.everything())
    (west,) = (obj for obj in fleet.list("InferenceCluster") if obj["metadata"]["name"] == name)
    state = {
        "ClusterReady": ("False", "Unreachable"),
        "BackendReady": ("False", "WaitingForCluster"),
        "Ready": ("False", "Creating"),
    }
    for condition in west["status"]["conditions"]:
        status, reason = state.get(condition["type"], (condition["status"], condition["reason"]))
        condition |= {"status": status, "reason": reason}
    others = [obj for obj in fleet.everything() if obj["metadata"]["name"] != name]
    return ControlPlane([*others, {**west, "spec": {**west["spec"], **spec}}])


def test_what_depends_on_the_return_of_a_cluster_is_contested_and_names_it() -> None:
    found = plan(blinking(fleet(deployment("chat"), east=1, west=1), "west"), Drain("east"))
    (contest,) = found.contested
    assert (contest.cluster, contest.pool, contest.not_ready) == ("west", "pool", ("west",))
    assert {tuple((event.what, event.target) for event in each) for each in contest.outcomes} == {
        ((What.ENDS, ""), (What.WAITS, "")),
        ((What.MOVES, "west"),),
    }
    assert (certain(found), found.complete) == ([], False)


def test_what_the_return_of_a_cluster_does_not_change_stays_certain() -> None:
    found = plan(blinking(fleet(deployment("chat"), east=1, west=1), "west"), Scale("team", "chat", 0))
    assert [what for _, what, *_ in certain(found)] == [What.ENDS]
    assert (found.contested, found.complete) == ((), True)


def test_of_two_that_wait_for_a_cluster_neither_is_certain_to_wait() -> None:
    control = fleet(deployment("a"), deployment("b"), east=2, west=1)
    found = plan(blinking(control, "west"), Drain("east"))
    (contest,) = found.contested
    moved = {tuple(event.name for event in each if event.what is What.MOVES) for each in contest.outcomes}
    assert moved == {(), ("a",), ("b",)}
    assert (certain(found), contest.not_ready) == ([], ("west",))


@pytest.mark.parametrize("lacks", ["gpuPools", "gateway"])
def test_a_cluster_that_has_nothing_to_place_on_does_not_return(lacks: str) -> None:
    control = blinking(fleet(deployment("chat"), east=1, west=1), "west")
    west = control.get("InferenceCluster", None, "west")
    assert west
    others = [obj for obj in control.everything() if obj["metadata"]["name"] != "west"]
    west["status"] = {field: value for field, value in west["status"].items() if field != lacks}
    found = plan(ControlPlane([*others, west]), Drain("east"))
    assert certain(found) == [("chat", What.ENDS, "east", ""), ("chat", What.WAITS, "", "")]


@pytest.mark.parametrize(
    ("effect", "waits"),
    [("NoExecute", [What.ENDS, What.WAITS]), ("NoSchedule", [])],
    ids=["it is emptied", "who tolerates it may come"],
)
def test_a_cluster_that_is_emptied_does_not_return(effect: str, waits: list[What]) -> None:
    chat = deployment("chat")
    chat["spec"]["tolerations"] = [{"key": "own", "operator": "Exists", "effect": "NoSchedule"}]
    taints = [{"key": "own", "effect": effect}]
    found = plan(blinking(fleet(chat, east=1, west=1), "west", taints=taints), Drain("east"))
    assert [what for _, what, *_ in certain(found)] == waits


def test_the_table_names_the_cluster_on_whose_return_it_depends() -> None:
    done = run(blinking(fleet(deployment("chat"), east=1, west=1), "west"), "drain", "east")
    assert done.exit_code == 1
    assert "Contested: pool pool of west, by team/chat; at least 2 outcomes" in done.stdout
    assert "west is not Ready: what happens depends on whether and when that changes" in done.stdout


def test_a_waiting_deployment_starts_where_room_is_freed() -> None:
    found = plan(fleet(deployment("old"), deployment("waits"), east=1), Delete("ModelDeployment", "team", "old"))
    assert certain(found) == [("old", What.ENDS, "east", ""), ("waits", What.STARTS, "", "east")]
    assert [event.reason for event in found.certain] == [
        "its deployment is deleted",
        "it has room",
    ]


def test_scaling_up_starts_and_scaling_down_ends() -> None:
    control = fleet(deployment("chat", replicas=2, gpus=4), east=2)
    assert certain(plan(control, Scale("team", "chat", 3))) == [("chat", What.STARTS, "", "east")]
    down = plan(control, Scale("team", "chat", 1))
    assert [(event.what, event.reason) for event in down.certain] == [(What.ENDS, "its deployment asks for 1")]


def edited(replicas: int = 1, **rollout: int) -> Manifest:
    chat = deployment("chat", replicas)
    chat["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["image"] = "example.org/engine:v2"
    return {**chat, "spec": {**chat["spec"], "rollout": rollout}}


def test_a_new_image_where_nothing_is_free_changes_in_place() -> None:
    found = plan(fleet(deployment("chat"), east=1), Apply(edited(maxUnavailable=1)))
    assert certain(found) == [("chat", What.CHANGES, "east", "east")]
    assert found.lost() == [("team", "chat")]


def test_an_edit_that_cannot_begin_waits_with_the_words_of_the_rollout() -> None:
    found = plan(fleet(deployment("chat"), east=1), Apply(edited()))
    (event,) = found.certain
    assert (event.what, event.source, found.lost()) == (What.WAITS, "east", [])
    assert event.replica.startswith("chat-east-0-")
    assert "set spec.rollout.maxUnavailable to 1 to change it in place" in event.reason


def test_an_edit_of_something_else_changes_nothing() -> None:
    control = fleet(deployment("chat"), east=1, west=1)
    assert certain(plan(control, Drain("west"))) == []


def test_what_happens_without_the_edit_stands_apart() -> None:
    control = fleet(deployment("chat"), east=2)
    control.apply(deployment("late"))
    found = plan(control, Scale("team", "chat", 0))
    assert [(event.name, event.what, event.target) for event in found.drift] == [("late", What.STARTS, "east")]
    assert certain(found) == [("chat", What.ENDS, "east", "")]


@pytest.mark.parametrize(
    ("edit", "error", "words"),
    [
        (Drain("north"), UnknownObjectError, "there is no InferenceCluster north"),
        (Scale("team", "none", 1), UnknownObjectError, "there is no ModelDeployment team/none"),
        (Delete("ModelDeployment", "team", "none"), UnknownObjectError, "there is no ModelDeployment team/none"),
        (Scale("team", "chat", -1), InvalidObject, "spec.replicas"),
        (Apply({"kind": "ModelDeployment"}), InvalidObject, "apiVersion"),
    ],
)
def test_an_edit_that_cannot_be_made_is_refused_by_name(edit: Edit, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make_plan(fleet(deployment("chat"), east=1), [edit], "now")


def test_what_a_usage_protects_cannot_be_deleted() -> None:
    control = ControlPlane([hardware(), cluster("east"), deployment("chat")])
    assert control.settle()
    with pytest.raises(UnknownObjectError, match="InferenceClass gpu-class cannot be deleted: a Usage protects it"):
        make_plan(control, [Delete("InferenceClass", "", "gpu-class")], "now")


def run(control: ControlPlane, *arguments: str) -> Result:
    listed = {"apiVersion": "v1", "kind": "List", "items": control.everything()}
    return CliRunner().invoke(main, [*arguments, "--from", "-"], input=json.dumps(listed))


def test_drain_prints_what_moves_and_the_command_that_does_it() -> None:
    done = run(fleet(deployment("chat"), east=1, west=1), "drain", "east")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "Certain"
    assert "moves from east to west" in done.stdout
    assert lines[-1] == (
        """kubectl patch inferencecluster east --type=merge -p """
        """'{"spec": {"taints": [{"key": "maintenance", "effect": "NoExecute"}]}}'"""
    )


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["drain", "east"], 1, "loses all 1 replica that serve"),
        (["drain", "north"], 2, "there is no InferenceCluster north"),
        (["plan", "--set", "team/chat.replicas=0"], 0, "its deployment asks for 0"),
        (["plan", "--set", "team/chat.image=v2"], 2, "is no NAMESPACE/NAME.replicas=NUMBER"),
        (["plan", "--set", "team/chat.replicas=one"], 2, "is no NAMESPACE/NAME.replicas=NUMBER"),
        (["plan", "--delete", "chat"], 2, "is no KIND/NAMESPACE/NAME"),
        (["plan"], 0, "Nothing changes."),
    ],
)
def test_exit_codes_say_what_an_edit_costs(arguments: list[str], code: int, words: str) -> None:
    done = run(fleet(deployment("chat"), east=1), *arguments)
    assert (done.exit_code, words in done.output) == (code, True), done.output


def test_versions_that_differ_are_said_first_and_that_nothing_new_is_placed() -> None:
    control = fleet(deployment("chat"), east=2)
    chat = control.get("ModelDeployment", "team", "chat")
    assert chat
    skew = {"type": "VersionsMatch", "status": "False", "reason": "Skew", "message": "of version 1, and of version 2"}
    chat["status"]["conditions"].append({**chat["status"]["conditions"][0], **skew})
    others = [obj for obj in control.everything() if obj["kind"] != "ModelDeployment"]
    done = run(ControlPlane([*others, chat]), "plan", "--set", "team/chat.replicas=2")
    first, second, third, *_ = done.stdout.splitlines()
    assert first == "Versions differ: of version 1, and of version 2"
    assert second.startswith("Nothing new is placed until they match")
    assert (third, done.exit_code) == ("Certain", 1)


def test_a_plan_that_does_not_settle_has_an_exit_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modelplane.planning.futures.MOST", 1)
    done = run(fleet(deployment("chat"), east=1, west=1), "drain", "east")
    assert (done.exit_code, "Not settled: placements still change" in done.stdout) == (3, True), done.output


def test_json_has_a_version_and_null_for_what_does_not_exist() -> None:
    done = run(
        fleet(deployment("old"), deployment("waits"), east=1),
        "plan",
        "--delete",
        f"{DEPLOYMENT}/team/old",
        "-o",
        "json",
    )
    found = json.loads(done.stdout)
    assert found["apiVersion"] == "plan.modelplane.ai/v1alpha1"
    assert [(each["event"], each["replica"], each["from"], each["to"]) for each in found["certain"]] == [
        ("Ends", "old-east-0-" + found["certain"][0]["replica"].rpartition("-")[2], "east", None),
        ("Starts", None, None, "east"),
    ]
    assert [step["pass"] for step in found["timeline"]] == [*range(len(found["timeline"]))]
