"""What tells a replica that is as asked from one that an edit has to reach."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from modelplane.api import modeldeployment, modelreplica
from modelplane.model.serving import serves_through
from modelplane.observed.stamp import carried_content, interface, revision, stamp_digest, wanted_content
from modelplane.preview import ControlPlane
from modelplane.step import Object

Body = dict[str, Any]
Edit = Callable[[Body], None]
EXAMPLES = Path(__file__).parents[3] / "examples"

ASKED: Body = yaml.safe_load("""
metadata: {name: chat, namespace: ml, annotations: {modelplane.ai/endpoint-picker: "true"}}
spec:
  modelCacheRef: {name: weights}
  engines:
  - name: main
    copies: 2
    members:
    - nodeSelector: {devices: [{name: gpu, count: 1, selectors: [{cel: "true"}]}]}
      template:
        metadata: {labels: {team: search}}
        spec:
          containers: [{name: engine, image: "vllm:1", args: [--a], env: [{name: A, value: "1"}]}]
          imagePullSecrets: [{name: registry}]
""")
CARRIED: Body = yaml.safe_load("""
metadata: {name: chat-1, namespace: ml, annotations: {modelplane.ai/endpoint-picker: "true"}}
spec:
  clusterName: a
  modelCacheRef: {name: weights}
  serving: {mode: Unified}
  engines:
  - name: main
    copies: 2
    members:
    - role: Standalone
      nodePoolName: x
      deviceRequests: [{name: gpu, deviceClassName: gpu.nvidia.com, count: 1, selectors: [{cel: "true"}]}]
      template:
        metadata: {labels: {team: search}}
        spec:
          containers: [{name: engine, image: "vllm:1", args: [--a], env: [{name: A, value: "1"}]}]
          imagePullSecrets: [{name: registry}]
""")


def edited(body: Body, edit: Edit) -> Object:
    changed = copy.deepcopy(body)
    edit(changed)
    return Object(changed, "")


def member(body: Body) -> Body:
    found: Body = body["spec"]["engines"][0]["members"][0]
    return found


def container(body: Body) -> Body:
    found: Body = member(body)["template"]["spec"]["containers"][0]
    return found


def nothing(_: Body) -> None:
    pass


#: Edits of what pods are made of.
OF_PODS: dict[str, Edit] = {
    "image": lambda body: container(body).update(image="vllm:2"),
    "argument": lambda body: container(body)["args"].append("--b"),
    "command": lambda body: container(body).update(command=["sh"]),
    "variable": lambda body: container(body)["env"][0].update(value="2"),
    "pod label": lambda body: member(body)["template"]["metadata"]["labels"].update(team="ads"),
    "pull secret": lambda body: member(body)["template"]["spec"].update(imagePullSecrets=[]),
    "cache": lambda body: body["spec"]["modelCacheRef"].update(name="others"),
    "phase and mode": lambda body: (
        body["spec"].update(serving={"mode": "PrefillDecode"}) or body["spec"]["engines"][0].update(phase="Decode")
    ),
    "endpoint picker": lambda body: body["metadata"].pop("annotations"),
    "replicas that share nodes": lambda body: body["spec"]["engines"][0].update(replicasAcrossNodes="none"),
    "engine's name": lambda body: body["spec"]["engines"][0].update(name="other"),
}


def test_a_replica_carries_what_its_deployment_asks_for() -> None:
    assert wanted_content(Object(ASKED, "")) == carried_content(Object(CARRIED, ""))


@pytest.mark.proves("R45")
@pytest.mark.parametrize("edit", OF_PODS.values(), ids=OF_PODS)
def test_an_edit_of_what_pods_are_made_of_makes_a_replica_outdated(edit: Edit) -> None:
    assert wanted_content(edited(ASKED, edit)) != carried_content(Object(CARRIED, ""))
    assert stamp_digest(edited(CARRIED, edit), "weights-0") != stamp_digest(Object(CARRIED, ""), "weights-0")
    assert revision(edited(ASKED, edit)) != revision(Object(ASKED, ""))


@pytest.mark.parametrize("edit", OF_PODS.values(), ids=OF_PODS)
def test_the_same_edit_of_both_leaves_nothing_outdated(edit: Edit) -> None:
    assert wanted_content(edited(ASKED, edit)) == carried_content(edited(CARRIED, edit))


@pytest.mark.proves("R45")
@pytest.mark.parametrize(
    "edit",
    [
        lambda body: body["spec"]["engines"][0].update(copies=3),
        lambda body: body["spec"].update(replicas=7),
        lambda body: body["spec"].update(clusterSelector={"matchLabels": {"region": "eu"}}),
        lambda body: body["spec"].update(serving={"mode": "Unified"}),
        lambda body: member(body).update(role="Standalone"),
        lambda body: body["spec"]["engines"][0].update(replicasAcrossNodes="preferred"),
    ],
    ids=["copies", "replicas", "selector", "mode at its default", "role at its default", "spread at its default"],
)
def test_an_edit_that_restarts_no_pod_makes_no_new_revision(edit: Edit) -> None:
    assert wanted_content(edited(ASKED, edit)) == wanted_content(Object(ASKED, ""))
    assert revision(edited(ASKED, edit)) == revision(Object(ASKED, ""))


def test_a_device_request_is_part_of_the_revision() -> None:
    more = edited(ASKED, lambda body: member(body)["nodeSelector"]["devices"][0].update(count=2))
    assert wanted_content(more) == wanted_content(Object(ASKED, ""))
    assert revision(more) != revision(Object(ASKED, ""))


@pytest.mark.parametrize(
    ("edit", "same"),
    [
        (lambda body: member(body)["deviceRequests"][0].update(count=2), False),
        (lambda body: member(body).update(nodePoolName="y"), False),
        (lambda body: body["spec"].update(volume="weights-0"), True),
        (lambda body: body["spec"]["engines"][0].update(copies=3), True),
        (lambda body: body["spec"].update(builder=2), True),
        (lambda body: body["spec"].update(crossplane={"compositionRef": {"name": "m"}}), True),
        (lambda body: body["spec"].pop("serving"), True),
        (nothing, True),
    ],
    ids=[
        "count",
        "pool",
        "the volume that is mounted",
        "copies",
        "builder",
        "Crossplane's own",
        "mode at its default",
        "nothing",
    ],
)
def test_the_stamp_is_all_that_pods_are_made_of(edit: Edit, *, same: bool) -> None:
    assert (stamp_digest(edited(CARRIED, edit), "weights-0") == stamp_digest(Object(CARRIED, ""), "weights-0")) is same


def of_a_pair(body: Body) -> None:
    engine = body["spec"]["engines"][0]
    halves = [{**engine, "name": name, "phase": name.title()} for name in ("prefill", "decode")]
    body["spec"].update(serving={"mode": "PrefillDecode"}, engines=halves)


SEEN: dict[str, tuple[Edit, bool]] = {
    "nothing": (nothing, True),
    "the image": (lambda body: container(body).update(image="vllm:2"), True),
    "another flag": (lambda body: container(body).update(args=["--b"]), True),
    "devices": (lambda body: member(body)["deviceRequests"][0].update(count=2), True),
    "another port": (lambda body: container(body).update(args=["--a", "--port=9000"]), False),
    "another model": (lambda body: container(body).update(args=["--a", "--model=other/model"]), False),
    "another name of the model": (lambda body: container(body).update(args=["--a", "--served-model-name=m"]), False),
    "another name of the engine": (lambda body: body["spec"]["engines"][0].update(name="other"), False),
    "one copy": (lambda body: body["spec"]["engines"][0].update(copies=1), False),
    "a pair": (of_a_pair, False),
}


@pytest.mark.proves("R55")
@pytest.mark.parametrize(("edit", "same"), SEEN.values(), ids=SEEN)
def test_copies_of_two_specs_serve_side_by_side_where_clients_see_the_same_engines(edit: Edit, *, same: bool) -> None:
    before, after = (edited(CARRIED, each).body["spec"] for each in (nothing, edit))
    found = (interface(before, before["engines"]), interface(after, after["engines"]))
    assert serves_through(*found) is same


@pytest.mark.proves("R55")
def test_halves_of_pairs_of_two_specs_do_not_serve_side_by_side() -> None:
    spec = edited(CARRIED, of_a_pair).body["spec"]
    assert not serves_through(interface(spec, spec["engines"]), interface(spec, spec["engines"]))


def test_another_volume_is_another_stamp() -> None:
    assert stamp_digest(Object(CARRIED, ""), "weights-0") != stamp_digest(Object(CARRIED, ""), "weights-1")


def test_a_block_that_cannot_be_read_has_a_digest_all_the_same() -> None:
    broken = edited(CARRIED, lambda body: body["spec"].update(engines=[{"members": "none"}, 7]))
    assert (
        stamp_digest(broken, "weights-0")
        == stamp_digest(broken, "weights-0")
        != stamp_digest(Object(CARRIED, ""), "weights-0")
    )
    assert carried_content(broken) != carried_content(Object(CARRIED, ""))


def test_every_example_is_carried_as_it_is_asked() -> None:
    manifests = [
        document
        for path in sorted(EXAMPLES.rglob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text())
        if document
    ]
    control = ControlPlane(manifests)
    assert control.settle()
    wanted = {
        (obj["metadata"]["namespace"], obj["metadata"]["name"]): wanted_content(Object(obj, ""))
        for obj in control.list("ModelDeployment")
        if "engines" in obj["spec"]
    }
    replicas = [each for each in control.list("ModelReplica") if "profile" not in each["spec"]]
    assert len(replicas) > len(wanted)
    for obj in replicas:
        of = obj["metadata"]["namespace"], obj["metadata"]["labels"]["modelplane.ai/deployment"]
        assert carried_content(Object(obj, "")) == wanted[of], obj["metadata"]["name"]


def test_what_is_asked_of_a_node_is_part_of_what_pods_are_made_of_and_a_replica_carries_it_beside_them() -> None:
    block = {"requests": {"cpu": 8, "memory": "64Gi"}, "limits": {"memory": "96Gi"}}

    def ask(body: Body) -> None:
        body["spec"]["engines"][0]["members"][0]["template"]["spec"]["containers"][0]["resources"] = block

    def carry(body: Body) -> None:
        body["spec"]["engines"][0]["members"][0]["resources"] = block

    assert wanted_content(edited(ASKED, ask)) == carried_content(edited(CARRIED, carry))
    assert wanted_content(edited(ASKED, ask)) != carried_content(Object(CARRIED, ""))
    assert revision(edited(ASKED, ask)) != revision(Object(ASKED, ""))


#: Another value of each field that a ModelReplica has and a ModelDeployment does not, and of its members' the same.
OF_A_PLACEMENT: dict[str, Any] = {
    "clusterName": "b",
    "volume": "weights-1",
    "profile": {"model": "gemma", "name": "bf16", "digest": "0a1b"},
    "ending": True,
    "builder": 2,
}
OF_A_POOL: dict[str, Any] = {
    "nodePoolName": "y",
    "tolerations": [{"key": "gpu", "operator": "Exists"}],
    "deviceRequests": [],
}
#: What a ModelDeployment states inside the template, and so with the content of the pods.
IN_THE_TEMPLATE = {"resources", "sharedMemory"}


def test_the_fields_of_a_placement_and_of_a_pool_are_those_that_a_deployment_does_not_have() -> None:
    only = modelreplica.ModelReplicaSpec.model_fields.keys() - modeldeployment.ModelDeploymentSpec.model_fields.keys()
    of_members = modelreplica.Member.model_fields.keys() - modeldeployment.Member.model_fields.keys()
    assert only == OF_A_PLACEMENT.keys()
    assert of_members - IN_THE_TEMPLATE == OF_A_POOL.keys()


@pytest.mark.parametrize("field", OF_A_PLACEMENT)
def test_a_field_of_a_placement_restarts_no_pod(field: str) -> None:
    moved = edited(CARRIED, lambda body: body["spec"].update({field: OF_A_PLACEMENT[field]}))
    assert stamp_digest(moved, "weights-0") == stamp_digest(Object(CARRIED, ""), "weights-0")
    assert carried_content(moved) == wanted_content(Object(ASKED, ""))


@pytest.mark.parametrize("field", OF_A_POOL)
def test_a_field_of_a_pool_makes_no_replica_outdated(field: str) -> None:
    elsewhere = edited(CARRIED, lambda body: member(body).update({field: OF_A_POOL[field]}))
    assert carried_content(elsewhere) == wanted_content(Object(ASKED, ""))
