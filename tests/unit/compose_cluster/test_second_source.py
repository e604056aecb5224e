"""Another source of clusters than Existing: it is made, edited and deleted, and its provider may go away meanwhile."""

from functools import partial
from typing import Any

import pytest

from given.manifests import cluster, hardware
from modelplane.compose_cluster.inference_cluster import compose
from modelplane.compose_cluster.sources import ClusterSource
from modelplane.preview import ControlPlane
from modelplane.step import Request, SchemaRequirement
from unit.compose_cluster import clusters as given
from unit.compose_cluster.machines import API, KINDS, MACHINES, RACK, World, pipelines, provision, provision_with

LIMITS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "limits", "namespace": "modelplane-system"},
    "data": {"storage": "fast"},
}


def with_pools(**nodes: int) -> dict[str, Any]:
    pools = [{"name": name, "className": "gpu-class", "nodeCount": count} for name, count in nodes.items()]
    return cluster("eu-1", nodePools=pools)


def begin(world: World, source: ClusterSource = provision, **nodes: int) -> ControlPlane:
    fleet = LIMITS, hardware(), with_pools(**(nodes or {"a": 1}))
    control = ControlPlane(fleet, world, partial(pipelines, source=source))
    assert control.settle()
    assert control.errors == {}
    return control


def refresh(control: ControlPlane, world: World) -> None:
    """Let the control plane see which kinds exist now."""
    control.world = world
    assert control.settle()


def names(control: ControlPlane, kind: str) -> list[str]:
    return [obj["metadata"]["name"] for obj in control.list(kind)]


def uids(control: ControlPlane) -> dict[str, str]:
    found = [*control.list(MACHINES), *control.list(RACK)]
    return {obj["metadata"]["name"]: obj["metadata"]["uid"] for obj in found}


def status(control: ControlPlane) -> dict[str, Any]:
    found = control.get("InferenceCluster", None, "eu-1")
    assert found is not None
    return dict(found["status"])


def ready(control: ControlPlane) -> tuple[str, str, str]:
    found = next(each for each in status(control)["conditions"] if each["type"] == "ClusterReady")
    return found["status"], found["reason"], found.get("message", "")


def test_a_cluster_is_made_with_what_its_source_composes_and_reads() -> None:
    control = begin(World(), a=1, b=2)
    assert (names(control, MACHINES), names(control, RACK)) == (["eu-1"], ["eu-1-a", "eu-1-b"])
    assert ready(control)[:2] == ("True", "ClusterRunning")
    assert [(pool["name"], pool["nodes"]) for pool in status(control)["gpuPools"]] == [("a", 1), ("b", 2)]
    assert status(control)["cache"] == {"storageClassName": "fast"}, "from the ConfigMap that it requires"


def test_a_pool_that_is_not_as_asked_is_reported_in_its_providers_words_and_published_as_declared() -> None:
    control = begin(World(short={"eu-1-b"}), a=1, b=2)
    assert ready(control) == ("True", "ClusterRunning", "node pool b: no charge in zone b.")
    assert [pool["nodes"] for pool in status(control)["gpuPools"]] == [1, 2]


def test_an_edit_reaches_the_one_pool_and_nothing_else_is_made_anew() -> None:
    control = begin(World(), a=1, b=2)
    before = uids(control)
    control.apply(with_pools(a=3, c=1))
    assert control.settle()
    after = uids(control)
    assert after.keys() == {"eu-1", "eu-1-a", "eu-1-c"}
    assert {name: after[name] for name in ("eu-1", "eu-1-a")} == {name: before[name] for name in ("eu-1", "eu-1-a")}
    assert control.list(RACK)[0]["spec"]["nodes"] == 3


def test_what_has_to_outlive_another_waits_for_it_when_the_cluster_is_deleted() -> None:
    control = begin(World(), a=1)
    rack = control.list(RACK)[0]
    control.apply({**rack, "metadata": {**rack["metadata"], "finalizers": ["example.org/hold"]}, "status": None})
    assert control.delete("InferenceCluster", None, "eu-1")
    control.settle()
    assert (names(control, MACHINES), names(control, RACK)) == (["eu-1"], ["eu-1-a"])
    assert "deletionTimestamp" not in control.list(MACHINES)[0]["metadata"], "nothing of it was deleted yet"
    rack = control.list(RACK)[0]
    control.apply({**rack, "metadata": {**rack["metadata"], "finalizers": []}})
    control.settle()
    assert (names(control, MACHINES), names(control, RACK)) == ([], [])
    assert [kind for kind in ("Usage", "ClusterUsage") if control.list(f"{kind}.protection.crossplane.io")] == []


def test_what_has_to_outlive_a_pool_waits_for_it_as_well_when_the_pool_was_removed_before() -> None:
    control = begin(World(), a=1, b=2)
    rack = next(each for each in control.list(RACK) if each["metadata"]["name"] == "eu-1-b")
    control.apply({**rack, "metadata": {**rack["metadata"], "finalizers": ["example.org/hold"]}, "status": None})
    control.apply(with_pools(a=1))
    assert control.settle()
    assert control.delete("InferenceCluster", None, "eu-1")
    control.settle()
    assert (names(control, MACHINES), names(control, RACK)) == (["eu-1"], ["eu-1-b"])
    assert "deletionTimestamp" not in control.list(MACHINES)[0]["metadata"]
    rack = control.list(RACK)[0]
    control.apply({**rack, "metadata": {**rack["metadata"], "finalizers": []}})
    control.settle()
    assert (names(control, MACHINES), names(control, RACK)) == ([], [])


def outlived(control: ControlPlane) -> list[str]:
    """Return the names of what the Machines object has to outlive."""
    found = [*control.list("Usage.protection.crossplane.io"), *control.list("ClusterUsage.protection.crossplane.io")]
    return sorted(each["spec"]["by"]["resourceRef"]["name"] for each in found if "by" in each["spec"])


def test_what_a_removed_pool_kept_is_let_go_once_that_is_gone() -> None:
    control = begin(World(), a=1, b=2)
    assert outlived(control) == ["eu-1", "eu-1-a", "eu-1-b"]
    control.apply(with_pools(a=1))
    assert control.settle()
    assert outlived(control) == ["eu-1", "eu-1-a"]


@pytest.mark.parametrize("api", ["v1", "apps/v1", "kubernetes.m.crossplane.io/v1alpha1"])
def test_of_a_kind_that_every_control_cluster_has_it_is_let_go_as_well(api: str) -> None:
    kind = {"v1": "ConfigMap", "apps/v1": "Deployment"}.get(api, "Object")
    control = begin(World(), provision_with(api, kind), a=1, b=2)
    assert outlived(control) == ["eu-1", *["eu-1-a"] * 2, *["eu-1-b"] * 2]
    control.apply(with_pools(a=1))
    assert control.settle()
    assert outlived(control) == ["eu-1", *["eu-1-a"] * 2]


def test_a_source_that_composes_a_kind_which_it_does_not_declare_is_refused_by_name() -> None:
    source = provision_with("disks.example.org/v1", "Disk")
    request = Request(given.obj(with_pools(a=1)))
    with pytest.raises(ValueError, match=r"resource more-a of the source has kind Disk \(disks.example.org/v1\)"):
        compose(request, {"Existing": source})


@pytest.mark.parametrize("lost", [KINDS, KINDS[1:]], ids=["machines and racks", "racks"])
def test_what_has_no_kind_any_more_is_not_required_to_see_whether_it_is_gone(
    lost: tuple[SchemaRequirement, ...],
) -> None:
    control = begin(World(), a=1, b=2)
    seen = {name: given.obj(body) for name, body in observed(control).items() if name != "rack-b"}
    schemas: dict[str, Any] = {each.name: None if each in lost else {"type": "object"} for each in KINDS}
    gone = {f"definition-{each.name}": () for each in lost}
    result = compose(Request(given.obj(with_pools(a=1)), seen, schemas=schemas, required=gone), {"Existing": provision})
    assert "outlives-machines-rack-b" in result.desired
    assert {(each.api_version, each.kind) for each in lost}.isdisjoint(
        (each.api_version, each.kind) for each in result.requirements
    )


def test_nothing_inside_a_cluster_that_is_made_is_deleted_by_way_of_that_cluster() -> None:
    control = begin(World(), a=1)
    objects = control.list("Object.kubernetes.m.crossplane.io")
    assert objects
    able = [obj for obj in objects if {"*", "Delete"} & set(obj["spec"].get("managementPolicies", "*"))]
    assert able == []


def test_before_its_provider_is_installed_a_cluster_says_so_and_no_pass_fails() -> None:
    control = begin(World(lost=frozenset({"Machines", "Rack"})))
    assert ready(control) == (
        "False",
        "Provisioning",
        "the control cluster has no kind Machines (machines.example.org/v1) and Rack (machines.example.org/v1). "
        "Install provider-machines. Machines eu-1 is being made.",
    )
    refresh(control, World())
    assert ready(control)[0] == "True"


def test_with_half_of_its_provider_the_other_half_is_made() -> None:
    control = begin(World(lost=frozenset({"Rack"})))
    assert names(control, MACHINES) == ["eu-1"]
    assert ready(control)[0] == "False"
    assert "no kind Rack" in ready(control)[2]


def observed(control: ControlPlane) -> dict[str, Any]:
    """Return what the InferenceCluster has composed, by composition resource name."""
    named = "crossplane.io/composition-resource-name"
    annotated = ((obj["metadata"].get("annotations", {}).get(named), obj) for obj in control.everything())
    return {name: obj for name, obj in annotated if name}


@pytest.mark.parametrize("lost", [("racks",), ("machines",), ("machines", "racks")], ids=" and ".join)
def test_a_provider_that_goes_away_loses_nothing_and_is_named(lost: tuple[str, ...]) -> None:
    control = begin(World(), a=1, b=2)
    seen = observed(control)
    result = compose(
        Request(
            given.obj({**with_pools(a=5), "status": status(control)}),
            {name: given.obj(body) for name, body in seen.items()},
            schemas={each.name: None if each.name in lost else {"type": "object"} for each in KINDS},
            required={
                **{f"definition-{name}": () for name in lost},
                "class-gpu-class": (given.obj(hardware()),),
                "residents-eu-1": (),
            },
        ),
        {"Existing": provision},
    )
    assert result.desired.keys() >= seen.keys()
    assert result.fatal, "Crossplane changes nothing: it could neither apply nor delete what has no kind"
    for kind in (each.kind for each in KINDS if each.name in lost):
        assert f"{kind} (machines.example.org/v1)" in result.fatal
    found = given.condition(result, "ClusterReady")
    assert (found.status, found.reason) == ("False", "Provisioning")
    assert "Install provider-machines." in found.message
    asked = {(each.api_version, each.kind) for each in result.requirements if each.api_version == API}
    assert (API, "Rack") not in asked or "racks" not in lost, "what has no kind fails the pass when it is required"


@pytest.mark.parametrize("fetched", [False, True])
def test_while_it_is_not_known_whether_its_kinds_exist_nothing_of_a_cluster_is_changed(fetched: bool) -> None:
    control = begin(World(), a=1)
    seen = observed(control)
    schemas: dict[str, Any] = {each.name: None for each in KINDS} if fetched else {}
    request = Request(
        given.obj(with_pools(b=1)), {name: given.obj(body) for name, body in seen.items()}, schemas=schemas
    )
    result = compose(request, {"Existing": provision})
    assert {name: given.bodies(result)[name]["spec"] for name in ("machines", "rack-a")} == {
        name: seen[name]["spec"] for name in ("machines", "rack-a")
    }
    assert "rack-b" not in result.desired
    assert given.condition(result, "ClusterReady").status == "False"
