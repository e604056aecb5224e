"""All clusters are staged at one commit, which the first download resolves and the cache publishes."""

from typing import Any

import pytest

from unit.compose_cache import caches as given

OTHER = "f" * 40
TWO = [given.cluster("a"), given.cluster("b")]


def pod(result: Any, cluster: str = "eu-1") -> dict[str, Any]:
    """Return the pod of the Job that is wanted on a cluster."""
    (resource,) = [name for name in given.named(result, "Job") if name.startswith(f"hydration-{cluster}-")]
    spec: dict[str, Any] = given.manifest(result, resource)["spec"]["template"]["spec"]
    return spec


def commits(result: Any, cluster: str = "eu-1") -> list[str]:
    """Return the commit that the download on a cluster is told."""
    (container,) = pod(result, cluster)["containers"]
    return [arg.removeprefix("--commit=") for arg in container["args"] if arg.startswith("--commit=")]


def claimed(seen: dict[str, Any], **uids: str) -> dict[str, Any]:
    """Return what is observed, the claim of each cluster with its uid, and its Job as one that fills it."""
    for cluster, uid in uids.items():
        for name, found in seen.items():
            if name.startswith(f"volume-{cluster}-"):
                found["status"]["atProvider"]["manifest"]["metadata"]["uid"] = uid
            if name.startswith(f"hydration-{cluster}-"):
                found["spec"]["forProvider"]["manifest"]["metadata"]["labels"]["modelplane.ai/fills"] = uid
    return seen


def test_the_first_download_resolves_the_revision_and_reports_the_commit_before_it_downloads() -> None:
    spec = pod(given.passes(given.cache(), 2, pods=[]))
    (resolve,) = spec["initContainers"]
    (container,) = spec["containers"]
    assert resolve["args"] == [*container["args"], "--resolve=/dev/termination-log"]
    assert {**resolve, "name": 0, "args": 0} == {**container, "name": 0, "args": 0}
    assert "--commit" not in " ".join(container["args"])


def test_the_commit_is_published_with_what_it_was_resolved_from_while_the_download_runs() -> None:
    result = given.passes(given.cache(), 3)
    assert given.rows(result)["eu-1"]["phase"] == "Hydrating"
    assert result.status is not None
    assert (result.status["commit"], result.status["commitOf"]) == (given.COMMIT, "org/model@main")


def test_a_cluster_that_comes_later_downloads_the_published_commit_and_resolves_nothing() -> None:
    body, seen = given.staged()
    clusters = [given.cluster(), given.cluster("us-1")]
    for _ in range(2):
        result = given.run(body, seen, clusters=clusters, pods=[])
        body["status"], seen = dict(result.status or {}), given.observed(result)
    assert commits(result, "us-1") == [given.COMMIT]
    assert "initContainers" not in pod(result, "us-1")
    done = given.run(body, given.observed(result, job=given.ended("Complete")), clusters=clusters, pods=[])
    assert given.rows(done)["us-1"]["volume"]["commit"] == given.COMMIT


def test_a_claim_that_was_made_anew_is_filled_with_the_published_commit() -> None:
    body, seen = given.staged()
    result = given.run(body, claimed(seen, **{"eu-1": "u-2"}), pods=[])
    assert commits(result) == [given.COMMIT]


def test_weights_that_are_there_count_only_once_the_commit_is_observed() -> None:
    body = given.cache()
    done = given.passes(body, 4, job=given.ended("Complete"), pods=[])
    row = given.rows(done)["eu-1"]
    assert (row["phase"], "waiting for its pod to report the commit" in row["message"]) == ("Hydrating", True)
    after = given.run(body, given.observed(done, job=given.ended("Complete")))
    assert given.rows(after)["eu-1"]["volume"]["commit"] == given.COMMIT


def test_two_downloads_that_resolved_different_commits_end_at_the_first_ones() -> None:
    body = given.cache()
    seen = claimed(given.observed(given.passes(body, 3, clusters=TWO, pods=[])), a="u-a", b="u-b")
    pods = [given.reporting(OTHER, "u-b"), given.reporting(given.COMMIT, "u-a")]
    result = given.run(body, seen, clusters=TWO, pods=pods)
    assert (result.status or {})["commit"] == given.COMMIT
    left = [name for name in result.desired if name.startswith(("hydration-", "volume-"))]
    assert left
    assert all("-a-" in name for name in left)
    message = given.rows(result)["b"]["message"]
    assert f"is being filled with commit {OTHER}, and the cache is staged at {given.COMMIT}" in message


def test_a_claim_that_replicas_may_mount_is_never_replaced_for_its_commit() -> None:
    body, seen = given.staged()
    body["status"]["commit"] = OTHER
    result = given.run(body, seen)
    assert given.rows(result)["eu-1"]["phase"] == "Ready"
    assert {"PersistentVolumeClaim"} <= set(given.kinds(result).values())


def test_a_download_that_runs_is_not_replaced_because_the_commit_became_known() -> None:
    body = given.cache()
    before = given.passes(body, 3, pods=[])
    after = given.run(body, given.observed(before))
    assert given.named(after, "Job") == given.named(before, "Job")
    assert commits(after) == []


def test_an_edit_of_the_revision_resolves_anew_and_taking_it_back_finds_the_commit_that_is_staged() -> None:
    body, seen = given.staged()
    body["spec"]["huggingFace"] = {**given.SOURCE, "revision": "v2"}
    for _ in range(2):
        result = given.run(body, claimed(seen, **{"eu-1": "u-1"}), pods=[])
        body["status"], seen = dict(result.status or {}), given.observed(result, uid="u-2")
    assert commits(result) == []
    assert "commit" not in (result.status or {})
    body["spec"]["huggingFace"] = dict(given.SOURCE)
    back = given.run(body, given.observed(result), pods=[])
    assert (back.status or {})["commit"] == given.COMMIT


def without_report(body: dict[str, Any]) -> dict[str, Any]:
    """Return a wanted Job as an earlier version has composed it."""
    del body["spec"]["forProvider"]["manifest"]["spec"]["template"]["spec"]["initContainers"]
    return body


def test_a_download_that_an_earlier_version_began_ends_staged_without_a_commit() -> None:
    body = given.cache()
    seen = given.observed(given.passes(body, 3, pods=[]), job=given.ended("Complete"))
    (job,) = [name for name in seen if name.startswith("hydration-")]
    seen[job] = without_report(seen[job])
    row = given.rows(given.run(body, seen, pods=[]))["eu-1"]
    assert (row["phase"], row["volume"].keys()) == ("Ready", {"name", "uid"})


def test_what_an_earlier_version_has_staged_is_not_downloaded_again() -> None:
    body, seen = given.staged()
    body["status"] = {"clusters": [{**row, "volume": {"name": row["volume"]["name"], "uid": row["volume"]["uid"]}}
                                   for row in body["status"]["clusters"]]}  # fmt: skip
    result = given.run(body, seen, pods=[])
    assert given.rows(result)["eu-1"]["phase"] == "Ready"
    assert given.named(result, "Job") == []


@pytest.mark.parametrize("message", ["", "main", "g" * 40, f"{given.COMMIT} {given.COMMIT}"])
def test_a_report_that_is_no_commit_is_none(message: str) -> None:
    result = given.passes(given.cache(), 3, pods=[given.reporting(message)])
    assert "commit" not in (result.status or {})


def test_of_the_reports_of_one_claim_the_latest_counts() -> None:
    earlier, later = "2026-01-02T03:04:05Z", "2026-01-02T04:00:00Z"
    pods = [given.reporting(given.COMMIT, at=later), given.reporting(OTHER, at=earlier)]
    result = given.passes(given.cache(), 3, pods=pods)
    assert (result.status or {})["commit"] == given.COMMIT
