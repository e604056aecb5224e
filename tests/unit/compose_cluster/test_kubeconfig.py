"""A kubeconfig that leads to the cluster of another InferenceCluster: that one's Gateway stays its own."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from given.manifests import cluster, deployment
from modelplane.preview import ControlPlane
from modelplane.preview.simulation.providers import StatusPatch
from modelplane.preview.store import View
from modelplane.preview.worlds import healthy
from unit.compose_cluster import clusters as given
from unit.compose_cluster import test_sharing as shared
from unit.compose_cluster.physical import PhysicalCluster
from unit.compose_cluster.test_identity import before, marked, reached

OBSERVES = ["Observe"]


@dataclass
class Clusters:
    """Several clusters, of which a kubeconfig leads to one."""

    each: dict[str, PhysicalCluster]
    kinds: Any = healthy.kinds

    def __call__(self, view: View) -> Iterator[StatusPatch]:
        """Yield what the provider writes for all of them."""
        for found in self.each.values():
            yield from found(view)

    def lead(self, name: str, to: str) -> None:
        """Make the kubeconfig of an InferenceCluster lead to the cluster that was made for another."""
        for key, found in self.each.items():
            found.names = found.names | {name} if key == to else found.names - {name}


def begin(*names: str, held: Collection[str] = ()) -> tuple[ControlPlane, Clusters]:
    """Return a control plane in which eu-1, and the others of these names, have settled, each on its own cluster."""
    control, first = shared.begin(names=("eu-1",), held=held)
    world = Clusters({"eu-1": first, "eu-2": PhysicalCluster(frozenset({"eu-2"}), uid="uid-2")})
    control.world = world
    for name in names:
        control.apply(cluster(name, pool=f"pool-{name}"))
    shared.settle(control)
    return control, world


def managed(control: ControlPlane, name: str) -> list[tuple[str, ...]]:
    """Return the kinds of what an InferenceCluster does more with than observe it, each with its policies."""
    found = [each for each in shared.specs(control, name) if each.get("managementPolicies") != OBSERVES]
    return sorted((each["forProvider"]["manifest"]["kind"], *each.get("managementPolicies", ())) for each in found)


def shown(there: PhysicalCluster) -> str:
    """Return the name of the Secret that the Gateway of a cluster shows."""
    listeners = there.there[shared.GATEWAY]["spec"]["listeners"]
    return str(listeners[0]["tls"]["certificateRefs"][0]["name"])


#: Where the kubeconfigs lead, by InferenceCluster.
LEADS = {
    "one to the other's": {"eu-1": "eu-2"},
    "each to the other's": {"eu-1": "eu-2", "eu-2": "eu-1"},
}


#: The InferenceClusters whose spec is invalid.
HELD = {"none is held": frozenset[str](), "one is held": frozenset({"eu-1"}), "both are": frozenset({"eu-1", "eu-2"})}


@pytest.mark.parametrize("leads", LEADS.values(), ids=LEADS)
@pytest.mark.parametrize("invalid", HELD.values(), ids=HELD)
def test_what_is_on_a_cluster_is_observed_alone_while_the_kubeconfig_leads_to_another(
    leads: dict[str, str], invalid: frozenset[str]
) -> None:
    held: set[str] = set()
    control, world = begin("eu-2", held=held)
    held |= invalid
    shared.settle(control)
    own = {name: shown(there) for name, there in world.each.items()}
    usual = {name: managed(control, name) for name in own}
    for name, to in leads.items():
        world.lead(name, to)
    shared.settle(control)
    for name in leads:
        assert shared.condition(control, name, "ClusterReady")["reason"] == "IdentityChanged"
        assert managed(control, name) == []
    settled = {name: list(there.certificates) for name, there in world.each.items()}
    for _ in range(5):
        for name in own:
            control.reconcile("InferenceCluster", None, name)
    assert {name: there.certificates for name, there in world.each.items()} == settled, "nobody fights over it"
    for name in leads:
        world.lead(name, name)
    shared.settle(control)
    assert {name: shown(there) for name, there in world.each.items()} == own
    assert {name: managed(control, name) for name in own} == usual
    assert shared.ready(control, tuple(own)) == set(own) - held
    assert [there.deleted for there in world.each.values()] == [[], []]


@pytest.mark.parametrize("leads", LEADS.values(), ids=LEADS)
@pytest.mark.parametrize("invalid", HELD.values(), ids=HELD)
def test_one_that_is_deleted_while_its_kubeconfig_leads_to_another_cluster_deletes_nothing_there(
    leads: dict[str, str], invalid: frozenset[str]
) -> None:
    held: set[str] = set()
    control, world = begin("eu-2", held=held)
    held |= invalid
    for name, to in leads.items():
        world.lead(name, to)
    shared.settle(control)
    control.delete("InferenceCluster", None, "eu-1")
    shared.settle(control)
    assert [there.deleted for there in world.each.values()] == [[], []]
    if leads.keys() == {"eu-1"} and "eu-2" not in held:
        assert shared.condition(control, "eu-2", "Ready")["status"] == "True"


def test_replicas_write_nothing_to_another_cluster_and_are_as_they_were_once_the_kubeconfig_leads_back() -> None:
    control, world = begin()
    control.apply(deployment())
    shared.settle(control)
    own, other = (there.there for there in world.each.values())
    before, usual = dict(own), managed(control, "eu-1")
    assert "Deployment" in {key[0] for key in own}
    (replica,) = control.list("ModelReplica")
    empty = dict(other)
    world.lead("eu-1", "eu-2")
    shared.settle(control)
    assert managed(control, "eu-1") == []
    other.clear()
    other.update(empty)
    for _ in range(5):
        for kind, namespace in (("InferenceCluster", None), ("ModelReplica", "team"), ("ModelDeployment", "team")):
            for each in control.list(kind):
                control.reconcile(kind, namespace, each["metadata"]["name"])
    assert other == empty
    world.lead("eu-1", "eu-1")
    shared.settle(control)
    assert managed(control, "eu-1") == usual
    assert dict(own) == before, "nothing was changed there, so no pod was either"
    (now,) = control.list("ModelReplica")
    assert now["metadata"]["uid"] == replica["metadata"]["uid"]
    assert "True" in {each["status"] for each in now["status"]["conditions"] if each["type"] == "Ready"}
    assert [there.deleted for there in world.each.values()] == [[], []]


#: What makes a cluster one on which nothing may be changed, and what makes it as it was.
ANOTHER = ("another cluster", "another installation")


def make_another(world: Clusters, how: str, *, back: bool = False) -> None:
    """Let the kubeconfig of eu-1 lead to another cluster, or its cluster be marked by another installation."""
    if how == "another cluster":
        world.lead("eu-1", "eu-1" if back else "eu-2")
    else:
        there = world.each["eu-1"].there
        there[shared.MARK] = {**there[shared.MARK], "data": {"id": "here" if back else "there"}}


def workloads(there: PhysicalCluster) -> list[str]:
    """Return what runs on a cluster and is reached there."""
    return sorted(kind for kind, _, _ in there.there if kind in ("Deployment", "Service"))


@pytest.mark.parametrize("how", ANOTHER)
@pytest.mark.parametrize("starts", [True, False], ids=["has served", "has never served"])
def test_a_replica_that_is_scaled_away_meanwhile_waits_and_leaves_nothing_behind(how: str, starts: bool) -> None:
    control, world = begin()
    control.apply(deployment())
    if starts:
        shared.settle(control)
    else:
        control.reconcile("ModelDeployment", "team", "chat")
        control.reconcile("ModelReplica", "team", control.list("ModelReplica")[0]["metadata"]["name"])
        control.reconcile("InferenceCluster", None, "eu-1")
    own, other = world.each.values()
    make_another(world, how)
    for _ in range(3):
        control.reconcile("InferenceCluster", None, "eu-1")
        for each in control.list("ModelReplica"):
            control.reconcile("ModelReplica", "team", each["metadata"]["name"])
    fewer = deployment()
    fewer["spec"]["replicas"] = 0
    control.apply(fewer)
    shared.settle(control)
    assert workloads(own), "it cannot be removed now"
    assert other.deleted == []
    make_another(world, how, back=True)
    shared.settle(control)
    assert (control.list("ModelReplica"), workloads(own)) == ([], [])


def test_on_a_cluster_of_nobody_nothing_is_made_once_it_is_known_to_be_another() -> None:
    control, world = begin()
    there = world.each["eu-2"]
    empty = dict(there.there)
    world.lead("eu-1", "eu-2")
    shared.settle(control)
    there.there = dict(empty)
    shared.settle(control)
    for _ in range(5):
        control.reconcile("InferenceCluster", None, "eu-1")
    assert there.there.keys() == empty.keys()


def test_the_address_that_was_published_stays_while_the_kubeconfig_leads_to_another_cluster() -> None:
    body = before()
    body["status"]["gateway"] = {"address": "gw.example.org", "hostname": "gw.example.org"}
    seen = reached("uid-2") | {"gateway": given.gateway("other.example.org")}
    assert given.status(given.run(body, seen, same_cluster=[]))["gateway"] == body["status"]["gateway"]
    back = reached() | {"gateway": given.gateway("other.example.org")}
    assert given.status(given.run(body, back, same_cluster=[]))["gateway"]["address"] == "other.example.org"


#: Of one that shares a cluster: what its probe shows, and which marked configs are fetched.
UNKNOWN: dict[str, tuple[dict[str, Any], Any]] = {
    "another cluster": (reached("uid-2"), []),
    "nothing yet": (reached() | {"kube-system": given.looking("Namespace", None)}, [marked("eu-0")]),
    "the cluster, whose configs are not fetched": (reached(), None),
}


@pytest.mark.parametrize(("seen", "fetched"), UNKNOWN.values(), ids=UNKNOWN)
def test_one_that_shares_a_cluster_does_not_take_the_mark_before_it_sees_that_nobody_has_it(
    seen: dict[str, Any], fetched: Any
) -> None:
    body = before()
    body["metadata"]["annotations"] = {"modelplane.ai/shares-cluster": "true"}
    labels = {"modelplane.ai/shares-cluster-uid": "uid-1"}
    config = seen["provider-config"]
    seen = seen | {"provider-config": {**config, "metadata": {**config["metadata"], "labels": labels}}}
    result = given.run(body, seen, same_cluster=fetched)
    assert given.bodies(result)["provider-config"]["metadata"]["labels"] == labels
