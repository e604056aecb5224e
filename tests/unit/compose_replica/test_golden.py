"""Replicas with all they can have, one a topology, beside the manifests that they put on their cluster."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from unit.compose_replica import replicas as given

GOLDEN = Path(__file__).parent / "golden"
TOPOLOGIES = ("standalone", "gang", "prefill-decode", "cached")


def _documents(name: str) -> list[Any]:
    return list(yaml.safe_load_all((GOLDEN / name).read_text()))


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_replica_becomes_these_manifests_on_its_cluster(topology: str) -> None:
    (replica,) = _documents(f"{topology}.replica.yaml")
    result = given.run(replica)
    put = [given.manifest_of(result, resource) for resource in given.on_the_cluster(result)]
    assert put == _documents(f"{topology}.cluster.yaml")


@pytest.mark.parametrize(
    ("topology", "resource", "name"),
    [
        ("standalone", "deployment-main", "standalone.object.yaml"),
        ("gang", "leaderworkerset-main", "gang.object.yaml"),
        ("gang", "workers-1-main", "gang.look.yaml"),
    ],
)
def test_every_manifest_is_put_there_or_looked_at_by_an_object_like_this(
    topology: str, resource: str, name: str
) -> None:
    (replica,) = _documents(f"{topology}.replica.yaml")
    body = given.run(replica).desired[resource].build()
    manifest = body["spec"]["forProvider"]["manifest"]
    if not name.endswith("look.yaml"):
        body["spec"]["forProvider"]["manifest"] = f"the {manifest['kind']}"
        body["metadata"]["annotations"]["modelplane.ai/built-from"] = "the digest of what it was built from"
    assert [body] == _documents(name)


def test_a_gang_is_looked_at_through_the_sets_of_its_leaders_and_of_each_copys_workers() -> None:
    (replica,) = _documents("gang.replica.yaml")
    result = given.run(replica)
    name = given.manifest_of(result, "leaderworkerset-main")["metadata"]["name"]
    looks = [resource for resource in result.desired if given.only_looks(result, resource)]
    assert [given.manifest_of(result, look)["metadata"]["name"] for look in looks] == [name, f"{name}-0", f"{name}-1"]
