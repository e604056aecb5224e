"""A changed source is a new volume beside the old, which goes when no replica may mount it; sizes only grow."""

from typing import Any

import pytest

from modelplane.step import Result
from unit.compose_cache import caches as given

OTHER = {**given.SOURCE, "revision": "v2"}


def changed() -> tuple[dict[str, Any], dict[str, Any], str]:
    """Return a staged cache that was given another source, what is observed of it, and the name of its volume."""
    body, seen = given.staged()
    old = body["status"]["clusters"][0]["volume"]["name"]
    body["spec"]["huggingFace"] = dict(OTHER)
    return body, seen, old


def names(result: Any) -> set[str]:
    found = given.named(result, "PersistentVolumeClaim")
    return {given.manifest(result, resource)["metadata"]["name"] for resource in found}


def test_the_old_volume_stays_published_until_the_new_one_is_filled() -> None:
    body, seen, old = changed()
    for phase in ("Pending", "Hydrating", "Hydrating"):
        result = given.run(body, seen)
        row = given.rows(result)["eu-1"]
        assert (row["phase"], row["volume"]["name"]) == (phase, old)
        assert old in names(result)
        body["status"], seen = dict(result.status or {}), given.observed(result)
    result = given.run(body, given.observed(result, job=given.ended("Complete")))
    row = given.rows(result)["eu-1"]
    assert row["phase"] == "Ready"
    assert row["volume"]["name"] != old
    assert old in names(result)


REPLICAS: dict[str, tuple[list[dict[str, Any]] | None, bool]] = {
    "not known": (None, True),
    "no replica": ([], False),
    "one that mounts it": ([given.replica("r", "OLD")], True),
    "one that moves": ([given.replica("r", "OLD", "new")], True),
    "one that mounts another": ([given.replica("r", "new")], False),
    "one that was begun and has recorded none": ([given.replica("r")], True),
    "one that waits": ([given.replica("r", begun=False)], False),
    "one on another cluster": ([given.replica("r", "OLD", on="us-1")], False),
    "one of another cache that still mounts it": ([given.replica("r", "OLD", uses="other")], True),
    "one of another cache": ([given.replica("r", uses="other")], False),
}


def settled() -> tuple[dict[str, Any], dict[str, Any], str]:
    """Return a cache whose new source is staged and published, and what is observed of it while the old one stays."""
    body, seen, old = changed()
    keep = [given.replica("r", old)]
    result = given.passes(body, 4, seen, job=given.ended("Complete"), replicas=keep)
    return body, given.observed(result), old


@pytest.mark.parametrize(("replicas", "stays"), REPLICAS.values(), ids=REPLICAS)
def test_the_old_volume_goes_when_no_replica_may_mount_it(replicas: list[dict[str, Any]] | None, stays: bool) -> None:
    body, seen, old = settled()
    for replica in replicas or []:
        volumes = replica["status"].get("volumes", [])
        replica["status"] |= {"volumes": [old if each == "OLD" else each for each in volumes]} if volumes else {}
    result = given.run(body, seen, replicas=replicas)
    assert (old in names(result)) is stays
    assert given.rows(result)["eu-1"]["phase"] == "Ready"
    if stays and replicas:
        assert f"{old} is kept while ModelReplica r" in given.condition(result).message


def test_what_was_published_a_moment_ago_stays_a_pass_longer() -> None:
    body, seen, old = changed()
    kept = given.passes(body, 3, seen, replicas=[])
    ready = given.run(body, given.observed(kept, job=given.ended("Complete")))
    assert old in names(ready)
    body["status"] = dict(ready.status or {})
    assert old not in names(given.run(body, given.observed(ready, job=given.ended("Complete"))))


def test_a_volume_that_was_never_filled_goes_when_the_source_changes_again() -> None:
    body, seen, old = changed()
    between = given.passes(body, 2, seen)
    (unfilled,) = names(between) - {old}
    body["spec"]["huggingFace"] = {**OTHER, "revision": "v3"}
    result = given.run(body, given.observed(between))
    assert old in names(result)
    assert unfilled not in names(result)


def test_a_change_that_is_taken_back_finds_its_volume_filled() -> None:
    body, seen, old = changed()
    between = given.passes(body, 2, seen)
    body["spec"]["huggingFace"] = dict(given.SOURCE)
    result = given.run(body, given.observed(between))
    assert given.rows(result)["eu-1"]["phase"] == "Ready"
    assert names(result) == {old}
    assert given.named(result, "Job") == []


@pytest.mark.parametrize(("asked", "size", "refused"), [(80, "80Gi", False), (40, "40Gi", False), (20, "40Gi", True)])
def test_a_volume_grows_and_never_shrinks(asked: int, size: str, refused: bool) -> None:
    body, seen = given.staged()
    body["spec"]["huggingFace"]["sizeGiB"] = asked
    result = given.run(body, seen)
    (claim,) = given.named(result, "PersistentVolumeClaim")
    assert given.manifest(result, claim)["spec"]["resources"]["requests"]["storage"] == size
    row = given.rows(result)["eu-1"]
    assert row["phase"] == "Ready"
    assert ("cannot shrink" in row.get("message", "")) is refused


#: The size a claim asks for on its cluster, what its Object asks for, what is asked for now, and what comes of it.
SIZES = {
    "a growth that is under way": ("40Gi", "80Gi", 80, "80Gi"),
    "a growth that the cluster refuses, taken back": ("40Gi", "80Gi", 40, "40Gi"),
    "a growth that was carried out, taken back": ("80Gi", "80Gi", 40, "80Gi"),
    "a size as the server writes it": ("1Ti", "1024Gi", 1000, "1024Gi"),
    "a size that cannot be read": ("much", "40Gi", 20, "40Gi"),
}


@pytest.mark.parametrize(("held", "wanted", "asked", "size"), SIZES.values(), ids=SIZES)
def test_only_what_the_cluster_has_taken_cannot_be_taken_back(held: str, wanted: str, asked: int, size: str) -> None:
    body, seen = given.staged()
    body["spec"]["huggingFace"]["sizeGiB"] = asked
    (found,) = [found for name, found in seen.items() if name.startswith("volume-")]
    found["spec"]["forProvider"]["manifest"]["spec"]["resources"]["requests"]["storage"] = wanted
    found["status"]["atProvider"]["manifest"]["spec"]["resources"]["requests"]["storage"] = held
    result = given.run(body, seen)
    (claim,) = given.named(result, "PersistentVolumeClaim")
    assert given.manifest(result, claim)["spec"]["resources"]["requests"]["storage"] == size


#: How the claim stands, the class that its cluster names now, and whether it stays.
CLASSES: dict[str, tuple[dict[str, Any], str, bool]] = {
    "a volume": ({"phase": "Bound"}, "other", True),
    "no volume, of the same class": ({"phase": "Pending"}, "rwx", True),
    "no volume, of no class now": ({"phase": "Pending"}, "", True),
    "no volume, of another class now": ({"phase": "Pending"}, "other", False),
    "no word of it": ({}, "other", True),
}


@pytest.mark.parametrize(("status", "storage", "stays"), CLASSES.values(), ids=CLASSES)
def test_a_claim_that_waits_in_vain_gives_way_to_one_of_the_class_that_its_cluster_names_now(
    status: dict[str, Any], storage: str, stays: bool
) -> None:
    body, clusters = given.cache(), [given.cluster(storage=storage)]
    seen = given.observed(given.passes(body, 3))
    (claim,) = [name for name in seen if name.startswith("volume-")]
    seen[claim]["status"]["atProvider"]["manifest"]["status"] = status
    result = given.run(body, seen, clusters=clusters)
    assert bool(names(result)) is bool(given.named(result, "Job")) is stays
    assert claim in given.run(body, seen, clusters=clusters, replicas=None).desired
    if not stays:
        assert "is Pending with storage class rwx" in given.rows(result)["eu-1"]["message"]
        made = given.run(body, given.observed(result), clusters=clusters)
        assert given.manifest(made, claim)["spec"]["storageClassName"] == "other"


def test_a_claim_that_may_be_mounted_never_gives_way() -> None:
    body, seen = given.staged()
    (claim,) = [name for name in seen if name.startswith("volume-")]
    volume = body["status"]["clusters"][0]["volume"]["name"]
    seen[claim]["status"]["atProvider"]["manifest"]["status"]["phase"] = "Pending"
    clusters = [given.cluster(storage="other")]
    assert claim in given.run(body, seen, clusters=clusters).desired
    del body["status"]
    assert claim in given.run(body, seen, clusters=clusters, replicas=[given.replica("r", volume)]).desired
    assert claim not in given.run(body, seen, clusters=clusters).desired


@pytest.mark.parametrize("clusters", [[], [given.cluster(deletionTimestamp=given.SEEN_AT)]])
def test_a_cluster_that_is_not_selected_any_more_loses_its_volume_once_no_replica_may_mount_it(clusters: Any) -> None:
    body, seen = given.staged()
    first = given.run(body, seen, clusters=clusters, replicas=[])
    assert given.rows(first) == {}
    assert len(names(first)) == 1
    body["status"] = dict(first.status or {})
    assert names(given.run(body, given.observed(first), clusters=clusters, replicas=[])) == set()


def test_on_an_abandoned_cluster_the_volume_is_orphaned_before_its_object_goes() -> None:
    body, seen = given.staged()
    gone = [given.cluster(deletionTimestamp=given.SEEN_AT, annotations={"modelplane.ai/abandon": "true"})]
    body["status"] = {}
    first = given.run(body, seen, clusters=gone, replicas=[])
    (claim,) = given.named(first, "PersistentVolumeClaim")
    assert "Delete" not in first.desired[claim].build()["spec"]["managementPolicies"]
    assert given.run(body, given.observed(first), clusters=gone, replicas=[]).desired == {}


ABANDONED: dict[str, Any] = {"annotations": {"modelplane.ai/abandon": "true"}}


def test_a_download_on_a_cluster_that_is_abandoned_and_deleted_at_once_is_orphaned_before_its_objects_go() -> None:
    body = given.cache({"authSecret": given.SECRET})
    running = given.passes(body, 3)
    gone = [given.cluster(deletionTimestamp=given.SEEN_AT, **ABANDONED)]
    first = given.run(body, given.observed(running), clusters=gone)
    assert sorted(given.kinds(first).values()) == ["Job", "PersistentVolumeClaim", "Secret"]
    assert not any("Delete" in each.build()["spec"]["managementPolicies"] for each in first.desired.values())
    body["status"] = dict(first.status or {})
    assert given.run(body, given.observed(first), clusters=gone).desired == {}


def test_a_volume_on_a_cluster_that_is_not_selected_any_more_is_orphaned_only_while_that_is_abandoned() -> None:
    body, seen = given.staged()
    (claim,) = [name for name in seen if name.startswith("volume-")]
    name = seen[claim]["spec"]["forProvider"]["manifest"]["metadata"]["name"]
    for cluster, policies in ((given.cluster(**ABANDONED), ["Observe", "Create", "Update"]), (given.cluster(), None)):
        answers = {"clusters": [], "cluster-eu-1": [cluster], "replicas": [given.replica("r", name)]}
        result = given.run(body, seen, **answers)
        assert "cluster-eu-1" in [asked.name for asked in result.requirements]
        assert result.desired[claim].build()["spec"].get("managementPolicies") == policies
        body["status"], seen = dict(result.status or {}), given.observed(result)


def test_a_cluster_that_is_not_given_up_any_more_keeps_nothing_of_a_download_when_it_ends() -> None:
    body = given.cache({"authSecret": given.SECRET})
    left = given.passes(body, 3, clusters=[given.cluster(**ABANDONED)])
    after = given.run(body, given.observed(left), token=[])
    handled = {
        given.manifest(after, name)["kind"]: desired.build()["spec"].get("managementPolicies")
        for name, desired in after.desired.items()
        if not name.startswith("pods-")
    }
    keep = ["Observe", "Create"]
    assert handled == {"Job": None, "Namespace": keep, "PersistentVolumeClaim": None, "Secret": None}


def test_replicas_are_asked_for_only_while_a_volume_could_go() -> None:
    body, seen = given.staged()
    assert [asked.kind for asked in given.run(body, seen).requirements] == ["InferenceCluster"]
    body, seen, _ = settled()
    asked = given.run(body, seen).requirements
    assert [(each.kind, each.namespace) for each in asked] == [("InferenceCluster", None), ("ModelReplica", "team")]


def test_of_two_inferenceclusters_of_one_cluster_one_deletes_the_volume_and_the_other_takes_that_over() -> None:
    both = [given.cluster(name) for name in ("eu-1", "eu-2")]
    for each, other in zip(both, ("eu-2", "eu-1"), strict=True):
        each["status"]["sharedWith"] = [other]
    body = given.cache()

    def deleting(result: Result) -> set[str]:
        """Return the clusters whose Object of the volume would delete it."""
        claims = [result.desired[name].build()["spec"] for name in given.named(result, "PersistentVolumeClaim")]
        able = (spec for spec in claims if {"*", "Delete"} & set(spec.get("managementPolicies", "*")))
        return {spec["providerConfigRef"]["name"] for spec in able}

    staged = given.passes(body, 3, clusters=both)
    assert deleting(staged) == {"eu-1"}
    gone = [{**both[0], "metadata": {"name": "eu-1", "deletionTimestamp": given.SEEN_AT}}, both[1]]
    for _ in range(3):
        body["status"] = dict(staged.status or {})
        staged = given.run(body, given.observed(staged), clusters=gone)
        assert deleting(staged) == {"eu-2"}
    claims = [staged.desired[name].build() for name in given.named(staged, "PersistentVolumeClaim")]
    assert [claim["spec"]["providerConfigRef"]["name"] for claim in claims] == ["eu-2"]
