"""Labels and annotations that a cluster does not open: nothing is built with them, and what runs with them runs on."""

from typing import Any

import pytest

from modelplane.model.replica import Replica
from modelplane.observed.replica import read_replica
from modelplane.step import Object, Result
from unit.compose_replica import replicas as given

NETWORK = "k8s.v1.cni.cncf.io/networks"


def engine(image: str = "vllm", **annotations: str) -> dict[str, Any]:
    template = {"metadata": {"annotations": annotations}, "spec": {"containers": [given.container(image=image)]}}
    return given.engine(members=[given.member(template=template)])


def opening(*prefixes: str) -> dict[str, Any]:
    return given.cluster() | {"spec": {"stack": {"podMetadataPrefixes": list(prefixes)}}}


def test_nothing_is_built_with_an_annotation_that_the_cluster_does_not_open() -> None:
    body = given.replica(engine(**{NETWORK: "fast"}))
    result = given.run(body)
    assert not result.desired
    accepted = given.condition(result, "ModelAccepted")
    assert accepted.reason == "InvalidEngine"
    assert accepted.message.startswith(
        f"spec.engines[main].members[0].template.metadata.annotations[{NETWORK}]: InferenceCluster eu-1 does not"
    )
    opened = given.run(body, cluster=[opening("k8s.v1.cni.cncf.io")])
    template = given.manifest_of(opened, "deployment-main")["spec"]["template"]
    assert template["metadata"]["annotations"] == {NETWORK: "fast"}


@pytest.mark.proves("R26")
def test_a_hand_written_replica_with_denied_metadata_is_read_as_refused_until_its_pods_are_composed() -> None:
    body = given.replica(engine(**{NETWORK: "fast"}))
    assert published(body, given.run(body)).refused
    assert not published(body, given.run(body, cluster=[opening("k8s.v1.cni.cncf.io")])).refused
    made = {
        name: each.build() for name, each in given.run(body, cluster=[opening("k8s.v1.cni.cncf.io")]).desired.items()
    }
    edited = given.replica(engine("vllm:2", **{NETWORK: "fast"}))
    observed = {name: given.provided(each) for name, each in made.items()}
    held = given.run(edited, observed)
    assert given.condition(held, "ModelAccepted").reason == "InvalidEngine"
    assert not published(edited, held).refused


def published(body: dict[str, Any], result: Result) -> Replica:
    """Return the replica as others read it once its pass has published what it found."""
    conditions = [{"type": each.type, "status": each.status, "reason": each.reason} for each in result.conditions]
    status = {**(result.status or {}), "conditions": conditions}
    return read_replica(Object({**body, "status": status}, repr((body, status))))


def test_what_runs_with_it_runs_on_and_an_edit_of_it_is_held() -> None:
    body = given.replica(engine(**{NETWORK: "fast"}))
    open_cluster = [opening("k8s.v1.cni.cncf.io")]
    made = {name: each.build() for name, each in given.run(body, cluster=open_cluster).desired.items()}
    observed = {name: given.provided(each) for name, each in made.items()}
    kept = given.run(body, observed)
    assert given.condition(kept, "ModelAccepted").reason != "InvalidEngine"
    assert given.manifest_of(kept, "deployment-main") == made["deployment-main"]["spec"]["forProvider"]["manifest"]
    edited = given.replica(engine("vllm:2", **{NETWORK: "fast"}))
    held = given.run(edited, observed)
    assert given.condition(held, "ModelAccepted").reason == "InvalidEngine"
    assert given.manifest_of(held, "deployment-main") == given.manifest_of(kept, "deployment-main")


@pytest.mark.parametrize("served", [True, False], ids=["served", "still loading"])
def test_what_an_earlier_version_built_with_it_runs_on_as_it_is(served: bool) -> None:
    body = given.replica(engine(**{NETWORK: "fast"}))
    made = given.run(body, cluster=[opening("k8s.v1.cni.cncf.io")]).desired
    observed = {}
    for name, each in made.items():
        whole = each.build()
        whole["metadata"].pop("annotations", None)
        if name == "deployment-main":
            del whole["spec"]["forProvider"]["manifest"]["spec"]["template"]["spec"]["automountServiceAccountToken"]
        observed[name] = given.provided(whole)
    status = {"served": True, "servedEngines": body["spec"]["engines"]} if served else {}
    kept = given.run({**body, "status": status}, observed)
    before = observed["deployment-main"]["spec"]["forProvider"]["manifest"]
    assert given.manifest_of(kept, "deployment-main") == before
