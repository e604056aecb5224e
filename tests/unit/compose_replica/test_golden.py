"""Replicas with all they can have, one a topology, beside the manifests that they put on their cluster."""

import pytest

from golden import Golden, read_documents
from unit.compose_replica import replicas as given


@pytest.mark.parametrize("topology", given.TOPOLOGIES)
def test_a_replica_becomes_these_manifests_on_its_cluster(topology: str, golden: Golden) -> None:
    (replica,) = read_documents(given.TOPOLOGIES[topology])
    result = given.run(replica)
    put = [given.manifest_of(result, resource) for resource in given.on_the_cluster(result)]
    golden.compare_documents(given.TOPOLOGIES[topology].with_name(f"{topology}.cluster.yaml"), put)


@pytest.mark.parametrize(
    ("topology", "resource", "name"),
    [
        ("standalone", "deployment-main", "standalone.object.yaml"),
        ("gang", "leaderworkerset-main", "gang.object.yaml"),
        ("gang", "workers-1-main", "gang.look.yaml"),
    ],
)
def test_every_manifest_is_put_there_or_looked_at_by_an_object_like_this(
    topology: str, resource: str, name: str, golden: Golden
) -> None:
    (replica,) = read_documents(given.TOPOLOGIES[topology])
    body = given.run(replica).desired[resource].build()
    manifest = body["spec"]["forProvider"]["manifest"]
    if not name.endswith("look.yaml"):
        body["spec"]["forProvider"]["manifest"] = f"the {manifest['kind']}"
        body["metadata"]["annotations"]["modelplane.ai/built-from"] = "the digest of what it was built from"
    golden.compare_documents(given.TOPOLOGIES[topology].with_name(name), [body])


def test_a_gang_is_looked_at_through_the_sets_of_its_leaders_and_of_each_copys_workers() -> None:
    (replica,) = read_documents(given.TOPOLOGIES["gang"])
    result = given.run(replica)
    name = given.manifest_of(result, "leaderworkerset-main")["metadata"]["name"]
    looks = [resource for resource in result.desired if given.only_looks(result, resource)]
    assert [given.manifest_of(result, look)["metadata"]["name"] for look in looks] == [name, f"{name}-0", f"{name}-1"]
