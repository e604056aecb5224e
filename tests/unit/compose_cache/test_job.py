"""What fills a volume: a Job that gets all it needs as arguments, and is reported in its own and its pods' words."""

from typing import Any

import pytest

from modelplane.model.conditions import MESSAGE_LIMIT, Status
from modelplane.step import AWAITING
from unit.compose_cache import caches as given


def job(result: Any) -> dict[str, Any]:
    (resource,) = given.named(result, "Job")
    return given.manifest(result, resource)


def test_the_source_reaches_the_program_as_arguments_and_the_token_through_its_environment() -> None:
    result = given.passes(given.cache({"repo": "org/a$(b)", "authSecret": {"name": "hub", "key": "k.1"}}), 2, pods=[])
    (container,) = job(result)["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["modelplane", "hydrate"]
    assert set(container["args"]) == {"--repo=org/a$$(b)", "--revision=main", "--target=/mnt/models", "--size-gib=40"}
    (secret,) = given.named(result, "Secret")
    name = given.manifest(result, secret)["metadata"]["name"]
    token = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": name, "key": "k.1"}}}
    assert container["env"] == [token]


def test_a_default_branch_is_not_named_to_the_program() -> None:
    body = given.cache()
    del body["spec"]["huggingFace"]["revision"]
    (container,) = job(given.passes(body, 2))["spec"]["template"]["spec"]["containers"]
    assert [arg for arg in container["args"] if arg.startswith("--revision")] == []


def test_the_image_is_the_one_that_the_installation_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELPLANE_IMAGE", "example.org/modelplane:v9")
    (container,) = job(given.passes(given.cache(), 2))["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "example.org/modelplane:v9"


#: What says that the image is not known.
UNNAMED = (
    "environment variable MODELPLANE_IMAGE of modelplane-compose-cache is not set. Set it in install/functions.yaml to "
    "the image of that function, with its registry"
)


def test_nothing_is_downloaded_with_an_image_that_nobody_has_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MODELPLANE_IMAGE")
    result = given.passes(given.cache(), 3)
    assert given.named(result, "Job") == []
    assert UNNAMED in given.rows(result)["eu-1"]["message"]
    condition = given.condition(result)
    assert (condition.status, condition.reason) == (Status.FALSE, "Hydrating")
    assert UNNAMED in condition.message


def test_a_download_goes_on_with_its_image_when_none_is_named_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    body = given.cache()
    before = given.passes(body, 3)
    monkeypatch.delenv("MODELPLANE_IMAGE")
    after = given.run(body, given.observed(before, job={"active": 1, "ready": 1}))
    assert job(after) == job(before)
    assert "MODELPLANE_IMAGE" not in given.rows(after)["eu-1"]["message"]


def test_who_deletes_a_job_ends_its_pods_so_that_nothing_holds_the_volume() -> None:
    result = given.passes(given.cache(), 2)
    (resource,) = given.named(result, "Job")
    assert "managementPolicies" not in result.desired[resource].build()["spec"]
    assert job(result)["metadata"]["finalizers"] == ["foregroundDeletion"]


def test_kubernetes_removes_a_job_that_has_failed_after_an_hour_so_that_it_is_tried_anew() -> None:
    assert job(given.passes(given.cache(), 2))["spec"]["ttlSecondsAfterFinished"] == 3600


def without_cluster(_: dict[str, Any]) -> dict[str, Any]:
    return {"clusters": []}


def other_source(body: dict[str, Any]) -> dict[str, Any]:
    body["spec"]["huggingFace"]["revision"] = "v2"
    return {}


@pytest.mark.parametrize("change", [without_cluster, other_source])
def test_a_download_that_is_not_wanted_any_more_ends(change: Any) -> None:
    body = given.cache()
    running = given.passes(body, 3)
    result = given.run(body, given.observed(running), **change(body))
    assert given.named(running, "Job")
    assert given.named(result, "Job") == []


def test_a_download_that_is_done_is_published_and_then_goes_with_its_pods_which_would_hold_the_claim() -> None:
    body = given.cache()
    done = given.passes(body, 3, job=given.ended("Complete"))
    (resource,) = given.named(done, "Job")
    assert given.rows(done)["eu-1"]["phase"] == "Ready"
    assert "managementPolicies" not in done.desired[resource].build()["spec"]
    after = given.run(body, given.observed(done, job=given.ended("Complete")))
    assert given.named(after, "Job") == []


def test_a_download_onto_a_claim_that_is_being_deleted_ends_so_that_it_can_go() -> None:
    body = given.cache()
    seen = given.observed(given.passes(body, 3))
    (claim,) = [found for name, found in seen.items() if name.startswith("volume-")]
    claim["status"]["atProvider"]["manifest"]["metadata"]["deletionTimestamp"] = given.SEEN_AT
    result = given.run(body, seen)
    assert given.named(result, "Job") == []
    assert "is created again" in given.rows(result)["eu-1"]["message"]


#: What the cluster says of the Job, and whether it stays when the installation names another image.
RUNNING: dict[str, tuple[dict[str, Any], bool]] = {
    "not seen": ({}, True),
    "a pod runs": ({"active": 1, "ready": 1}, True),
    "an image that cannot be pulled": ({"active": 1, "ready": 0}, False),
    "all is done": ({**given.ended("Complete"), "ready": 0}, True),
    "between two tries": ({"failed": 1, "ready": 0}, False),
}


@pytest.mark.parametrize(("state", "stays"), RUNNING.values(), ids=RUNNING)
def test_only_a_job_that_does_not_run_gives_way_to_one_with_the_image_that_the_installation_names_now(
    state: dict[str, Any], stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = given.cache()
    before = given.passes(body, 3)
    assert job(given.run(body, given.observed(before, job=state))) == job(before)
    monkeypatch.setenv("MODELPLANE_IMAGE", "example.org/modelplane:v9")
    after = given.run(body, given.observed(before, job=state))
    assert (job(after) == job(before)) is stays


GPU = {"key": "nvidia.com/gpu", "operator": "Exists"}
AMD = {"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
TEAM = {"key": "team", "operator": "Equal", "value": "ml"}
#: The tolerations of the pools of a cluster, and those of a download there.
POOLS: dict[str, tuple[list[Any], list[Any]]] = {
    "no pools": ([], [GPU]),
    "pools that tolerate nothing": ([{}, {}], [GPU]),
    "two pools": ([{"tolerations": [AMD]}, {"tolerations": [{"key": "team", "value": "ml"}]}], [GPU, AMD, TEAM]),
    "two pools that tolerate the same": ([{"tolerations": [AMD]}, {"tolerations": [AMD]}], [GPU, AMD]),
}


def on_pools(pools: list[Any]) -> list[dict[str, Any]]:
    return [{**given.cluster(), "spec": {"nodePools": [{"name": f"p{at}", **each} for at, each in enumerate(pools)]}}]


@pytest.mark.parametrize(("pools", "tolerated"), POOLS.values(), ids=POOLS)
def test_a_download_tolerates_what_engines_on_the_pools_of_its_cluster_do(
    pools: list[Any], tolerated: list[Any]
) -> None:
    pod = job(given.passes(given.cache(), 2, clusters=on_pools(pools)))["spec"]["template"]["spec"]
    assert pod["tolerations"] == tolerated


def test_a_download_prefers_nodes_that_are_in_no_pool_of_gpus() -> None:
    affinity = job(given.passes(given.cache(), 2))["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    (one, two) = affinity["preferredDuringSchedulingIgnoredDuringExecution"]
    assert [each["preference"]["matchExpressions"] for each in (one, two)] == [
        [{"key": "modelplane.ai/pool", "operator": "DoesNotExist"}],
        [{"key": "modelplane.ai/pool", "operator": "In", "values": ["system"]}],
    ]


@pytest.mark.parametrize(("state", "stays"), RUNNING.values(), ids=RUNNING)
def test_only_a_job_that_does_not_run_gives_way_to_one_that_tolerates_what_pools_do_now(
    state: dict[str, Any], stays: bool
) -> None:
    body = given.cache()
    before = given.passes(body, 3)
    after = given.run(body, given.observed(before, job=state), clusters=on_pools([{"tolerations": [AMD]}]))
    assert (job(after) == job(before)) is stays


FAILED = given.ended("Failed", "Container hydrate for pod mp-team/x failed with exit code 77 matching FailJob rule")


def test_a_failed_job_says_why_in_its_own_words_and_the_programs() -> None:
    result = given.passes(given.cache(), 3, job=FAILED)
    row, artifact = given.rows(result)["eu-1"], given.condition(result)
    assert row["phase"] == "Failed"
    assert "exit code 77 matching FailJob rule" in row["message"]
    assert "the hub refused" in row["message"]
    assert (artifact.status, artifact.reason) == (Status.FALSE, "Failed")
    assert row["message"] in artifact.message
    assert result.ready is False


def test_what_a_cluster_says_is_cut_where_a_condition_is() -> None:
    failed = given.ended("Failed", "x" * 5000)
    message = given.rows(given.passes(given.cache(), 3, job=failed))["eu-1"]["message"]
    assert len(message) == MESSAGE_LIMIT
    assert message.endswith(" ...")


def name_of(result: Any) -> str:
    found: str = job(result)["metadata"]["name"]
    return found


@pytest.mark.parametrize(("version", "same"), [("1", True), ("2", False)])
def test_a_failed_job_is_replaced_once_its_token_is_another(version: str, same: bool) -> None:
    body = given.cache({"authSecret": given.SECRET})
    before = given.passes(body, 3, job=FAILED)
    after = given.run(body, given.observed(before, job=FAILED), token=[given.secret(version)])
    assert (name_of(after) == name_of(before)) is same


def test_the_copy_of_the_token_goes_when_the_download_has_failed_and_comes_back_with_the_next_try() -> None:
    body = given.cache({"authSecret": given.SECRET})
    running = given.passes(body, 3)
    assert [name for name in running.desired if name.startswith("token-")]
    seen = given.observed(running, job=FAILED)
    over = given.run(body, seen, token=[given.secret("1")])
    assert [name for name in over.desired if name.startswith("token-")] == []
    assert name_of(over) == name_of(running)
    another = given.run(body, seen, token=[given.secret("2")])
    assert [name for name in another.desired if name.startswith("token-")]
    tried_anew = given.run(body, given.observed(over, job={}), token=[given.secret("1")])
    assert [name for name in tried_anew.desired if name.startswith("token-")]


@pytest.mark.parametrize(("capacity", "same"), [("40Gi", True), ("60Gi", True), ("80Gi", False), ("1Ti", False)])
def test_a_failed_job_is_replaced_once_its_volume_has_grown(capacity: str, same: bool) -> None:
    body = given.cache()
    before = given.passes(body, 3, job=FAILED)
    seen = given.observed(before, job=FAILED)
    body["spec"]["huggingFace"]["sizeGiB"] = 80
    (claim,) = [found for name, found in seen.items() if name.startswith("volume-")]
    claim["status"]["atProvider"]["manifest"]["status"]["capacity"]["storage"] = capacity
    after = given.run(body, seen)
    assert (name_of(after) == name_of(before)) is same
    assert ("once the volume has grown to 80 GiB" in given.rows(after)["eu-1"]["message"]) is same


TOKENS: dict[str, tuple[dict[str, Any], bool]] = {
    "the same": (given.SECRET, True),
    "another Secret": ({"name": "other", "key": "HF_TOKEN"}, True),
    "another key": ({"name": "hub", "key": "other"}, False),
    "none": ({}, False),
}


@pytest.mark.parametrize(("secret", "same"), TOKENS.values(), ids=TOKENS)
def test_a_job_whose_token_is_not_beside_it_any_more_gives_way_to_one_whose_is(
    secret: dict[str, Any], same: bool
) -> None:
    body = given.cache({"authSecret": given.SECRET})
    before = given.passes(body, 3)
    body["spec"]["huggingFace"].pop("authSecret")
    body["spec"]["huggingFace"] |= {"authSecret": secret} if secret else {}
    after = given.run(body, given.observed(before))
    assert (name_of(after) == name_of(before)) is same


STATES: dict[str, tuple[Any, str]] = {
    "starting": ({}, "is starting"),
    "without a pod that runs": ({"active": 1, "ready": 0}, "is starting"),
    "running": ({"active": 1, "ready": 1}, "is downloading"),
    "starting again": ({"failed": 2, "ready": 0}, "is starting after 2 failed tries"),
    "running again": ({"active": 1, "failed": 2}, "is downloading after 2 failed tries"),
}


@pytest.mark.parametrize(("state", "words"), STATES.values(), ids=STATES)
def test_a_job_under_way_is_reported(state: Any, words: str) -> None:
    result = given.passes(given.cache(), 3, job=state)
    row = given.rows(result)["eu-1"]
    assert row["phase"] == "Hydrating"
    assert words in row["message"]
    assert result.ttl == AWAITING


def pod(uid: str = "u-1", **status: Any) -> dict[str, Any]:
    """Return an Object that looks at a pod of the Job that fills the claim of this uid."""
    manifest = {"kind": "Pod", "metadata": {"name": "p", "labels": {"modelplane.ai/fills": uid}}, "status": status}
    return {"kind": "Object", "metadata": {"name": "p"}, "status": {"atProvider": {"manifest": manifest}}}


def stopped(code: int, said: str) -> dict[str, Any]:
    ended = {"terminated": {"exitCode": code, "reason": "Error", "message": said}}
    return pod(phase="Failed", containerStatuses=[{"state": ended}])


UNSCHEDULED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes: taint"}
PULLING = {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "not found"}}}
#: The Job's status, its pods, and what is reported of them.
PODS: dict[str, tuple[Any, list[dict[str, Any]], str]] = {
    "running": ({"active": 1}, [pod(phase="Running")], ""),
    "not scheduled": ({"active": 1}, [pod(conditions=[UNSCHEDULED])], "1 pod: Unschedulable: 0/3 nodes: taint"),
    "not pulled": ({"active": 1}, [pod(containerStatuses=[PULLING])], "1 pod: ImagePullBackOff: not found"),
    "broken off": ({"active": 1, "failed": 1}, [stopped(75, "429: slow down")], "exit code 75 (Error): 429: slow down"),
    "failed for good": (FAILED, [stopped(77, "401: no such token")], "exit code 77 (Error): 401: no such token"),
    "of another claim": ({"active": 1}, [pod("u-2", conditions=[UNSCHEDULED])], ""),
}


@pytest.mark.parametrize(("state", "found", "words"), PODS.values(), ids=PODS)
def test_what_the_pods_of_a_job_say_is_reported(state: Any, found: Any, words: str) -> None:
    row = given.rows(given.passes(given.cache(), 3, job=state, pods=found))["eu-1"]
    assert words in row["message"]
    assert ("1 pod" in row["message"]) is bool(words)


def test_pods_are_looked_at_only_while_a_job_is_there_that_is_not_done() -> None:
    body = given.cache()
    looked = []
    result = given.run(body)
    for _ in range(5):
        asked = [each.match_labels for each in result.requirements if each.name == "pods"]
        looked.append(("pods-eu-1" in result.desired, asked))
        body["status"] = dict(result.status or {})
        result = given.run(body, given.observed(result, job=given.ended("Complete") if len(looked) > 2 else {}))
    there = (True, [{"modelplane.ai/pods-of-cache": "weights"}])
    gone = (False, there[1])
    assert looked == [(False, []), (False, []), there, gone, (False, [])]
