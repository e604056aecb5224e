"""What a pool's nodes are tainted with comes with the placement: to the replica, and to the pods of its engines."""

from typing import Any

import pytest

from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane
from modelplane.preview.worlds import healthy
from unit.preview.fakes import TEAM, existing

Body = dict[str, Any]
NVIDIA = {"key": "nvidia.com/gpu", "operator": "Exists"}
AMD = {"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
DEDICATED = {"key": "dedicated", "operator": "Equal", "value": "inference"}


def site(name: str, *pools: Body) -> Body:
    found = cluster(name)
    found["spec"]["nodePools"] = [{"className": "gpu-class", "nodeCount": 1, **pool} for pool in pools]
    return found


def settled(*objects: Body) -> ControlPlane:
    control = ControlPlane((hardware(), *objects), world=healthy)
    assert control.settle()
    return control


def tolerated(control: ControlPlane) -> list[tuple[str, list[Body]]]:
    """Return pool and tolerations of each pod template of an engine."""
    found = []
    for obj in control.list("Object"):
        spec = obj["spec"]["forProvider"]["manifest"].get("spec", {})
        groups = [spec["template"]] if obj["spec"]["forProvider"]["manifest"]["kind"] == "Deployment" else []
        groups += [each for key, each in spec.get("leaderWorkerTemplate", {}).items() if key.endswith("Template")]
        found += [(pod["spec"]["nodeSelector"]["modelplane.ai/pool"], pod["spec"]["tolerations"]) for pod in groups]
    return sorted(found, key=str)


def edited(control: ControlPlane, name: str, tolerations: list[Body]) -> None:
    found = existing(control, "InferenceCluster", None, name)
    for pool in found["spec"]["nodePools"]:
        pool["tolerations"] = tolerations
    control.apply(found)


def gang() -> Body:
    found = deployment()
    (member,) = found["spec"]["engines"][0]["members"]
    found["spec"]["engines"][0]["members"] = [{**member, "role": "Leader"}, {**member, "role": "Worker"}]
    return found


@pytest.mark.proves("R44")
def test_tolerations_of_a_pool_reach_the_pods_of_the_engines_on_it_alone() -> None:
    pools = {"name": "amd", "tolerations": [AMD, DEDICATED]}, {"name": "plain"}
    control = settled(site("a", *pools), deployment(replicas=2))
    assert tolerated(control) == [("amd", [NVIDIA, AMD, DEDICATED]), ("plain", [NVIDIA])]


def test_both_members_of_a_gang_tolerate_what_its_pool_says() -> None:
    control = settled(site("a", {"name": "amd", "nodeCount": 2, "tolerations": [AMD]}), gang())
    assert tolerated(control) == [("amd", [NVIDIA, AMD])] * 2


@pytest.mark.proves("R44")
def test_a_pool_without_tolerations_stamps_none() -> None:
    control = settled(site("a", {"name": "plain"}), deployment())
    (replica,) = control.list("ModelReplica")
    assert "tolerations" not in replica["spec"]["engines"][0]["members"][0]
    assert "tolerations" not in existing(control, "InferenceCluster", None, "a")["status"]["gpuPools"][0]


@pytest.mark.proves("R44")
def test_an_edit_of_a_pools_tolerations_is_rolled_out() -> None:
    clusters = [site(name, {"name": "pool"}) for name in ("a", "b", "c")]
    control = settled(*clusters, deployment(replicas=3))
    for name in ("a", "b", "c"):
        edited(control, name, [AMD])
        control.reconcile("InferenceCluster", None, name)
    control.reconcile("ModelDeployment", TEAM, "chat")
    changed = [pod for pod in tolerated(control) if AMD in pod[1]]
    found = existing(control, "ModelDeployment", TEAM, "chat")
    assert found["status"]["replicas"]["updated"] < 3
    assert len(changed) <= 1
    assert control.settle()
    assert tolerated(control) == [("pool", [NVIDIA, AMD])] * 3


def test_a_toleration_that_is_written_otherwise_restarts_nothing() -> None:
    control = settled(site("a", {"name": "pool", "tolerations": [{"key": "dedicated", "value": "x"}]}), deployment())
    before = control.list("Object")
    edited(control, "a", [{"key": "dedicated", "operator": "Equal", "value": "x"}])
    assert control.settle()
    assert control.list("Object") == before


def test_a_pool_whose_class_is_broken_keeps_its_own_tolerations_current() -> None:
    control = settled(site("a", {"name": "pool", "tolerations": [AMD]}), deployment())
    control.delete("InferenceClass", None, "gpu-class")
    edited(control, "a", [DEDICATED])
    assert control.settle()
    (pool,) = existing(control, "InferenceCluster", None, "a")["status"]["gpuPools"]
    assert (pool["devices"][0]["name"], pool["tolerations"]) == ("gpu", [DEDICATED])
