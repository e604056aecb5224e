"""Caches beside what they put on a cluster while it is filled, and what they say of all their clusters by then."""

import pytest

from golden import Golden, read_documents
from unit.compose_cache import caches as given


@pytest.mark.parametrize("case", given.CASES)
def test_a_cache_becomes_these_manifests_on_each_cluster_and_says_this_meanwhile(case: str, golden: Golden) -> None:
    (cache,) = read_documents(given.CASES[case])
    clusters = given.clusters(case)
    result = given.passes(cache, 3, clusters=clusters, token=[given.token()], pods=[])
    on_first = [resource for resource in given.kinds(result) if f"-{clusters[0]['metadata']['name']}" in resource]
    put = [given.manifest(result, resource) for resource in on_first]
    golden.compare_documents(given.CASES[case].with_name(f"{case}.cluster.yaml"), [*put, result.status])
