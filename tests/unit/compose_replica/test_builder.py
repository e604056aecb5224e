"""An upgrade of Modelplane restarts nothing: what an earlier builder made is composed again as it was made."""

import copy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from modelplane.compose_replica import builder, claims, engine_pods
from modelplane.kube.claim import claim_template
from modelplane.kube.pod import pod_template
from modelplane.model.rollout import BUILDER
from modelplane.step import Result
from unit.compose_replica import replicas as given

Body = dict[str, Any]
#: The builder of the next version, and of one after it.
NEXT, LATER = BUILDER + 1, BUILDER + 2
PICKED = {"metadata": {**given.replica()["metadata"], "annotations": {"modelplane.ai/endpoint-picker": "true"}}}
TOPOLOGIES: Mapping[str, Callable[[], Body]] = {
    "standalone": given.replica,
    "copies behind a picker": lambda: given.replica(given.engine(copies=2), **copy.deepcopy(PICKED)),
    "gang": lambda: given.replica(given.gang(copies=2)),
    "pair": lambda: given.pair("--port=8200"),
}


@pytest.fixture
def upgraded(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Give what installs the next version: it composes other pods and claims for the same replica."""

    def other_pod(*arguments: Any) -> Body:
        made = pod_template(*arguments)
        return {**made, "spec": {**made["spec"], "terminationGracePeriodSeconds": 777}}

    def other_claim(*arguments: Any) -> Body:
        made = claim_template(*arguments)
        return {**made, "metadata": {**made["metadata"], "name": f"{made['metadata']['name']}-next"}}

    def upgrade() -> None:
        monkeypatch.setattr(engine_pods, "pod_template", other_pod)
        monkeypatch.setattr(engine_pods, "claim_template", other_claim)
        monkeypatch.setattr(builder, "BUILDER", NEXT)

    yield upgrade


def manifests(result: Result) -> dict[str, Body]:
    return {name: given.manifest_of(result, name) for name in given.on_the_cluster(result)}


def is_workload(manifest: Body) -> bool:
    return manifest["kind"] in {"Deployment", "LeaderWorkerSet"}


def as_served(body: Body) -> Body:
    """Return the replica as it says of itself that it serves."""
    status = given.run(body, given.serving(body)).status
    assert status is not None
    return {**body, "status": {**dict(status), "conditions": [{"type": "ModelReady", "status": "True"}]}}


def unsigned(observed: Mapping[str, Body]) -> dict[str, Body]:
    """Return the Objects as the first version left them, which signed nothing."""
    bodies = {name: copy.deepcopy(body) for name, body in observed.items()}
    for body in bodies.values():
        body["metadata"].pop("annotations", None)
    return bodies


@pytest.mark.proves("R66")
@pytest.mark.parametrize("body", TOPOLOGIES.values(), ids=TOPOLOGIES)
@pytest.mark.parametrize("signed", [True, False], ids=["signed", "as the first version left it"])
def test_an_upgrade_leaves_everything_on_the_cluster_as_it_is(
    body: Callable[[], Body], upgraded: Callable[[], None], *, signed: bool
) -> None:
    replica = as_served(body())
    observed = given.serving(replica) if signed else unsigned(given.serving(replica))
    before = manifests(given.run(replica, observed))
    upgraded()
    after = given.run(replica, observed)
    assert manifests(after) == before
    assert after.ready is True
    assert after.status is not None
    assert after.status["builder"] == (BUILDER if signed else 1)


@pytest.mark.proves("R67")
@pytest.mark.parametrize("body", TOPOLOGIES.values(), ids=TOPOLOGIES)
def test_an_edit_brings_the_templates_of_the_new_builder(
    body: Callable[[], Body], upgraded: Callable[[], None]
) -> None:
    replica = as_served(body())
    observed = given.serving(replica)
    upgraded()
    for engine in replica["spec"]["engines"]:
        engine["members"][0]["template"]["spec"]["containers"][0]["image"] = "vllm/vllm-openai:v0.12.0"
    edited = given.run(replica, observed)
    workloads = {name: made for name, made in manifests(edited).items() if name != "picker" and is_workload(made)}
    assert workloads
    for name, manifest in workloads.items():
        assert "777" in str(manifest), name
        annotations = edited.desired[name].build()["metadata"]["annotations"]
        assert annotations["modelplane.ai/builder"] == str(NEXT)


def test_more_copies_come_as_the_others_were_made(upgraded: Callable[[], None]) -> None:
    replica = as_served(given.replica())
    observed = given.serving(replica)
    upgraded()
    replica["spec"]["engines"][0]["copies"] = 3
    grown = given.manifest_of(given.run(replica, observed), "deployment-main")
    made = observed["deployment-main"]["spec"]["forProvider"]["manifest"]
    assert grown["spec"]["replicas"] == 3
    assert grown["spec"]["template"] == made["spec"]["template"]


def test_a_replica_that_asks_for_the_new_builder_is_built_anew(upgraded: Callable[[], None]) -> None:
    replica = as_served(given.replica())
    observed = given.serving(replica)
    upgraded()
    replica["spec"]["builder"] = NEXT
    result = given.run(replica, observed)
    assert (
        given.manifest_of(result, "deployment-main")["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 777
    )
    assert [name for name in manifests(result) if name.endswith("-next")]


def test_what_is_missing_is_built_anew_and_the_rest_stays(upgraded: Callable[[], None]) -> None:
    replica = as_served(given.replica(given.engine("one"), given.engine("two")))
    observed = given.serving(replica)
    del observed["deployment-two"]
    upgraded()
    made = manifests(given.run(replica, observed))
    assert made["deployment-one"]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] != 777
    assert made["deployment-two"]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 777
    named = {claim for name in ("deployment-one", "deployment-two") for claim in claims.named_claims(made[name])}
    templates = {entry["metadata"]["name"] for entry in made.values() if entry["kind"] == "ResourceClaimTemplate"}
    assert named <= templates


def test_a_workload_whose_claim_template_is_lost_is_built_anew(upgraded: Callable[[], None]) -> None:
    replica = as_served(given.replica())
    observed = {
        name: body for name, body in given.serving(replica).items() if not name.startswith("resourceclaimtemplate-")
    }
    upgraded()
    made = manifests(given.run(replica, observed))
    assert made["deployment-main"]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 777


@pytest.mark.parametrize("status", [{}, {"served": True, "servedEngines": [given.engine("other")]}])
def test_unsigned_workloads_of_a_replica_that_does_not_serve_them_are_built_anew(
    status: Body, upgraded: Callable[[], None]
) -> None:
    replica = given.replica(status=status)
    observed = unsigned(given.serving(replica))
    upgraded()
    made = given.manifest_of(given.run(replica, observed), "deployment-main")
    assert made["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 777


@pytest.mark.proves("R68")
@pytest.mark.parametrize("by", ["workload", "replica"])
def test_a_replica_of_a_later_builder_is_held_and_the_skew_is_named(by: str) -> None:
    replica = as_served(given.replica())
    observed = given.serving(replica)
    if by == "workload":
        observed["deployment-main"]["metadata"]["annotations"]["modelplane.ai/builder"] = str(LATER)
    else:
        replica["spec"]["builder"] = LATER
    before = {name: body["spec"] for name, body in observed.items()}
    replica["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["image"] = "vllm:next"
    result = given.run(replica, observed)
    assert {name: desired.build()["spec"] for name, desired in result.desired.items()} == before
    accepted = given.condition(result, "ModelAccepted")
    assert accepted.status == "False"
    assert f"builder {LATER}" in accepted.message
    assert "upgrade the function compose-replica" in accepted.message


def test_the_stamp_that_a_replica_served_with_is_recorded_once_it_serves_with_it() -> None:
    replica = as_served(given.replica())
    served = replica["status"]["servedStamp"]
    replica["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["image"] = "vllm:next"
    waiting = given.run(replica, given.serving(given.replica()))
    assert waiting.status is not None
    assert waiting.status["servedStamp"] == served
    serves = given.run(replica, given.serving(replica))
    assert serves.status is not None
    assert serves.status["servedStamp"] not in {served, ""}
