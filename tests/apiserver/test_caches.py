"""All that a cache composes while it is staged is what a real API server takes, and so is each status it has."""

from collections.abc import Iterator
from typing import Any

import pytest

from apiserver.server import Server
from golden import read_documents
from unit.compose_cache import caches


def stages(case: str) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the cache with its status, and what it composes, at each pass from nothing to staged."""
    (body,) = read_documents(caches.CASES[case])
    clusters = caches.clusters(case)
    for passes in range(1, 5):
        job = caches.ended("Complete") if passes > 3 else {"active": 1}
        yield body, caches.passes(dict(body), passes, clusters=clusters, token=[caches.token()], job=job)


@pytest.mark.parametrize("case", caches.CASES)
def test_what_a_cache_composes_is_taken_on_both_clusters(server: Server, case: str) -> None:
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


@pytest.mark.parametrize("case", caches.CASES)
def test_every_status_of_a_cache_is_one_that_its_definition_declares(server: Server, case: str) -> None:
    reported = [body | {"status": result.status} for body, result in stages(case)]
    assert len({row["phase"] for each in reported for row in each["status"]["clusters"]}) >= 3
    assert [server.refusal_of_status(each) for each in reported] == [""] * len(reported)


def test_a_job_that_is_deleted_without_a_word_takes_its_pods_along(server: Server) -> None:
    (body,) = read_documents(caches.CASES["one"])
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
