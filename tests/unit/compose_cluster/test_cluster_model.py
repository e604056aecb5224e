"""A ClusterModel is accepted when each of its profiles can be served; it counts the replicas that run on them."""

from typing import Any

from modelplane.compose_cluster.cluster_model import compose
from modelplane.model.conditions import Status
from modelplane.step import Request, Result
from unit.api.cases import example
from unit.compose_cluster import clusters as given


def run(*profiles: dict[str, Any], replicas: list[Any] | None = None) -> Result:
    body = example("ClusterModel")
    body["spec"]["serving"] = list(profiles)
    required = {} if replicas is None else {"replicas": tuple(map(given.obj, replicas))}
    return compose(Request(composite=given.obj(body), required=required))


def profile(name: str = "p", gpus: int = 1, **topology: Any) -> dict[str, Any]:
    engine = {"name": "vLLM", "image": "engine:v1"}
    return {"name": name, "replicaTopology": {"gpusPerNode": gpus, **topology}, "engine": engine}


def test_profiles_that_can_be_served_are_available() -> None:
    (accepted,) = run(profile()).conditions
    assert (accepted.status, accepted.reason) == (Status.TRUE, "Available")


def test_every_profile_that_contradicts_itself_is_named_with_its_field() -> None:
    result = run(profile("good"), profile("bad", 8), profile("worse", 2, parallelism={"tensor": 4}))
    (accepted,) = result.conditions
    assert (accepted.status, accepted.reason, result.ready) == (Status.FALSE, "InvalidProfile", False)
    bad, worse = accepted.message.split("; spec")
    assert bad.startswith("spec.serving[bad].replicaTopology.parallelism: tensor 1 x pipeline 1 x data 1 = 1 GPUs")
    assert worse.startswith(".serving[worse].replicaTopology.parallelism: tensor 4")


def test_a_selector_that_does_not_compile_is_named_with_its_position() -> None:
    devices = [{"name": "gpu", "selectors": [{"cel": "device."}]}]
    (accepted,) = run(profile(devices=devices)).conditions
    assert accepted.message.startswith("spec.serving[p].replicaTopology.devices: selector `device.`, line 1, column ")


def test_it_counts_the_replicas_that_carry_its_label_once_they_are_fetched() -> None:
    assert run(profile()).status == {}
    result = run(profile(), replicas=[{"kind": "ModelReplica", "metadata": {"name": "a"}}])
    assert result.status == {"replicas": 1}
    (needs,) = result.requirements
    assert (needs.kind, needs.match_labels) == ("ModelReplica", {"modelplane.ai/model": "gemma-3-27b"})
