"""A field of a ModelDeployment's template on its way into the pods: no step forgets it.

docs/develop.md lists the steps, "A field on its way".
"""

from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.api.modelreplica import ModelReplicaSpec
from modelplane.compose_replica.deployment import compose
from modelplane.composing.placement_message import PlacementMessage, write_placements
from modelplane.model.deployment import Role
from modelplane.model.placement import Stamp
from modelplane.model.replica import Claim, StampedEngine, StampedMember
from modelplane.observed.stamp import carried_content, revision, stamp_digest, wanted_content
from modelplane.step import Object, Request
from unit.compose_replica import replicas as given
from unit.compose_replica.template_fields import EDITS, LEAVES, Edit

each_edit = pytest.mark.parametrize("edit", EDITS, ids=str)
#: Fields whose edit restarts no pod: it is made in place.
SCALES = frozenset({"engines.copies"})
#: Fields that say on which nodes a pod runs; an edit of them is compared with the pool of each replica instead.
PLACES = ("engines.members.nodeSelector.", "engines.members.worker.", "engines.members.template.spec.sharedMemory")


def volume(spec: Mapping[str, Any]) -> str:
    """Return the claim that a deployment's pods mount."""
    return f"{spec['modelCacheRef']['name']}-v1" if "modelCacheRef" in spec else ""


def deployment(spec: Mapping[str, Any]) -> Object:
    body = {**given.replica(), "kind": "ModelDeployment", "spec": dict(spec)}
    return given.obj({**body, "metadata": {"name": "qwen", "namespace": "team", "uid": "u"}})


def placed(spec: Mapping[str, Any], stamp: Stamp) -> PlacementMessage:
    """Return the placement of every engine on pool l4, where each request claims a GPU."""

    def stamped(member: Mapping[str, Any]) -> StampedMember:
        devices = member.get("nodeSelector", {}).get("devices", [])
        claims = tuple(Claim(device["name"], "gpu.nvidia.com", 1) for device in devices)
        return StampedMember(Role(member.get("role", "Standalone")), "l4", claims=claims)

    return PlacementMessage(
        name="qwen-0a1b2c3d",
        resource="replica",
        endpoint="endpoint",
        cluster=given.CLUSTER,
        index=0,
        stamp=stamp,
        engines=tuple(StampedEngine(each["name"], tuple(map(stamped, each["members"]))) for each in spec["engines"]),
        volume=volume(spec),
    )


def replica(spec: Mapping[str, Any], stamp: Stamp = Stamp.APPLY, observed: Object | None = None) -> dict[str, Any]:
    seen = {"replica": observed} if observed else {}
    request = Request(deployment(spec), observed=seen, context=write_placements([placed(spec, stamp)]))
    return dict(compose(request).desired["replica"].build())


def workloads(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifests of the workloads of a deployment, with their pod templates."""
    result = given.run(replica(spec))
    made = [name for name in result.desired if name.startswith(("deployment-", "leaderworkerset-"))]
    assert made
    return {name: given.manifest_of(result, name) for name in made}


def test_every_field_of_the_template_has_an_edit_here() -> None:
    assert sorted({edit.field for edit in EDITS}) == sorted(LEAVES)


@each_edit
def test_a_replica_has_a_field_for_it_so_that_no_api_server_removes_it(edit: Edit) -> None:
    spec = replica(edit.after)["spec"]
    assert ModelReplicaSpec.model_validate(spec).model_dump(exclude_unset=True) == spec


@each_edit
def test_its_edit_reaches_the_workloads(edit: Edit) -> None:
    assert workloads(edit.before) != workloads(edit.after)


@each_edit
def test_a_replica_that_is_held_keeps_it(edit: Edit) -> None:
    made = replica(edit.after)
    crossplanes = {**made, "spec": {**made["spec"], "crossplane": {"resourceRefs": []}}}
    assert replica(edit.before, Stamp.HOLD, given.obj(crossplanes))["spec"] == made["spec"]


@each_edit
def test_its_edit_is_another_revision_unless_it_scales(edit: Edit) -> None:
    differs = revision(deployment(edit.before)) != revision(deployment(edit.after))
    assert differs == (edit.field not in SCALES)


@each_edit
def test_a_replica_without_its_edit_is_outdated_and_one_with_it_is_not(edit: Edit) -> None:
    before, after = (given.obj(replica(spec)) for spec in (edit.before, edit.after))
    wanted = wanted_content(deployment(edit.after))
    assert carried_content(after) == wanted
    if edit.field not in SCALES and not edit.field.startswith(PLACES):
        assert carried_content(before) != wanted


@each_edit
def test_its_edit_is_another_stamp_of_the_pods_unless_it_scales(edit: Edit) -> None:
    before, after = (stamp_digest(given.obj(replica(spec)), volume(spec)) for spec in (edit.before, edit.after))
    assert (before != after) == (edit.field not in SCALES)
