"""A replica starts only where its cache is staged, keeps what it mounts, and moves to another volume in its turn."""

import copy
from typing import Any

import pytest

from modelplane.model.conditions import Status
from modelplane.step import AWAITING, Result
from unit.compose_replica import replicas as given


def cache(**row: Any) -> list[dict[str, Any]]:
    """Return the cache, staged on the replica's cluster but for what `row` says."""
    return [given.staged(**row)]


MOVED = cache(volume={"name": "v2", "uid": "w"})
LEAVING = {**MOVED[0], "metadata": {**MOVED[0]["metadata"], "deletionTimestamp": given.SEEN_AT}}


def using(*engines: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a replica that names the cache."""
    body = given.replica(*engines, **fields)
    body["spec"]["modelCacheRef"] = {"name": "weights"}
    return body


def engines(result: Result) -> dict[str, dict[str, Any]]:
    """Return the pod specs of the engines by resource name."""
    found = {}
    for resource in result.desired:
        if resource.startswith("deployment-"):
            found[resource] = given.manifest_of(result, resource)["spec"]["template"]["spec"]
        if resource.startswith("leaderworkerset-"):
            gang = given.manifest_of(result, resource)["spec"]["leaderWorkerTemplate"]
            for part in ("leaderTemplate", "workerTemplate"):
                found[part] = gang[part]["spec"]
    return found


def volume(result: Result) -> str:
    """Return the claim that all engines of the replica mount, "" for none."""
    pods = engines(result).values()
    (name,) = {
        next((v["persistentVolumeClaim"]["claimName"] for v in pod["volumes"] if "persistentVolumeClaim" in v), "")
        for pod in pods
    }
    return name


def serving() -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return a replica that serves from the volume v1, and what is observed of it."""
    body = using()
    observed: dict[str, Any] = {}
    for _ in range(2):
        result = given.run(body, observed, cache=cache())
        observed = {name: given.provided(desired.build()) for name, desired in result.desired.items()}
        body["status"] = {**(result.status or {}), "conditions": [{"type": "ModelReady", "status": "True"}]}
    return body, observed


@pytest.mark.proves("P90")
def test_every_member_mounts_the_weights_read_only() -> None:
    result = given.run(using(given.gang(), given.engine("other")), cache=cache())
    pods = engines(result)
    assert set(pods) == {"leaderTemplate", "workerTemplate", "deployment-other"}
    for pod in pods.values():
        source = {"claimName": "v1", "readOnly": True}
        (name,) = [each["name"] for each in pod["volumes"] if each.get("persistentVolumeClaim") == source]
        (container,) = pod["containers"]
        assert {"name": name, "mountPath": "/mnt/models", "readOnly": True} in container["volumeMounts"]


ARGUMENTS: dict[str, tuple[dict[str, Any], list[str] | None]] = {
    "none": ({}, ["--model=/mnt/models"]),
    "others": ({"args": ["--a", "b"]}, ["--a", "b", "--model=/mnt/models"]),
    "a model": ({"args": ["--model=org/model"]}, ["--model=org/model"]),
    "a model as two words": ({"args": ["--model", "org/model"]}, ["--model", "org/model"]),
    "SGLang's flag": ({"args": ["--model-path=/mnt/models"]}, ["--model-path=/mnt/models"]),
    "TGI's flag": ({"args": ["--model-id", "/mnt/models"]}, ["--model-id", "/mnt/models"]),
    "llama.cpp's flag": ({"args": ["-m", "/mnt/models/x.gguf"]}, ["-m", "/mnt/models/x.gguf"]),
    "the model as the first argument": ({"args": ["/mnt/models", "--a=b"]}, ["/mnt/models", "--a=b"]),
    "a flag that only begins so": ({"args": ["--model-impl=auto"]}, ["--model-impl=auto", "--model=/mnt/models"]),
    "TGI's variable": (
        {"image": "x/text-generation-inference", "env": [{"name": "MODEL_ID", "value": "org/model"}]},
        None,
    ),
    "a command": ({"command": ["serve"], "args": ["--a"]}, ["--a"]),
    "a command alone": ({"command": ["serve"]}, None),
}


@pytest.mark.proves("P91")
@pytest.mark.parametrize(("fields", "args"), ARGUMENTS.values(), ids=ARGUMENTS)
@pytest.mark.parametrize("kind", ["standalone", "gang"])
def test_the_engine_gets_the_path_of_the_weights_unless_it_names_one(
    kind: str, fields: dict[str, Any], args: list[str] | None
) -> None:
    template = {"spec": {"containers": [given.container(**fields)]}}
    one = given.engine(members=[given.member(template=template)])
    body = using(one if kind == "standalone" else given.gang(template=template))
    pods = engines(given.run(body, cache=cache()))
    pod = pods["deployment-main" if kind == "standalone" else "leaderTemplate"]
    assert pod["containers"][0].get("args") == args
    if kind == "gang":
        assert "args" not in pods["workerTemplate"]["containers"][0]


def test_both_engines_of_a_pair_get_the_path_of_the_weights() -> None:
    body = given.pair("--port=8200")
    body["spec"]["modelCacheRef"] = {"name": "weights"}
    pods = engines(given.run(body, cache=cache()))
    assert [pods[f"deployment-{name}"]["containers"][0]["args"] for name in ("reader", "writer")] == [
        ["--model=/mnt/models"],
        ["--port=8200", "--model=/mnt/models"],
    ]


def test_without_a_cache_nothing_is_mounted_or_passed() -> None:
    result = given.run(given.replica(), cache=cache())
    assert volume(result) == ""
    assert "args" not in engines(result)["deployment-main"]["containers"][0]


GATES: dict[str, tuple[Any, str]] = {
    "not fetched yet": (None, "ModelCache team/weights is not fetched yet"),
    "absent": ([], "ModelCache team/weights does not exist"),
    "without status": ([{"kind": "ModelCache", "metadata": {"name": "weights"}}], "does not report cluster eu-1"),
    "malformed status": (
        [{"metadata": {"name": "weights"}, "status": {"clusters": "all"}}],
        "does not report cluster eu-1",
    ),
    "staged elsewhere": (cache(name="us-1"), "its spec.clusterSelector must select the cluster"),
    "pending": (cache(phase="Pending", message="no storage class"), "is Pending on cluster eu-1: no storage class"),
    "hydrating": (cache(phase="Hydrating", message="12 of 40 GiB"), "is Hydrating on cluster eu-1: 12 of 40 GiB"),
    "failed": (cache(phase="Failed", message="exit code 77"), "is Failed on cluster eu-1: exit code 77"),
    "half-written": (cache(phase=None), "is Pending on cluster eu-1"),
    "ready and being deleted": (
        [LEAVING],
        "is being deleted. Create it again when it is gone, or name another in spec.modelCacheRef.",
    ),
    "ready without a volume": (cache(volume=None), "is Ready on cluster eu-1"),
    "ready with a malformed volume": (cache(volume="v1"), "is Ready on cluster eu-1"),
}


@pytest.mark.parametrize(("found", "words"), GATES.values(), ids=GATES)
def test_a_new_replica_waits_for_its_cache_and_says_what_for(found: Any, words: str) -> None:
    result = given.run(using(), cache=found)
    accepted = given.condition(result, "ModelAccepted")
    assert result.desired == {}
    assert (accepted.status, accepted.reason) == (Status.FALSE, "WaitingForCache")
    assert words in accepted.message
    assert (result.ready, result.ttl) == (False, AWAITING)


@pytest.mark.parametrize(("found", "words"), GATES.values(), ids=GATES)
def test_whatever_becomes_of_the_cache_a_serving_replica_keeps_its_volume(found: Any, words: str) -> None:
    body, observed = serving()
    result = given.run(body, observed, cache=found)
    assert volume(result) == "v1"
    assert {name: result.desired[name].build()["spec"] for name in observed} == {
        name: found["spec"] for name, found in observed.items()
    }
    accepted = given.condition(result, "ModelAccepted")
    assert (accepted.status, result.ready) == (Status.TRUE, True)
    assert words in accepted.message
    assert (result.status or {})["volumes"] == ["v1"]


def test_an_edit_reaches_a_serving_replica_while_its_cache_is_away() -> None:
    body, observed = serving()
    body["spec"]["engines"][0]["copies"] = 3
    result = given.run(body, observed, cache=[])
    assert given.manifest_of(result, "deployment-main")["spec"]["replicas"] == 3
    assert volume(result) == "v1"


def test_a_lost_workload_is_composed_again_with_what_the_replica_mounted() -> None:
    body, _ = serving()
    assert volume(given.run(body, {}, cache=cache(phase="Failed"))) == "v1"


def sibling(name: str, *volumes: str, ready: bool = True, on: str = "eu-1") -> dict[str, Any]:
    body = using()
    body["metadata"] = {**body["metadata"], "name": name}
    body["spec"]["clusterName"] = on
    conditions = [{"type": "ModelReady", "status": str(ready)}]
    return {**body, "status": {"volumes": list(volumes), "conditions": conditions}}


SIBLINGS: dict[str, tuple[list[dict[str, Any]] | None, str]] = {
    "not fetched": (None, "v1"),
    "none": ([], "v2"),
    "itself": ([sibling("qwen-0a1b2c3d", "v1")], "v2"),
    "an earlier one that serves": ([sibling("a", "v1")], "v1"),
    "an earlier one that moves": ([sibling("a", "v1", "v2", ready=False)], "v1"),
    "an earlier one that has moved": ([sibling("a", "v2")], "v2"),
    "an earlier one that moved and does not serve": ([sibling("a", "v2", ready=False)], "v1"),
    "a later one that serves": ([sibling("z", "v1")], "v2"),
    "a later one that moves": ([sibling("z", "v1", "v2", ready=False)], "v1"),
    "a later one that moved and does not serve": ([sibling("z", "v2", ready=False)], "v1"),
    "a later one that has begun to move and looks ready still": ([sibling("z", "v1", "v2")], "v1"),
    "one elsewhere that has begun and looks ready still": ([sibling("z", "v1", "v2", on="us-1")], "v1"),
    "one that waits": ([sibling("a")], "v2"),
    "two": ([sibling("a", "v2"), sibling("b", "v1")], "v1"),
    "one on a cluster without the new volume": ([sibling("a", "v1", on="us-1")], "v2"),
    "one there that does not serve": ([sibling("a", "v1", ready=False, on="us-1")], "v2"),
    "one there that moved and does not serve": ([sibling("a", "v2", ready=False, on="us-1")], "v1"),
}


@pytest.mark.parametrize(("siblings", "mounts"), SIBLINGS.values(), ids=SIBLINGS)
def test_replicas_of_a_deployment_move_to_another_volume_one_at_a_time(siblings: Any, mounts: str) -> None:
    body, observed = serving()
    result = given.run(body, observed, cache=MOVED, movers=siblings)
    assert volume(result) == mounts
    if mounts == "v1":
        assert "keeps volume v1 and moves to v2 once" in given.condition(result, "ModelAccepted").message


def test_a_replica_that_does_not_serve_moves_at_once() -> None:
    body, observed = serving()
    body["status"]["conditions"][0]["status"] = "False"
    assert volume(given.run(body, observed, cache=MOVED, movers=[sibling("a", "v1")])) == "v2"


def test_a_replica_that_has_begun_to_move_does_not_turn_back() -> None:
    body, observed = serving()
    moving = given.run(body, observed, cache=MOVED, movers=[])
    observed["deployment-main"]["spec"] = copy.deepcopy(moving.desired["deployment-main"].build()["spec"])
    result = given.run(body, observed, cache=MOVED, movers=[sibling("a", "v1", ready=False)])
    assert volume(result) == "v2"


def test_while_it_moves_both_volumes_are_reported_and_then_the_new_one() -> None:
    body, observed = serving()
    moving = given.run(body, observed, cache=MOVED, movers=[])
    assert (moving.status or {})["volumes"] == ["v1", "v2"]
    body["status"] |= {"volumes": ["v1", "v2"]}
    there = {name: given.provided(d.build()) for name, d in moving.desired.items()}
    assert (given.run(body, there, cache=MOVED).status or {})["volumes"] == ["v2"]


def test_a_replica_without_its_cache_any_more_says_so_once_no_pod_mounts_it() -> None:
    body, observed = serving()
    del body["spec"]["modelCacheRef"]
    leaving = given.run(body, observed)
    assert volume(leaving) == ""
    assert (leaving.status or {})["volumes"] == ["v1"]
    there = {name: given.provided(d.build()) for name, d in leaving.desired.items()}
    assert "volumes" not in (given.run(body, there).status or {})


def test_a_cache_in_use_cannot_be_deleted_and_it_is_said_by_whom() -> None:
    usage = given.run(using(), cache=cache()).desired["cache-in-use-weights"].build()
    assert (usage["apiVersion"], usage["kind"]) == ("protection.crossplane.io/v1beta1", "Usage")
    used = {"apiVersion": "modelplane.ai/v1alpha1", "kind": "ModelCache", "resourceRef": {"name": "weights"}}
    assert usage["spec"] == {"of": used, "reason": "in use by ModelReplica qwen-0a1b2c3d"}


@pytest.mark.parametrize(("observed", "found", "kept"), [(False, [], False), (True, [], True), (True, cache(), True)])
def test_a_protection_that_was_composed_stays(observed: bool, found: Any, kept: bool) -> None:
    body, there = serving()
    if not observed:
        del there["cache-in-use-weights"]
    assert ("cache-in-use-weights" in given.run(body, there, cache=found).desired) is kept


def test_a_cache_stays_protected_until_no_pod_mounts_its_volume_though_the_replica_names_another() -> None:
    body, there = serving()
    body["spec"]["modelCacheRef"] = {"name": "other"}
    for missing in ([], cache(phase="Hydrating")):
        assert "cache-in-use-weights" in given.run(body, there, cache=missing).desired
    moving = given.run(body, there, cache=MOVED, movers=[])
    assert {"cache-in-use-weights", "cache-in-use-other"} <= moving.desired.keys()
    body["status"] |= moving.status or {}
    there = {name: given.provided(d.build()) for name, d in moving.desired.items()}
    there["deployment-main"]["status"]["atProvider"]["manifest"]["status"]["updatedReplicas"] = 0
    rolling = given.run(body, there, cache=MOVED)
    assert "cache-in-use-weights" in rolling.desired
    there = {name: given.provided(d.build()) for name, d in rolling.desired.items()}
    body["status"] |= given.run(body, there, cache=MOVED).status or {}
    moved = given.run(body, there, cache=MOVED).desired
    assert [name for name in moved if name.startswith("cache-in-use-")] == ["cache-in-use-other"]


def test_only_what_the_decision_turns_on_is_asked_for() -> None:
    body, observed = serving()
    assert [asked.kind for asked in given.run(given.replica()).requirements] == ["InferenceCluster"]
    settled = given.run(body, observed, cache=cache()).requirements
    assert [(asked.kind, asked.match_name) for asked in settled] == [
        ("InferenceCluster", "eu-1"),
        ("ModelCache", "weights"),
    ]
    asked = given.run(body, observed, cache=MOVED).requirements
    [moving] = [each for each in asked if each.kind == "ModelReplica"]
    assert moving.namespace == "team"
    assert moving.match_labels == {"modelplane.ai/deployment": "qwen"}
