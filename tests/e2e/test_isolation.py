"""Which namespaces of a cluster are isolated, and when.

What their policies say of traffic is shown by `tests/network_policies`. Whether they hold is up to a cluster's network
plugin, and kwok has none.
"""

from typing import Any
from uuid import uuid4

from e2e.fleet import SOON, Fleet
from modelplane.model.names import LABEL_ISOLATED, tenant_namespace
from modelplane_dev.plane.api import Api, Kind
from modelplane_dev.plane.cluster import namespace
from modelplane_dev.plane.control_plane import INFERENCE_CLUSTER, OBJECT
from modelplane_dev.plane.waiting import eventually

NAMESPACE = Kind("v1", "Namespace")
POLICY = Kind("networking.k8s.io/v1", "NetworkPolicy")
OPEN: list[dict[str, Any]] = [{}]


def isolate(fleet: Fleet, cluster: str, isolation: str) -> None:
    fleet.plane.hub.api.patch(INFERENCE_CLUSTER, cluster, {"spec": {"stack": {"isolation": isolation}}})


def mark_and_policy(api: Api, team: str) -> tuple[str, str]:
    """Return what a namespace is marked with, and what its NetworkPolicy does."""
    mark = (api.get(NAMESPACE, team) or {}).get("metadata", {}).get("labels", {}).get(LABEL_ISOLATED, "")
    policies = api.list(POLICY, team)
    if not policies:
        return mark, "none"
    (policy,) = policies
    return mark, "open" if policy["spec"]["ingress"] == OPEN else "closed"


def uids(fleet: Fleet, cluster: str) -> set[str]:
    return {pod["metadata"]["uid"] for pod in fleet.pods(cluster)}


def test_namespaces_that_modelplane_makes_are_closed_and_others_only_where_it_is_enforced(fleet: Fleet) -> None:
    team, before = tenant_namespace(fleet.tag), fleet.plane.sites["west"].cluster.api
    before.apply(namespace(team))
    east, west = fleet.add_cluster("east", nodes=2), fleet.add_cluster("west", nodes=2)
    made = fleet.clusters[east].cluster.api
    for name, cluster in (("made", east), ("second", east), ("there", west)):
        fleet.deploy(name, clusterSelector={"matchLabels": {"name": cluster}})
    for name in ("made", "second", "there"):
        fleet.wait_ready(name)
    pods = uids(fleet, east) | uids(fleet, west)

    def found(of_made: tuple[str, str], of_other: tuple[str, str]) -> None:
        assert (mark_and_policy(made, team), mark_and_policy(before, team)) == (of_made, of_other)

    eventually(lambda: found(("creation", "closed"), ("", "none")), within=SOON)
    for cluster in (east, west):
        isolate(fleet, cluster, "Enforced")
    eventually(lambda: found(("creation", "closed"), ("enforced", "closed")), within=SOON)
    for cluster in (east, west):
        isolate(fleet, cluster, "Open")
    eventually(lambda: found(("creation", "open"), ("enforced", "open")), within=SOON)
    for cluster in (east, west):
        isolate(fleet, cluster, "NewNamespaces")
    eventually(lambda: found(("creation", "closed"), ("enforced", "open")), within=SOON)
    for name in ("made", "second", "there"):
        fleet.wait_ready(name)
    assert uids(fleet, east) | uids(fleet, west) == pods


def writers(api: Api, team: str) -> list[list[str]]:
    """Return who has written a namespace, and who its NetworkPolicy, as their managedFields say."""
    found = [api.get(NAMESPACE, team) or {}, *api.list(POLICY, team)]
    return [[entry["manager"] for entry in each["metadata"]["managedFields"]] for each in found]


def look(fleet: Fleet, kind: Kind) -> list[dict[str, Any]]:
    """Have the provider look at the objects of a kind, and return what the status of each Object says of its own."""
    api = fleet.plane.hub.api
    found = api.list(OBJECT, fleet.tag)
    objects = [each for each in found if each["spec"]["forProvider"]["manifest"]["kind"] == kind.kind]
    for each in objects:
        changed = {"metadata": {"annotations": {"looked-at": str(uuid4())}}}
        api.patch(OBJECT, each["metadata"]["name"], changed, fleet.tag)
    return [each["status"]["atProvider"]["manifest"] for each in objects]


def test_what_the_replicas_of_a_team_share_is_written_by_the_first_alone_and_put_right_by_all(fleet: Fleet) -> None:
    team, east = tenant_namespace(fleet.tag), fleet.add_cluster("east")
    api = fleet.clusters[east].cluster.api
    fleet.deploy("first")
    fleet.wait_ready("first")

    def closed() -> None:
        assert mark_and_policy(api, team) == ("creation", "closed")

    eventually(closed, within=SOON)
    before = writers(api, team)
    fleet.deploy("second", replicas=3)
    fleet.wait_ready("second")
    assert writers(api, team) == before
    assert [len(each) for each in before] == [1, 1], before
    for kind in (NAMESPACE, POLICY):
        assert not any("managedFields" in found["metadata"] for found in look(fleet, kind)), "in each of them"

    (policy,) = api.list(POLICY, team)
    api.patch(POLICY, policy["metadata"]["name"], {"spec": {"ingress": OPEN}}, team)
    assert mark_and_policy(api, team) == ("creation", "open")
    look(fleet, POLICY)
    eventually(closed, within=SOON)
    api.delete(POLICY, policy["metadata"]["name"], team)
    look(fleet, POLICY)
    eventually(closed, within=SOON)
    api.patch(NAMESPACE, team, {"metadata": {"labels": {LABEL_ISOLATED: None}}})
    assert mark_and_policy(api, team) == ("", "closed")
    look(fleet, NAMESPACE)
    eventually(closed, within=SOON)
