"""A Standalone replica with all it can have, beside the manifests it puts on its cluster."""

from pathlib import Path
from typing import Any

import yaml

from unit.compose_replica import replicas as given

GOLDEN = Path(__file__).parent / "golden"


def _documents(name: str) -> list[Any]:
    return list(yaml.safe_load_all((GOLDEN / name).read_text()))


def test_a_standalone_replica_becomes_these_manifests_on_its_cluster() -> None:
    (replica,) = _documents("standalone.replica.yaml")
    result = given.run(replica)
    assert [given.manifest_of(result, resource) for resource in result.desired] == _documents("standalone.cluster.yaml")


def test_every_manifest_is_put_there_by_an_object_like_this() -> None:
    (replica,) = _documents("standalone.replica.yaml")
    body = given.run(replica).desired["deployment-main"].build()
    body["spec"]["forProvider"]["manifest"] = "the Deployment"
    assert [body] == _documents("standalone.object.yaml")
