"""Whatever happens to a cache's inputs, its volumes stay, and the reason is given."""

import copy
from typing import Any

import pytest

from modelplane.model.conditions import Status
from unit.compose_cache import caches as given


def volumes(result: Any) -> dict[str, Any]:
    """Return what the Objects of the volumes ask for."""
    return {name: given.manifest(result, name)["spec"] for name in given.named(result, "PersistentVolumeClaim")}


def claim(seen: dict[str, Any]) -> str:
    return next(name for name in seen if name.startswith("volume-"))


def without(body: dict[str, Any], *path: str) -> dict[str, Any]:
    found = copy.deepcopy(body)
    inner = found
    for part in path[:-1]:
        inner = inner[part]
    inner.pop(path[-1])
    return found


CLUSTERS: dict[str, Any] = {
    "not fetched": None,
    "without status": [without(given.cluster(), "status")],
    "without a config": [without(given.cluster(), "status", "providerConfigRef")],
    "malformed status": [given.cluster() | {"status": "none"}],
    "without a storage class": [given.cluster(storage="")],
    "with another storage class": [given.cluster(storage="other")],
    "malformed storage class": [given.cluster() | {"status": {"cache": "rwx"}}],
    "being deleted": [given.cluster(deletionTimestamp="2026-01-01T00:00:00Z")],
    "absent": [],
}


@pytest.mark.parametrize("clusters", CLUSTERS.values(), ids=CLUSTERS)
def test_whatever_becomes_of_a_cluster_a_mounted_volume_stays_as_it_is(clusters: Any) -> None:
    body, seen = given.staged()
    name = seen[claim(seen)]["spec"]["forProvider"]["manifest"]["metadata"]["name"]
    for _ in range(3):
        result = given.run(body, seen, clusters=clusters, replicas=[given.replica("r", name)])
        kept = {claim(seen): seen[claim(seen)]["spec"]["forProvider"]["manifest"]["spec"]}
        assert volumes(result) == kept
        body["status"], seen = dict(result.status or {}), given.observed(result)


@pytest.mark.parametrize("clusters", [CLUSTERS[name] for name in CLUSTERS if name not in ("absent", "being deleted")])
def test_a_selected_cluster_keeps_a_volume_that_no_replica_mounts(clusters: Any) -> None:
    body, seen = given.staged()
    result = given.run(body, seen, clusters=clusters)
    assert list(volumes(result)) == [claim(seen)]
    assert given.rows(result)["eu-1"]["phase"] == "Ready"


@pytest.mark.parametrize("clusters", [CLUSTERS[name] for name in CLUSTERS if name not in ("absent", "being deleted")])
def test_whatever_a_cluster_publishes_a_download_that_is_under_way_goes_on(clusters: Any) -> None:
    body = given.cache({"authSecret": given.SECRET})
    running = given.passes(body, 3)
    seen = given.observed(running)
    after = given.run(body, seen, clusters=clusters)
    assert {name: desired.build()["spec"] for name, desired in after.desired.items()} == {
        name: found["spec"] for name, found in seen.items()
    }
    assert given.rows(after)["eu-1"]["phase"] == "Hydrating"


SPECS: dict[str, tuple[Any, str]] = {
    "no spec": (None, "spec"),
    "no source": ({"huggingFace": given.SOURCE}, "spec.source"),
    "no block": ({"source": "HuggingFace"}, "spec.huggingFace"),
    "no repository": ({"source": "HuggingFace", "huggingFace": {"sizeGiB": 1}}, "spec.huggingFace.repo"),
    "a size as text": (
        {"source": "HuggingFace", "huggingFace": {"repo": "a/b", "sizeGiB": "1"}},
        "spec.huggingFace.sizeGiB",
    ),
    "a malformed selector": (
        {"source": "HuggingFace", "huggingFace": given.SOURCE, "clusterSelector": {"matchLabels": {"a": 1}}},
        "spec.clusterSelector.matchLabels",
    ),
}


@pytest.mark.parametrize(("spec", "field"), SPECS.values(), ids=SPECS)
def test_a_malformed_spec_keeps_all_and_names_the_field(spec: Any, field: str) -> None:
    body, seen = given.staged()
    result = given.run({**body, "spec": spec}, seen)
    assert result.desired.keys() == seen.keys()
    assert result.status == body["status"]
    artifact = given.condition(result)
    assert (artifact.status, artifact.reason) == (Status.FALSE, "Failed")
    assert field in artifact.message
    assert "Existing resources are unchanged." in artifact.message


SECRETS: dict[str, Any] = {"not fetched": None, "absent": [], "edited": [given.secret("2")]}


@pytest.mark.parametrize("token", SECRETS.values(), ids=SECRETS)
def test_whatever_becomes_of_the_token_a_staged_cache_is_ready(token: Any) -> None:
    body, seen = given.staged({"authSecret": given.SECRET})
    result = given.run(body, seen, token=token)
    assert volumes(result).keys() == {claim(seen)}
    assert given.condition(result).reason == "Staged"


@pytest.mark.parametrize("token", SECRETS.values(), ids=SECRETS)
def test_whatever_becomes_of_the_token_a_download_goes_on(token: Any) -> None:
    body = given.cache({"authSecret": given.SECRET})
    running = given.passes(body, 3)
    after = given.run(body, given.observed(running), token=token)
    assert after.desired.keys() == running.desired.keys()
    assert given.rows(after)["eu-1"]["phase"] == "Hydrating"


def gone(found: dict[str, Any]) -> None:
    del found["status"]["atProvider"]


def unreachable(found: dict[str, Any]) -> None:
    found["status"]["conditions"][0] |= {"status": "False", "message": "no route to host"}


def lost(found: dict[str, Any]) -> None:
    found["status"]["atProvider"]["manifest"]["status"]["phase"] = "Lost"


def deleted(found: dict[str, Any]) -> None:
    found["status"]["atProvider"]["manifest"]["metadata"]["deletionTimestamp"] = given.SEEN_AT


def half_written(found: dict[str, Any]) -> None:
    found["spec"]["forProvider"]["manifest"] = {}


def malformed(found: dict[str, Any]) -> None:
    found["status"] = "none"


OBJECTS: dict[str, tuple[Any, str]] = {
    "not seen yet": (gone, "Pending"),
    "on a cluster that does not answer": (unreachable, "Ready"),
    "lost": (lost, "Pending"),
    "being deleted on the cluster": (deleted, "Pending"),
    "half-written": (half_written, "Ready"),
    "malformed": (malformed, "Pending"),
}


@pytest.mark.parametrize(("change", "phase"), OBJECTS.values(), ids=OBJECTS)
def test_whatever_a_volume_looks_like_it_is_composed_and_reported(change: Any, phase: str) -> None:
    body, seen = given.staged()
    change(seen[claim(seen)])
    result = given.run(body, seen)
    assert claim(seen) in result.desired
    assert given.rows(result)["eu-1"]["phase"] == phase
    assert given.rows(result)["eu-1"]["volume"] == body["status"]["clusters"][0]["volume"]


def test_a_claim_that_has_lost_its_volume_is_reported_with_the_way_out() -> None:
    body, seen = given.staged()
    lost(seen[claim(seen)])
    shown = given.rows(given.run(body, seen))["eu-1"]["message"]
    assert "is Lost: its data is gone. Delete it on the cluster: it is then created and filled again." in shown


def test_a_claim_that_was_made_anew_is_filled_anew_before_it_is_ready() -> None:
    body, seen = given.staged()
    seen[claim(seen)]["status"]["atProvider"]["manifest"]["metadata"]["uid"] = "u-2"
    result = given.run(body, seen)
    assert given.rows(result)["eu-1"]["phase"] == "Hydrating"
    assert len(given.named(result, "Job")) == 1


def test_a_job_that_filled_an_older_claim_says_nothing_of_a_new_one() -> None:
    body = given.cache()
    done = given.observed(given.passes(body, 2), job=given.ended("Complete"))
    done[claim(done)]["status"]["atProvider"]["manifest"]["metadata"]["uid"] = "u-2"
    result = given.run(body, done)
    assert given.rows(result)["eu-1"]["phase"] == "Hydrating"


def test_a_lost_status_is_regained_by_looking_again() -> None:
    body, seen = given.staged()
    del body["status"]
    result = given.run(body, seen)
    assert given.rows(result)["eu-1"]["phase"] == "Hydrating"
    after = given.run(body, given.observed(result, job=given.ended("Complete")))
    assert given.rows(after)["eu-1"]["phase"] == "Ready"
