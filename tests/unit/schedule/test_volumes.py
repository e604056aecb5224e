"""The volume that a replica mounts is stamped on it by its deployment: another one is an edit, and is rolled out."""

from typing import Any

import pytest

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import healthy
from unit.preview.fakes import TEAM, conditions_of, existing

Body = dict[str, Any]


def weights(name: str = "weights", revision: str = "v1", **labels: str) -> Body:
    """Return a cache of all clusters, or of those with these labels."""
    source = {"repo": "org/model", "revision": revision, "sizeGiB": 1}
    selector = {"clusterSelector": {"matchLabels": labels}} if labels else {}
    return {
        "apiVersion": "modelplane.ai/v1alpha1",
        "kind": "ModelCache",
        "metadata": {"name": name, "namespace": TEAM},
        "spec": {"source": "HuggingFace", "huggingFace": source, **selector},
    }


def site(name: str, **parts: Any) -> Body:
    body = cluster(name, **parts)
    body["spec"]["cluster"]["existing"]["cache"] = {"storageClassName": "files"}
    return body


def chat(replicas: int = 1, cache: str = "weights", **rollout: Any) -> Body:
    body = deployment(replicas=replicas)
    body["spec"] |= {"modelCacheRef": {"name": cache}, "rollout": rollout}
    return body


def settled(*objects: Body) -> ControlPlane:
    control = ControlPlane((hardware(), *objects), world=healthy)
    assert control.settle()
    return control


def staged(control: ControlPlane, cache: str = "weights") -> str:
    """Return the volume that a cache publishes of its first cluster."""
    (row, *_) = existing(control, "ModelCache", TEAM, cache)["status"]["clusters"]
    found: str = row["volume"]["name"]
    return found


def mounted(control: ControlPlane) -> dict[str, str]:
    """Return, for the cluster of each replica, the volume claim that its pods mount."""
    found = {}
    for obj in control.list("Object"):
        manifest = obj["spec"]["forProvider"]["manifest"]
        if manifest["kind"] == "Deployment":
            volumes = manifest["spec"]["template"]["spec"]["volumes"]
            claims = [each["persistentVolumeClaim"]["claimName"] for each in volumes if "persistentVolumeClaim" in each]
            found[obj["spec"]["providerConfigRef"]["name"]] = "".join(claims)
    return found


def stamped(control: ControlPlane) -> list[str | None]:
    return [replica["spec"].get("volume") for replica in control.list("ModelReplica")]


def reported(control: ControlPlane, kind: str) -> tuple[str, str, str]:
    return conditions_of(existing(control, "ModelDeployment", TEAM, "chat"))[kind]


def generations(control: ControlPlane) -> dict[str, int]:
    """Return the generation of each Object that runs an engine: a higher one has restarted its pods."""
    kinds = {obj["metadata"]["name"]: obj for obj in control.list("Object")}
    return {
        name: obj["metadata"]["generation"]
        for name, obj in kinds.items()
        if obj["spec"]["forProvider"]["manifest"]["kind"] == "Deployment"
    }


def test_a_new_replica_is_stamped_with_the_volume_once_it_is_staged_and_waits_before() -> None:
    control = ControlPlane((hardware(), site("east"), weights(), chat()), world=healthy)
    seen = []
    while not control.settle(max_passes=1):
        seen += stamped(control)
        assert None not in mounted(control).values()
    assert control.settle()
    assert seen[0] is None
    assert stamped(control) == [staged(control)]
    assert mounted(control) == {"east": staged(control)}


@pytest.mark.proves("R62")
def test_another_volume_is_rolled_out_within_the_budget() -> None:
    names = ("east", "north", "west")
    control = settled(*map(site, names), weights(), chat(3, maxSurge=0, maxUnavailable=1))
    before = staged(control)
    control.apply(weights(revision="v2"))
    least = []
    while not control.settle(max_passes=1):
        replicas = control.list("ModelReplica")
        least.append(sum(conditions_of(replica)["ModelReady"][0] == "True" for replica in replicas))
    assert min(least) == 2
    assert staged(control) != before
    assert mounted(control) == dict.fromkeys(names, staged(control))
    assert set(stamped(control)) == {staged(control)}


def test_a_paused_rollout_keeps_the_volume_that_is_mounted() -> None:
    control = settled(site("east"), weights(), chat(paused=True))
    before = mounted(control)
    control.apply(weights(revision="v2"))
    assert control.settle()
    assert (mounted(control), staged(control) in before.values()) == (before, False)
    assert reported(control, "RolloutProgressing")[1] == "Paused"


@pytest.mark.proves("R62")
@pytest.mark.parametrize("replicas", [1, 2])
def test_a_replica_that_mounts_a_volume_and_has_none_stamped_is_stamped_with_it_and_not_restarted(
    replicas: int,
) -> None:
    control = settled(site("east", nodes=2), weights(), chat(replicas))
    before = generations(control)
    for replica in control.list("ModelReplica"):
        del replica["spec"]["volume"]
        control.apply(replica)
        control.reconcile("ModelReplica", TEAM, replica["metadata"]["name"])
    assert set(stamped(control)) == {None}
    assert generations(control) == before
    assert control.settle()
    assert (set(stamped(control)), generations(control)) == ({staged(control)}, before)


@pytest.mark.proves("R62")
def test_another_cache_that_is_not_staged_there_is_an_edit_that_is_held_until_it_is() -> None:
    control = settled(site("east"), weights(), weights("other", tier="gold"), chat(maxSurge=0, maxUnavailable=1))
    before = mounted(control)
    (replica,) = control.list("ModelReplica")
    control.apply(chat(cache="other", maxSurge=0, maxUnavailable=1))
    assert control.settle()
    why = "the edit is held, ModelCache other is not staged on cluster east: stage it there, or name another"
    held = f"1 of 1 replicas ready; not as asked: {replica['metadata']['name']} on east: {why}"
    assert reported(control, "ReplicasReady") == ("False", "EditHeld", held)
    assert mounted(control) == before
    gold = site("east")
    gold["metadata"]["labels"] = {"tier": "gold"}
    control.apply(gold)
    assert control.settle()
    assert reported(control, "ReplicasReady")[:2] == ("True", "AllReplicasReady")
    assert mounted(control) == {"east": staged(control, "other")}


def test_a_cache_that_goes_takes_no_volume_from_a_replica() -> None:
    control = settled(site("east"), weights(), chat())
    before, generation = mounted(control), generations(control)
    control.apply(weights(tier="gold"))
    assert control.settle()
    assert (mounted(control), generations(control)) == (before, generation)
