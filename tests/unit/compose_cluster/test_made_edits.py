"""What each edit of a cluster on GKE does, pass by pass: nothing rolls nodes under replicas unasked."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from modelplane.preview import ControlPlane, InvalidObject
from unit.compose_cluster import clusters as given
from unit.compose_cluster import made

Manifest = dict[str, Any]
ON_IT = {"heldNodes": 2, "heldBy": ["ml/chat-1"]}
SCALED = {"nodeCount": None, "minNodeCount": 1, "maxNodeCount": 6}
BIGGER = {**made.RECIPE, "machineType": "g2-standard-16"}
OTHER_GPU = {**made.RECIPE, "accelerator": {"type": "nvidia-tesla-t4", "count": 1}}


class Pool:
    """One pool of a ManagedCluster on GKE, which is made, and then edited."""

    def __init__(self, **fields: Any) -> None:
        self._fields = {**made.asked_pool(), **fields}
        self._settings: Manifest = {}
        #: What the provider reports, by composition resource name.
        self.there: dict[str, Manifest] = {}
        self.observed: dict[str, Manifest] = {}
        self.turn()

    def turn(self, **edit: Any) -> "Pool":
        """Edit the pool, let a pass compose it, and the provider carry it out."""
        self._settings |= {"kubernetesVersion": edit.pop("kubernetesVersion")} if "kubernetesVersion" in edit else {}
        self._fields = {name: each for name, each in {**self._fields, **edit}.items() if each is not None}
        self.result = made.run(made.managed(self._fields, **self._settings), self.observed)
        self.observed = made.seen(given.bodies(self.result), **self.there)
        return self

    @property
    def composed(self) -> Manifest:
        """Return the fields of the NodePool."""
        found: Manifest = self.observed["pool-l4"]["spec"]["forProvider"]
        return found

    @property
    def row(self) -> Manifest:
        """Return what the status says of the pool."""
        found: Manifest = (self.result.status or {})["pools"][0]
        return found

    @property
    def reason(self) -> str:
        return str(given.condition(self.result, "CloudReady").reason)


def machine(pool: Pool) -> Any:
    return pool.composed["nodeConfig"]["machineType"]


def disk(pool: Pool) -> Any:
    return pool.composed["nodeConfig"]["diskSizeGb"]


def zones(pool: Pool) -> Any:
    return pool.composed["nodeLocations"]


ROLLING: dict[str, tuple[Manifest, Callable[[Pool], Any], Any, Any, str]] = {
    "another machine type of the class": (
        {"recipe": BIGGER},
        machine,
        "g2-standard-8",
        "g2-standard-16",
        "machineType",
    ),
    "a larger disk of the class": ({"recipe": {**made.RECIPE, "diskSizeGb": 200}}, disk, 100, 200, "diskSizeGb"),
    "another zone": ({"zones": ["us-central1-b"]}, zones, ["us-central1-a"], ["us-central1-b"], "zones"),
}


@pytest.mark.parametrize(("edit", "field", "before", "after", "called"), ROLLING.values(), ids=ROLLING)
def test_an_edit_that_makes_nodes_anew_is_held_while_replicas_are_on_them_until_rolling_is_allowed(
    edit: Manifest, field: Callable[[Pool], Any], before: Any, after: Any, called: str
) -> None:
    pool = Pool(**ON_IT)
    assert field(pool.turn(**edit)) == before
    assert (pool.row["state"], pool.reason) == ("Held", "Made"), "the cluster serves on"
    assert any(called in each for each in pool.row["held"])
    assert "ml/chat-1" in pool.row["message"]
    assert "allowRolling" in pool.row["message"]
    assert field(pool.turn()) == before
    assert field(pool.turn(allowRolling=True)) == after
    assert pool.row == {"name": "l4", "state": "Ready", "nodes": 2}


@pytest.mark.parametrize(("edit", "field", "before", "after", "called"), ROLLING.values(), ids=ROLLING)
def test_it_is_made_at_once_where_no_replica_is_and_as_soon_as_none_is_left(
    edit: Manifest, field: Callable[[Pool], Any], before: Any, after: Any, called: str
) -> None:
    assert field(Pool().turn(**edit)) == after
    pool = Pool(**ON_IT)
    assert field(pool.turn(**edit)) == before
    assert field(pool.turn(heldNodes=None, heldBy=None)) == after


IMMUTABLE: dict[str, tuple[Manifest, str, str, str]] = {
    "another accelerator of the class": ({"recipe": OTHER_GPU}, "accelerator", "nvidia-l4", "nvidia-tesla-t4"),
    "a reservation": ({"reservation": "mine"}, "reservation", "none", "mine"),
}


@pytest.mark.parametrize("held", [{}, ON_IT], ids=["free", "held"])
@pytest.mark.parametrize(("edit", "field", "before", "after"), IMMUTABLE.values(), ids=IMMUTABLE)
def test_what_gke_cannot_change_stays_and_the_edit_is_an_invalid_node_pool(
    edit: Manifest, field: str, before: str, after: str, held: Manifest
) -> None:
    pool = Pool(**held)
    was = deepcopy(pool.composed)
    pool.turn(**edit, allowRolling=True)
    assert pool.composed["nodeConfig"]["guestAccelerator"] == was["nodeConfig"]["guestAccelerator"]
    assert "reservationAffinity" not in pool.composed["nodeConfig"]
    message = given.condition(pool.result, "CloudReady").message
    assert pool.reason == "InvalidNodePool"
    for words in ("node pool l4", field, before, after, "add a pool beside it"):
        assert words in message
    undone = {"recipe": made.RECIPE, "reservation": None}
    assert pool.turn(**undone).reason == "Made"


def test_one_edit_that_cannot_be_made_keeps_no_other_from_being_made() -> None:
    pool = Pool().turn(recipe={**OTHER_GPU, "diskSizeGb": 200})
    assert (disk(pool), pool.reason) == (200, "InvalidNodePool")


def most(pool: Pool) -> Any:
    return pool.composed["autoscaling"]["totalMaxNodeCount"]


def test_the_most_nodes_are_never_fewer_than_replicas_hold() -> None:
    pool = Pool(**SCALED, **ON_IT)
    assert (most(pool), pool.row["nodes"]) == (6, 6)
    pool.turn(maxNodeCount=1)
    assert (most(pool), pool.row["nodes"]) == (2, 2)
    pool.turn(heldNodes=1)
    assert (most(pool), pool.row["nodes"]) == (1, 1)


def test_a_fixed_pool_does_not_shrink_under_replicas_because_gke_would_choose_the_nodes() -> None:
    pool = Pool(nodeCount=4, **ON_IT)
    pool.turn(nodeCount=3)
    assert (pool.composed["nodeCount"], pool.row["state"], pool.row["nodes"]) == (4, "Held", 3)
    assert "GKE would choose" in pool.row["message"]
    assert pool.turn(heldNodes=None).composed["nodeCount"] == 3
    grown = Pool(nodeCount=4, **ON_IT).turn(nodeCount=5)
    assert (grown.composed["nodeCount"], grown.row["state"]) == (5, "Ready")


def test_a_scaled_pool_becomes_fixed_and_scaled_again() -> None:
    pool = Pool(**SCALED).turn(maxNodeCount=None, minNodeCount=None, nodeCount=2)
    assert ("autoscaling" in pool.composed, pool.composed["nodeCount"]) == (False, 2)
    pool.turn(**SCALED)
    assert ("nodeCount" in pool.composed, most(pool)) == (False, 6)


def test_a_scaled_pool_with_replicas_does_not_become_a_smaller_fixed_one() -> None:
    pool = Pool(**SCALED, **ON_IT).turn(maxNodeCount=None, minNodeCount=None, nodeCount=3)
    assert (most(pool), pool.row["state"]) == (6, "Held")


def test_the_first_size_of_a_scaled_pool_has_no_effect_later_and_it_is_said() -> None:
    pool = Pool(minNodeCount=1, maxNodeCount=6, nodeCount=1).turn(nodeCount=4)
    assert pool.observed["pool-l4"]["spec"]["initProvider"] == {"initialNodeCount": 1}
    assert "set minNodeCount" in pool.row["message"]
    assert pool.row["state"] == "Ready"


def upgraded(**fields: Any) -> Pool:
    """Return a pool of a cluster whose control plane has the next version that is asked for, and the pool not yet."""
    pool = Pool(**fields)
    pool.there = {name: {"version": "1.35.3-gke.1"} for name in ("pool_l4", "pool_system")}
    pool.there["cluster"] = {"masterVersion": "1.35.3-gke.1"}
    pool.turn()
    pool.turn(kubernetesVersion="1.36")
    assert pool.observed["cluster"]["spec"]["forProvider"]["minMasterVersion"] == "1.36"
    assert "version" not in pool.composed, "the control plane goes first"
    pool.there["cluster"] = {"masterVersion": "1.36.1-gke.7"}
    return pool.turn().turn()


def test_the_nodes_follow_the_control_plane_to_the_next_version_but_not_those_under_replicas() -> None:
    assert upgraded().composed["version"] == "1.36.1-gke.7"
    pool = upgraded(**ON_IT)
    system = pool.observed["pool-system"]["spec"]["forProvider"]
    assert (system["version"], "version" in pool.composed) == ("1.36.1-gke.7", False)
    assert pool.row["held"] == ["spec.cluster.gke.kubernetesVersion"]
    assert pool.turn(allowRolling=True).composed["version"] == "1.36.1-gke.7"


def test_a_patch_of_the_control_plane_rolls_no_nodes() -> None:
    pool = upgraded()
    pool.there["cluster"] = {"masterVersion": "1.36.2-gke.1"}
    pool.there["pool_l4"] = {"version": "1.36.1-gke.7"}
    assert pool.turn().turn().composed["version"] == "1.36.1-gke.7"


def test_a_later_version_of_modelplane_changes_no_field_that_cannot_be_changed() -> None:
    pool = Pool()
    older = deepcopy(pool.observed)
    older["cluster"]["spec"]["forProvider"]["datapathProvider"] = "LEGACY_DATAPATH"
    older["subnetwork"]["spec"]["forProvider"]["ipCidrRange"] = "10.9.0.0/20"
    older["pool-l4"]["metadata"]["name"] = "older-name"
    bodies = given.bodies(made.run(made.managed(made.asked_pool()), older))
    assert bodies["cluster"]["spec"]["forProvider"]["datapathProvider"] == "LEGACY_DATAPATH"
    assert bodies["subnetwork"]["spec"]["forProvider"]["ipCidrRange"] == "10.9.0.0/20"
    assert bodies["pool-l4"]["metadata"]["name"] == "older-name"


FIXED: dict[str, tuple[Manifest, Manifest]] = {
    "region": ({}, {"region": "europe-west4"}),
    "credentials": ({"credentials": {"name": "a"}}, {"credentials": {"name": "b"}}),
    "credentials are removed": ({"credentials": {"name": "a"}}, {}),
    "network": ({"network": {"cidr": "10.1.0.0/16"}}, {"network": {"cidr": "10.2.0.0/16"}}),
    "network is removed": ({"network": {"cidr": "10.1.0.0/16"}}, {}),
    "network is added": ({}, {"network": {"cidr": "10.1.0.0/16"}}),
    "a version is lowered": ({"kubernetesVersion": "1.36"}, {"kubernetesVersion": "1.35"}),
    "a version is skipped": ({"kubernetesVersion": "1.35"}, {"kubernetesVersion": "1.37"}),
}


@pytest.mark.parametrize(("before", "after"), FIXED.values(), ids=FIXED)
def test_what_cannot_be_changed_of_a_cluster_is_refused_at_once(before: Manifest, after: Manifest) -> None:
    control = ControlPlane([made.cluster(gke=before)], None)
    pools = [made.pool(zones=["europe-west4-a"])] if "region" in after else [made.pool()]
    with pytest.raises(InvalidObject, match=r"cannot be changed|one minor version at a time"):
        control.apply(made.cluster(*pools, gke=after))
    control.apply(made.cluster(gke={**before, "maintenance": {"start": "01:00"}}))


def test_a_version_may_be_raised_by_one() -> None:
    control = ControlPlane([made.cluster(gke={"kubernetesVersion": "1.35"})], None)
    control.apply(made.cluster(gke={"kubernetesVersion": "1.36"}))


def test_a_cluster_that_is_made_does_not_become_one_that_is_brought() -> None:
    control = ControlPlane([made.cluster()], None)
    with pytest.raises(InvalidObject, match="source cannot be changed"):
        control.apply(given.cluster())
