"""All that a cache composes while it is staged is what a real API server takes, and so is each status it has."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from apiserver.server import Server
from modelplane_dev.folders import ROOT
from unit.compose_cache import caches

GOLDEN = ROOT / "tests" / "unit" / "compose_cache" / "golden"
CASES = sorted(GOLDEN.glob("*.cache.yaml"))


def stages(case: Path) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the cache with its status, and what it composes, at each pass from nothing to staged."""
    body = yaml.safe_load(case.read_text())
    clusters = caches.clusters(case.name.partition(".")[0])
    for passes in range(1, 5):
        job = caches.ended("Complete") if passes > 3 else {"active": 1}
        yield body, caches.passes(dict(body), passes, clusters=clusters, token=[caches.token()], job=job)


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name.partition(".")[0])
def test_what_a_cache_composes_is_taken_on_both_clusters(server: Server, case: Path) -> None:
    refused: dict[str, str] = {}
    kinds = set()
    for body, result in stages(case):
        team = body["metadata"]["namespace"]
        for resource, desired in result.desired.items():
            made = desired.build()
            kinds.add(made["kind"])
            named = {**made, "metadata": {"name": "composed", **made["metadata"], "namespace": team}}
            refused[f"here: {resource}"] = server.refusal(named)
        for resource, kind in caches.kinds(result).items():
            kinds.add(kind)
            manifest = caches.manifest(result, resource)
            if kind != "Namespace":
                refused[f"on the cluster: {resource}"] = server.refusal(manifest)
    assert kinds >= {"Object", "ObservedObjectCollection", "PersistentVolumeClaim", "Job", "Namespace"}
    assert {name: words for name, words in refused.items() if words} == {}


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name.partition(".")[0])
def test_every_status_of_a_cache_is_one_that_its_definition_declares(server: Server, case: Path) -> None:
    reported = [body | {"status": result.status} for body, result in stages(case)]
    assert len({row["phase"] for each in reported for row in each["status"]["clusters"]}) >= 3
    assert [server.refusal_of_status(each) for each in reported] == [""] * len(reported)


def test_a_job_that_is_deleted_without_a_word_takes_its_pods_along(server: Server) -> None:
    body = yaml.safe_load(CASES[0].read_text())
    result = caches.passes(body, 2, clusters=caches.clusters("one"))
    (resource,) = caches.named(result, "Job")
    job = caches.manifest(result, resource)
    path = f"/apis/batch/v1/namespaces/{job['metadata']['namespace']}/jobs/{job['metadata']['name']}"
    server.cluster.api.apply(job)
    server.cluster.api.request("DELETE", path)
    left = server.cluster.api.request("GET", path)["metadata"]
    let_go: dict[str, Any] = {"metadata": {"finalizers": []}}
    server.cluster.api.request("PATCH", path, let_go, "application/merge-patch+json")
    # What waits for the garbage collector: the pods to be deleted, not to be let go of ("orphan").
    assert (left["finalizers"], "deletionTimestamp" in left) == (["foregroundDeletion"], True)
