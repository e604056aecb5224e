"""A cache becomes a volume on each cluster that it selects, a Job that fills it, and words that say how far that is."""

from typing import Any

import pytest

from modelplane.model.conditions import Status
from modelplane.step import SETTLED
from unit.compose_cache import caches as given


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


def test_no_cluster_is_reported() -> None:
    result = given.run(given.cache(), clusters=[])
    assert {(found.status, found.reason) for found in result.conditions} == {(Status.FALSE, "NoClusters")}
    assert (result.status or {})["summary"] == {"ready": "0/0"}
    assert "no InferenceCluster matches spec.clusterSelector. Add one" in given.condition(result).message


def test_a_missing_secret_holds_the_download_and_is_reported() -> None:
    result = given.passes(given.cache({"authSecret": given.SECRET}), 3, token=[])
    assert sorted(given.kinds(result).values()) == ["Namespace", "PersistentVolumeClaim"]
    assert given.rows(result)["eu-1"]["phase"] == "Hydrating"
    assert given.condition(result).reason == "AuthSecretMissing"
    words = "Secret team/hub does not exist. Create it with the token under key HF_TOKEN."
    assert words in given.condition(result).message


def test_a_key_that_the_secret_lacks_is_reported_in_the_providers_words() -> None:
    body = given.cache({"authSecret": given.SECRET})
    seen = given.observed(given.passes(body, 2), job={})
    for found in seen.values():
        kind = found["spec"]["forProvider"]["manifest"]["kind"]
        if kind in ("Secret", "Job"):
            found["status"] = {"conditions": [{"type": "Synced", "status": "False", "message": "no such field"}]}
    result = given.run(body, seen)
    assert given.condition(result).reason == "AuthSecretMissing"
    text_found = given.condition(result).message
    assert "Secret team/hub has no token under key HF_TOKEN: not in sync: no such field" in text_found


def test_a_claim_without_a_volume_says_of_which_class_it_waits_for_one() -> None:
    body = given.cache()
    seen = given.observed(given.run(body))
    (claim,) = [found for name, found in seen.items() if name.startswith("volume-")]
    claim["status"]["atProvider"]["manifest"]["status"] = {"phase": "Pending"}
    row = given.rows(given.run(body, seen))["eu-1"]
    assert row["phase"] == "Pending"
    assert "of storage class rwx is Pending. See its events on the cluster." in row["message"]


def test_a_namespace_whose_mirrored_name_could_be_anothers_is_claimed_before_anything_is_staged_there() -> None:
    body = given.cache()
    body["metadata"]["namespace"] = team = "n" * 62
    first = given.run(body)
    assert list(first.desired) == ["namespace-eu-1"]
    assert first.desired["namespace-eu-1"].build()["spec"]["managementPolicies"] == ["Observe", "Create"]
    assert given.rows(first)["eu-1"]["message"].endswith("of the cluster is not seen yet.")
    seen = given.observed(first)
    assert len(given.run(body, seen).desired) > 1
    labels = seen["namespace-eu-1"]["status"]["atProvider"]["manifest"]["metadata"]["labels"]
    assert labels["modelplane.ai/namespace"] == team
    labels["modelplane.ai/namespace"] = "m" * 62
    assert list(given.run(body, seen).desired) == ["namespace-eu-1"]
