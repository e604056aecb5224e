"""A cache becomes a volume on each cluster that it selects, a Job that fills it, and words that say how far that is."""

from typing import Any

import pytest

from modelplane.runtime.step import AWAITING, SETTLED, Status
from unit.compose_cache import caches as given


def job(result: Any) -> dict[str, Any]:
    (resource,) = given.named(result, "Job")
    return given.manifest(result, resource)


def test_the_volume_comes_first_then_what_fills_it_and_a_filled_volume_stands_alone() -> None:
    body, seen = given.cache({"authSecret": given.SECRET}), []
    result = given.run(body)
    for _ in range(4):
        seen.append((sorted(given.kinds(result).values()), given.rows(result)["eu-1"]["phase"]))
        body["status"] = dict(result.status or {})
        result = given.run(body, given.observed(result, job=given.ended("Complete")))
    claim, filling = ["Namespace", "PersistentVolumeClaim"], ["Job", "Namespace", "PersistentVolumeClaim", "Secret"]
    assert seen == [(claim, "Pending"), (filling, "Hydrating"), (filling, "Ready"), (claim, "Ready")]


def test_the_claim_is_one_that_all_nodes_mount_of_the_clusters_class_and_the_asked_size() -> None:
    result = given.run(given.cache())
    (resource,) = given.named(result, "PersistentVolumeClaim")
    body = result.desired[resource].build()
    claim = given.manifest(result, resource)
    assert claim["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "storageClassName": "rwx",
        "resources": {"requests": {"storage": "40Gi"}},
    }
    assert claim["metadata"]["namespace"] == "mp-team"
    assert "phase == 'Bound'" in body["spec"]["readiness"]["celQuery"]
    assert body["spec"]["references"][0]["dependsOn"]["kind"] == "InferenceCluster"


@pytest.mark.parametrize(
    "source", [{"repo": "org/other"}, {"revision": "v2"}, {"repo": "org", "revision": "model/main"}]
)
def test_another_repository_or_revision_is_another_volume(source: dict[str, Any]) -> None:
    one, other = (given.named(given.run(given.cache(each)), "PersistentVolumeClaim") for each in ({}, source))
    assert one != other


def test_another_size_is_the_same_volume() -> None:
    one, other = (given.named(given.run(given.cache({"sizeGiB": n})), "PersistentVolumeClaim") for n in (40, 41))
    assert one == other


def test_the_source_reaches_the_program_as_arguments_and_the_token_through_its_environment() -> None:
    result = given.passes(given.cache({"repo": "org/a$(b)", "authSecret": {"name": "hub", "key": "k.1"}}), 2)
    (container,) = job(result)["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["modelplane", "hydrate"]
    assert set(container["args"]) == {"--repo=org/a$(b)", "--revision=main", "--target=/mnt/models"}
    (secret,) = given.named(result, "Secret")
    name = given.manifest(result, secret)["metadata"]["name"]
    token = {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": name, "key": "k.1"}}}
    assert container["env"] == [token]


def test_only_the_named_key_of_the_token_is_copied_and_by_reference() -> None:
    result = given.passes(given.cache({"authSecret": {"name": "hub", "key": "k.1"}}), 2)
    (resource,) = given.named(result, "Secret")
    copy = result.desired[resource].build()["spec"]
    assert copy["references"][0] == {
        "patchesFrom": {
            "apiVersion": "v1",
            "kind": "Secret",
            "name": "hub",
            "namespace": "team",
            "fieldPath": "data[k.1]",
        },
        "toFieldPath": "data[k.1]",
    }
    assert given.manifest(result, resource)["metadata"]["name"] != "hub"
    assert not {"data", "stringData"} & given.manifest(result, resource).keys()


def test_a_default_branch_is_not_named_to_the_program() -> None:
    body = given.cache()
    del body["spec"]["huggingFace"]["revision"]
    (container,) = job(given.passes(body, 2))["spec"]["template"]["spec"]["containers"]
    assert [arg for arg in container["args"] if arg.startswith("--revision")] == []


def test_the_image_is_the_one_that_the_installation_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELPLANE_IMAGE", "example.org/modelplane:v9")
    (container,) = job(given.passes(given.cache(), 2))["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "example.org/modelplane:v9"


def test_a_job_that_is_done_with_stays_for_kubernetes_to_remove_with_its_pods() -> None:
    result = given.passes(given.cache(), 2)
    (resource,) = given.named(result, "Job")
    assert "Delete" not in result.desired[resource].build()["spec"]["managementPolicies"]
    assert job(result)["spec"]["ttlSecondsAfterFinished"] > 0


def test_a_job_that_runs_is_not_touched_by_edits_of_the_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    body = given.cache()
    running = given.passes(body, 3)
    monkeypatch.setenv("MODELPLANE_IMAGE", "example.org/modelplane:v9")
    after = given.run(body, given.observed(running))
    assert job(after) == job(running)


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


def test_a_failed_job_is_replaced_once_its_token_is_another() -> None:
    body = given.cache({"authSecret": given.SECRET})
    failed = given.observed(given.passes(body, 3, job=FAILED), job=FAILED)
    same, other = (job(given.run(body, failed, token=[given.secret(version)])) for version in ("1", "2"))
    (before,) = [each for each in failed.values() if each["spec"]["forProvider"]["manifest"]["kind"] == "Job"]
    name = before["spec"]["forProvider"]["manifest"]["metadata"]["name"]
    assert same["metadata"]["name"] == name
    assert other["metadata"]["name"] != name


STATES: dict[str, tuple[Any, str]] = {
    "starting": ({}, "is starting"),
    "running": ({"active": 1}, "downloads"),
    "running again": ({"active": 1, "failed": 2}, "after 2 that broke off"),
}


@pytest.mark.parametrize(("state", "words"), STATES.values(), ids=STATES)
def test_a_job_under_way_is_told(state: Any, words: str) -> None:
    result = given.passes(given.cache(), 3, job=state)
    row = given.rows(result)["eu-1"]
    assert row["phase"] == "Hydrating"
    assert words in row["message"]
    assert result.ttl == AWAITING


def test_the_status_counts_every_selected_cluster_and_is_ready_when_all_are_staged() -> None:
    body = given.cache()
    clusters = [given.cluster("b"), given.cluster("a"), given.cluster("c", storage="")]
    result = given.passes(body, 4, clusters=clusters, job=given.ended("Complete"))
    assert [row["name"] for row in (result.status or {})["clusters"]] == ["a", "b", "c"]
    assert (result.status or {})["summary"] == {"ready": "2/3"}
    assert (given.condition(result).reason, given.condition(result, "ClustersMatched").reason) == ("Partial", "Matched")
    result = given.passes(body, 4, clusters=clusters[:2], job=given.ended("Complete"))
    assert (result.status or {})["summary"] == {"ready": "2/2"}
    assert (given.condition(result).status, given.condition(result).reason) == (Status.TRUE, "Staged")
    assert (result.ready, result.ttl) == (True, SETTLED)


def test_a_cluster_without_a_storage_class_waits_and_names_the_remedy() -> None:
    result = given.run(given.cache(), clusters=[given.cluster(storage="")])
    assert result.desired == {}
    assert "spec.cluster.existing.cache.storageClassName" in given.rows(result)["eu-1"]["message"]


def test_no_cluster_is_told() -> None:
    result = given.run(given.cache(), clusters=[])
    assert {(found.status, found.reason) for found in result.conditions} == {(Status.FALSE, "NoClusters")}
    assert (result.status or {})["summary"] == {"ready": "0/0"}


def test_a_missing_secret_holds_the_download_and_is_told() -> None:
    result = given.passes(given.cache({"authSecret": given.SECRET}), 3, token=[])
    assert sorted(given.kinds(result).values()) == ["Namespace", "PersistentVolumeClaim"]
    assert given.condition(result).reason == "AuthSecretMissing"
    assert "Secret hub does not exist in namespace team" in given.condition(result).message


def test_a_key_that_the_secret_lacks_is_told_in_the_providers_words() -> None:
    body = given.cache({"authSecret": given.SECRET})
    seen = given.observed(given.passes(body, 2), job={})
    for found in seen.values():
        kind = found["spec"]["forProvider"]["manifest"]["kind"]
        if kind in ("Secret", "Job"):
            found["status"] = {"conditions": [{"type": "Synced", "status": "False", "message": "no such field"}]}
    result = given.run(body, seen)
    assert given.condition(result).reason == "AuthSecretMissing"
    assert "no such field" in given.condition(result).message
