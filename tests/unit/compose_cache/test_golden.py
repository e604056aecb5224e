"""Caches beside what they put on a cluster while it is filled, and what they say of all their clusters by then."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from unit.compose_cache import caches as given

GOLDEN = Path(__file__).parent / "golden"
CASES = ("one", "three", "five")


def _documents(name: str) -> list[Any]:
    return list(yaml.safe_load_all((GOLDEN / name).read_text()))


@pytest.mark.parametrize("case", CASES)
def test_a_cache_becomes_these_manifests_on_each_cluster_and_says_this_meanwhile(case: str) -> None:
    (cache,) = _documents(f"{case}.cache.yaml")
    clusters = given.clusters(case)
    result = given.passes(cache, 3, clusters=clusters, token=[given.token()])
    on_first = [resource for resource in given.kinds(result) if f"-{clusters[0]['metadata']['name']}" in resource]
    put = [given.manifest(result, resource) for resource in on_first]
    assert [*put, result.status] == _documents(f"{case}.cluster.yaml")
