"""Who is no gateway of ours, and what somebody writes beside a service, gets nothing."""

import pytest

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.live import LiveFleet
from modelplane.compose_cluster.gateway import pair_name
from modelplane.kube.gateway.kinds import gateway_object
from modelplane.model.names import API_VERSION, CLIENT_PAIR, LABEL_DEPLOYMENT, PUBLIC_GATEWAY, SYSTEM_NAMESPACE
from modelplane_dev.plane.api import ApiError, Manifest
from modelplane_dev.plane.cluster import ACCOUNTS, TEAM
from modelplane_dev.plane.control_plane import ENDPOINT
from modelplane_dev.plane.waiting import eventually


@pytest.mark.usefixtures("engines")
def test_a_stranger_at_a_clusters_gateway_gets_nothing(live: LiveFleet) -> None:
    host = live.host("llama", "west")
    live.wait_site("west", "llama")
    for pair in (None, pair_name(f"{live.fleet.tag}-north")):
        answer = live.ask_site("west", host, pair)
        assert answer.refused, answer


def test_a_clusters_gateway_answers_503_for_a_replica_that_is_gone(live: LiveFleet) -> None:
    answer = live.ask_site("west", f"gone.{live.fleet.tag}.x.replicas.modelplane.internal", CLIENT_PAIR)
    assert (answer.status, answer.code) == (503, "unavailable")


@pytest.mark.usefixtures("engines")
def test_what_others_write_beside_a_service_gets_no_request(live: LiveFleet) -> None:
    fleet = live.fleet
    hub, host = fleet.plane.hub, live.host("llama", "west")
    hub.api.apply(_everything_for(TEAM, fleet.tag))
    route = gateway_object(
        "HTTPRoute", "foreign", fleet.tag, {"parentRefs": [{"name": PUBLIC_GATEWAY, "namespace": SYSTEM_NAMESPACE}]}
    )

    def refused() -> None:  # by the policy, once the API server knows of the rights that let the team write routes
        with pytest.raises(ApiError, match="only Modelplane attaches routes"):
            hub.api_of(TEAM).apply(route)

    eventually(refused, within=SOON)
    spoofed = {
        "apiVersion": API_VERSION,
        "kind": "ModelEndpoint",
        "metadata": {"name": "spoofed", "namespace": fleet.tag, "labels": {LABEL_DEPLOYMENT: "llama"}},
        "spec": {"url": "https://thief.example.org", "host": host, "mutualTLS": True},
    }
    hub.api.apply(spoofed)

    def unready() -> None:
        fleet.assert_condition(hub.api.get(ENDPOINT, "spoofed", fleet.tag) or {}, "RoutingReady", "False")

    try:
        hub.api.apply(model_service("beside", fleet.tag, {"llama": 1}))
        live.wait_chat(live.url("beside"))
        eventually(unready, within=SOON)
        eventually(lambda: live.assert_endpoints("beside", 2), within=SOON)
        backends = live.observed("beside").backends
    finally:
        hub.api.delete(ENDPOINT, "spoofed", fleet.tag)
    listed = {endpoint["fqdn"]["hostname"] for each in backends for endpoint in each["spec"]["endpoints"]}
    assert len(listed) == 2, "the clusters of the replicas"
    assert "thief.example.org" not in listed


def _everything_for(user: str, namespace: str) -> Manifest:
    rbac = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{rbac}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": user, "namespace": namespace},
        "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "User", "apiGroup": rbac, "name": f"system:serviceaccount:{ACCOUNTS[user]}"}],
    }
