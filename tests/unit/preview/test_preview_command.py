"""`modelplane preview`: exit codes, JSON, YAML, tables, and what it never prints."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from given.manifests import cluster, deployment, hardware
from modelplane.cli import main
from modelplane.preview import ControlPlane

FLEET = (hardware(), cluster("east"), cluster("west"))


def preview(objects: Iterable[Any], *options: str) -> Result:
    """Return the outcome of a preview of objects given on standard input."""
    return CliRunner().invoke(main, ["preview", "-", *options], input=yaml.safe_dump_all(objects))


def as_json(*objects: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(preview(objects, "-o", "json").stdout)
    return found


def test_what_is_all_placed_exits_0() -> None:
    done = preview([*FLEET, deployment(replicas=2)])
    assert (done.exit_code, done.stderr) == (0, "")


def test_nothing_to_place_exits_0() -> None:
    assert preview([{"kind": "List", "items": []}]).exit_code == 0


def refused_class() -> dict[str, Any]:
    broken = hardware("broken")
    broken["spec"]["devices"][0]["attributes"] = {"driverVersion": {"version": "not semver"}}
    return broken


def bad_selector() -> dict[str, Any]:
    broken = deployment()
    broken["spec"]["engines"][0]["members"][0]["nodeSelector"]["devices"][0]["selectors"] = [{"cel": "device.("}]
    return broken


#: What is not as asked for, though the input is good.
NOT_AS_ASKED = {
    "too many replicas": deployment(replicas=3),
    "no such device": deployment(memory="900Gi"),
    "a selector that does not compile": bad_selector(),
    "a class that is not accepted": refused_class(),
}


@pytest.mark.parametrize("obj", NOT_AS_ASKED.values(), ids=NOT_AS_ASKED)
@pytest.mark.parametrize("output", ["table", "json", "yaml"])
def test_what_is_unplaced_or_refused_exits_1(obj: dict[str, Any], output: str) -> None:
    assert preview([*FLEET, obj], "-o", output).exit_code == 1


def test_what_does_not_settle_exits_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ControlPlane, "settle", lambda _: False)
    assert preview(FLEET).exit_code == 3
    assert json.loads(preview(FLEET, "-o", "json").stdout)["settled"] is False


def test_bad_input_exits_2_and_names_file_line_and_field_of_each(tmp_path: Path) -> None:
    file = tmp_path / "fleet.yaml"
    first, second = deployment("one"), cluster("east")
    first["spec"]["replicas"] = "many"
    second["spec"]["nodePools"][0]["nodeCont"] = 3
    file.write_text(yaml.safe_dump_all([first, second], sort_keys=False))
    done = CliRunner().invoke(main, ["preview", str(file)])
    lines = file.read_text().splitlines()
    wrong = [f"{file}:{1 + next(i for i, line in enumerate(lines) if key in line)}" for key in ("many", "nodeCont")]
    assert (done.exit_code, done.stdout) == (2, "")
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"{wrong[0]}: ModelDeployment team/one: spec.replicas: ")
    assert lines[1].startswith(f"{wrong[1]}: InferenceCluster east: spec.nodePools[0].nodeCont: ")


@pytest.mark.parametrize("text", ["a: ]", "just text", "kind: ConfigMap", "{apiVersion: v1, kind: Pod, metadata: {}}"])
def test_what_is_no_manifest_exits_2(text: str) -> None:
    done = CliRunner().invoke(main, ["preview", "-"], input=text)
    assert done.exit_code == 2
    assert done.stderr.startswith("<stdin>:1: ")


def test_a_path_that_is_not_there_exits_2() -> None:
    assert CliRunner().invoke(main, ["preview", "/no/such/path"]).exit_code == 2


def test_no_path_exits_2() -> None:
    assert CliRunner().invoke(main, ["preview"]).exit_code == 2


def test_json_tells_every_placement_and_shortfall() -> None:
    found = as_json(*FLEET, deployment(replicas=3))
    assert (found["settled"], found["passes"] > 0) == (True, True)
    (row,) = found["deployments"]
    assert (row["namespace"], row["name"], row["replicas"], row["unplaced"]) == ("team", "chat", 3, 1)
    assert (row["updated"], row["serving"]) == (2, 2)
    assert {entry["revision"] for entry in row["placed"]} == {row["revision"]}
    placed = [{**entry, "name": "..."} for entry in row["placed"]]
    whys = [entry.pop("why") for entry in placed]
    assert all(why.endswith("640Gi of device memory; room for 1 replica") for why in whys)
    common = {"name": "...", "index": 0, "pools": {"main": "pool"}, "ready": True, "leaving": False}
    common |= {"revision": row["revision"], "updated": True, "serving": True, "profile": ""}
    assert placed == [{**common, "cluster": "east"}, {**common, "cluster": "west"}]
    assert [(reason["reason"], reason["count"]) for reason in row["reasons"]] == [("NoRoom", 2)]
    assert set(row["reasons"][0]) == {"reason", "count", "message"}
    assert {"type", "status", "reason", "message"} == set(row["conditions"][0])
    conditions = {c["type"]: (c["status"], c["reason"]) for c in row["conditions"]}
    assert conditions["ReplicasScheduled"] == ("False", "InsufficientCapacity")


def test_the_wide_table_says_why_each_replica_is_where_it_is_and_the_other_does_not() -> None:
    objects = [*FLEET, deployment()]
    wide, narrow = (" ".join(preview(objects, *of).stdout.split()) for of in (("-o", "wide"), ()))
    assert ("first in order with room" in wide, "first in order with room" in narrow) == (True, False)


def test_json_gives_no_reason_where_nothing_is_missing() -> None:
    (row,) = as_json(*FLEET, deployment(replicas=2))["deployments"]
    assert (row["unplaced"], row["reasons"]) == (0, [])


def test_json_holds_every_object_under_the_names_of_the_placements() -> None:
    found = as_json(*FLEET, deployment())
    kinds = {obj["kind"] for obj in found["objects"]}
    assert {"InferenceClass", "InferenceCluster", "ModelDeployment", "ModelReplica", "ModelEndpoint", "Object"} <= kinds
    replicas = [obj["metadata"]["name"] for obj in found["objects"] if obj["kind"] == "ModelReplica"]
    assert replicas == [entry["name"] for entry in found["deployments"][0]["placed"]]


def test_yaml_says_the_same_as_json() -> None:
    objects = [*FLEET, deployment(replicas=3)]
    assert yaml.safe_load(preview(objects, "-o", "yaml").stdout) == as_json(*objects)


def test_an_export_of_a_preview_previews_to_the_same() -> None:
    first = as_json(*FLEET, deployment(replicas=3))
    again = as_json({"apiVersion": "v1", "kind": "List", "items": first["objects"]})
    assert again["deployments"] == first["deployments"]


@pytest.mark.parametrize("output", ["table", "json", "yaml"])
def test_no_value_of_a_secret_is_printed(output: str) -> None:
    value = "aHVzaC1odXNo"
    applied = {"kubectl.kubernetes.io/last-applied-configuration": f'{{"data":{{"k":"{value}"}}}}'}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "annotations": applied},
        "data": {"k": value},
    }
    wrapping = {
        "apiVersion": "kubernetes.m.crossplane.io/v1alpha1",
        "kind": "Object",
        "metadata": {"name": "o", "namespace": "team"},
        "spec": {"forProvider": {"manifest": {**secret, "stringData": {"l": value}}}},
    }
    done = preview([*FLEET, secret, wrapping], "-o", output)
    assert done.exit_code == 0
    assert value not in done.stdout


def test_tables_show_fleet_placements_reasons_and_refusals_in_100_columns() -> None:
    tainted = cluster("south", taints=[{"key": "maintenance", "effect": "NoSchedule"}])
    text = preview([*FLEET, tainted, refused_class(), deployment(replicas=3)]).stdout
    assert max(len(line) for line in text.splitlines()) <= 100
    assert "\x1b" not in text
    for expected in (
        "gpu: 16 of 24 claimed, 8 free",
        "0 of 1",
        "gpu 0 of 8",
        "Tainted  pool  1 of 1",
        "team/chat  2 of 3 placed",
        "main on pool  serving",
        "2 clusters  pool pool: no room for engine main: needs 1 node, 0 free",
        "1 cluster  tainted (maintenance)",
        "Refused",
        "InferenceClass broken",
        "2 of 3 replicas of 1 deployment placed",
    ):
        assert expected in text


def test_what_goes_to_no_terminal_has_no_blanks_at_the_ends_of_its_lines() -> None:
    for lines in (
        preview([*FLEET, deployment(replicas=2)]).stdout.splitlines(),
        CliRunner().invoke(main, ["cel", "true", "-f", "-"], input=yaml.safe_dump(hardware())).stdout.splitlines(),
    ):
        assert len(lines) > 1
        assert [line for line in lines if line != line.rstrip()] == []


def test_help_shows_an_example() -> None:
    assert "modelplane preview examples" in CliRunner().invoke(main, ["preview", "--help"]).stdout


@pytest.mark.proves("P9")
def test_a_deployment_warns_of_probable_mistakes() -> None:
    doubtful = deployment()
    engines = doubtful["spec"]["engines"]
    doubtful["spec"]["engines"] = [*engines, {**engines[0], "name": "other"}]
    doubtful["spec"]["engines"][0]["members"][0]["nodeSelector"]["devices"][0]["count"] = 1
    found = as_json(*FLEET, doubtful)
    (warning,) = found["deployments"][0]["warnings"]
    assert warning.startswith("engines main, other answer behind one Service")
    (obj,) = [each for each in found["objects"] if each["kind"] == "ModelDeployment"]
    assert obj["status"]["warnings"] == [warning]
    assert found["deployments"][0]["unplaced"] == 0


EDITS = {
    "full": ({"image": "example.org/engine:v2"}, "10Gi", "NoRoom: 2 pool pool"),
    "no such device": ({}, "900Gi", "NoDevice: 2 pool pool: request gpu needs memory >= 900Gi"),
}


@pytest.mark.proves("P122")
@pytest.mark.parametrize(("container", "memory", "why"), EDITS.values(), ids=EDITS)
def test_an_edit_that_waits_is_printed_with_why_and_exits_1(container: dict[str, str], memory: str, why: str) -> None:
    exported = as_json(*FLEET, deployment(), deployment("other"))["objects"]
    edited = deployment(memory=memory)
    edited["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0].update(container)
    done = preview([*exported, edited])
    assert done.exit_code == 1
    text = " ".join(done.stdout.split())
    assert "not as asked: the edit waits: no cluster can take a replica with the edit" in text
    assert why in text


def service(labels: dict[str, str], namespace: str = "team") -> dict[str, Any]:
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelService",
        "metadata": {"name": "chat", "namespace": namespace},
        "spec": {"endpoints": [{"selector": {"matchLabels": labels}}]},
    }


CHAT = {"modelplane.ai/deployment": "chat"}
SERVICES: dict[str, tuple[list[dict[str, Any]], bool]] = {
    "none": ([], False),
    "by its name": ([service(CHAT)], True),
    "by its name on one cluster": ([service({**CHAT, "modelplane.ai/cluster": "east"})], True),
    "another deployment": ([service({"modelplane.ai/deployment": "other"})], False),
    "in another namespace": ([service(CHAT, "ops")], False),
    "by a label of its replicas": ([service({"tier": "gold"})], True),
}


@pytest.mark.proves("P123")
@pytest.mark.parametrize(("services", "routed"), SERVICES.values(), ids=SERVICES)
def test_a_deployment_that_no_service_selects_says_so_with_the_manifest_to_apply(
    services: list[dict[str, Any]], routed: bool
) -> None:
    chat = deployment()
    chat["spec"]["replicaLabels"] = {"tier": "gold"}
    text = preview([*FLEET, chat, *services]).stdout
    assert ("team/chat  1 of 1 placed  no ModelService" in text) is not routed
    _, found, after = text.partition("For a URL of chat apply this ModelService:\n")
    assert bool(found) is not routed
    if not routed:
        block, _, rest = after.partition("\n\n")
        assert len(block.splitlines()) > 5
        assert rest.startswith("1 of 1 replica of 1 deployment placed")
        manifest = yaml.safe_load(block)
        assert manifest == service(CHAT)
        assert "no ModelService" not in preview([*FLEET, chat, *services, manifest]).stdout
