"""A cache from its first pass to its deletion, with what is around it, as the preview carries it out."""

from typing import Any

import pytest

from modelplane.preview import ControlPlane, healthy
from modelplane.preview.pipelines import Pipeline, pipeline_of
from unit.compose_cache import caches as given
from unit.compose_replica import replicas

CACHE = ("ModelCache", "team", "weights")
CLUSTER = ("InferenceCluster", None, "eu-1")
REPLICA = ("ModelReplica", "team", "by-hand")


def pipelines(kind: str) -> Pipeline | None:
    return pipeline_of(kind) if kind in {"ModelCache.modelplane.ai", "ModelReplica.modelplane.ai"} else None


def plane(*objects: Any, world: Any = healthy) -> ControlPlane:
    cluster = given.cluster()
    cluster["spec"] = {"cluster": {"source": "Existing", "existing": {"secretRef": {"name": "kubeconfig"}}}}
    cache = given.cache({"authSecret": given.SECRET})
    control = ControlPlane([cluster, cache, given.secret(), *objects], world, pipelines)
    assert control.settle()
    return control


def by_hand() -> dict[str, Any]:
    """Return a hand-written replica, with the one label that it needs."""
    body = replicas.replica()
    body["metadata"] = {"name": "by-hand", "namespace": "team", "labels": {"modelplane.ai/cluster": "eu-1"}}
    body["spec"]["modelCacheRef"] = {"name": "weights"}
    return body


def on_the_cluster(control: ControlPlane) -> set[str]:
    """Return the kinds of what the Objects stand for."""
    return {obj["spec"]["forProvider"]["manifest"]["kind"] for obj in control.list("Object")}


def test_a_staged_cache_keeps_its_volume_and_no_token() -> None:
    assert on_the_cluster(plane()) == {"Namespace", "PersistentVolumeClaim"}


@pytest.mark.parametrize("world", [healthy, None], ids=["staged", "not seen yet"])
def test_a_cluster_that_is_deleted_goes_though_a_cache_is_on_it(world: Any) -> None:
    control = plane(world=world)
    control.delete(*CLUSTER)
    assert control.get(*CLUSTER) is not None
    assert control.settle()
    assert control.get(*CLUSTER) is None
    assert control.list("Object") == []


def test_a_cluster_that_is_deleted_keeps_the_volume_until_the_last_replica_that_mounts_it_has_gone() -> None:
    control = plane(by_hand())
    control.delete(*CLUSTER)
    assert control.settle()
    assert control.get(*CLUSTER) is not None
    assert "PersistentVolumeClaim" in on_the_cluster(control)
    (found,) = control.list("ModelReplica")
    assert {each["type"]: each["status"] for each in found["status"]["conditions"]}["ModelReady"] == "True"
    control.delete(*REPLICA)
    assert control.settle()
    assert control.get(*CLUSTER) is None


def test_a_hand_written_replica_serves_from_the_cache_which_cannot_be_deleted_meanwhile() -> None:
    control = plane(by_hand())
    (found,) = control.list("ModelReplica")
    (row,) = (control.get(*CACHE) or {})["status"]["clusters"]
    assert found["status"]["volumes"] == [row["volume"]["name"]]
    assert control.delete(*CACHE) is False
    (usage,) = control.list("Usage")
    assert usage["spec"]["reason"] == "in use by ModelReplica by-hand"
    control.delete(*REPLICA)
    assert control.settle()
    assert control.delete(*CACHE) is True
    assert control.settle()
    assert control.list("Object") == []


def test_a_cache_cannot_be_deleted_while_a_replica_serves_from_it_that_names_one_that_does_not_exist() -> None:
    control = plane(by_hand())
    body = by_hand()
    body["spec"]["modelCacheRef"] = {"name": "misspelt"}
    control.apply(body)
    assert control.settle()
    assert control.delete(*CACHE) is False
    assert "PersistentVolumeClaim" in on_the_cluster(control)


def test_a_cache_that_is_being_staged_can_be_deleted() -> None:
    control = plane(world=None)
    assert control.delete(*CACHE) is True
    assert control.settle()
    assert control.list("Object") == []
