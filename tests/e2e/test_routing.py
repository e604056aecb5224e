"""One URL over the replicas of deployments, with Envoy Gateway's kinds on the control cluster and a fake controller."""

import pytest

from e2e.fleet import CLUSTER_USAGE, SOON, Fleet
from e2e.services import SERVICE, ObservedService, model_service
from modelplane.kube.gateway.listener_filters import filters_policy
from modelplane.model.names import INFERENCE_GATEWAY, PUBLIC_GATEWAY, ROUTER, SYSTEM_NAMESPACE
from modelplane_dev.plane.api import ApiError, Manifest
from modelplane_dev.plane.envoy_gateway import GATEWAY, SECURITY_POLICY, establish_kinds
from modelplane_dev.plane.fakes import play_acceptance, play_listener_filters, play_public_gateway, play_router
from modelplane_dev.plane.gateways.live import ADDRESS, INFERENCE_GATEWAY_KIND, inference_gateway
from modelplane_dev.plane.issuer import fake_issuer
from modelplane_dev.plane.waiting import eventually

WEIGHTS = {"llama": 90, "canary": 10}


def _gateway(fleet: Fleet) -> Manifest:
    return fleet.plane.hub.api.get(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY) or {}


def _open_gateway(fleet: Fleet) -> None:
    """Wait until the public Gateway is composed, and play that it serves."""
    hub = fleet.plane.hub

    def composed() -> None:
        assert hub.api.get(GATEWAY, PUBLIC_GATEWAY, SYSTEM_NAMESPACE), _gateway(fleet).get("status")

    eventually(composed, within=SOON)
    play_public_gateway(hub, ADDRESS)

    def has_router() -> None:
        message = str(fleet.assert_condition(_gateway(fleet), "ControllerReady", "False", "Installing"))
        assert f"{ROUTER} does not serve yet" in message, message

    eventually(has_router, within=SOON)
    play_router(hub)
    eventually(lambda: fleet.assert_condition(_gateway(fleet), "ControllerReady"), within=SOON)
    metadata = filters_policy()["metadata"]

    def asks_for_keys() -> None:
        assert hub.api.get(SECURITY_POLICY, metadata["name"], metadata["namespace"]), _gateway(fleet).get("status")

    eventually(asks_for_keys, within=SOON)
    assert "url" not in _gateway(fleet)["status"], "keys are not checked yet"
    play_listener_filters(hub)


def _wait_shares(service: ObservedService, *deployments: str) -> None:
    """Wait until the route has the weight of each deployment on exactly the endpoints of its replicas."""

    def routed() -> None:
        names = {
            name: frozenset(found["metadata"]["name"] for found in service.fleet.endpoints(name))
            for name in deployments
        }
        assert all(names.values()), names
        assert service.shares() == {names[name]: WEIGHTS[name] for name in deployments}, service.manifest["status"]

    eventually(routed, within=SOON)


def _delete_service_and_gateway(fleet: Fleet, service: ObservedService) -> None:
    """See that the InferenceGateway outlives its services, and no longer."""
    api = fleet.plane.hub.api
    reason = "ModelServices are reached through it"
    fleet.wait_protected(CLUSTER_USAGE, reason)
    with pytest.raises(ApiError, match=reason):
        api.delete(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY)
    api.delete(SERVICE, service.name, fleet.tag)

    def deleted() -> None:
        try:
            api.delete(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY)
        except ApiError as error:
            raise AssertionError(error) from error
        assert not _gateway(fleet)

    eventually(deleted, within=SOON)


@pytest.mark.proves("P94")
@pytest.mark.long
def test_a_service_waits_for_the_gateway_and_then_follows_its_endpoints(fleet: Fleet) -> None:
    hub, service = fleet.plane.hub, ObservedService(fleet, "chat")
    fleet.add_cluster("east", nodes=2)
    hub.api.apply(model_service("chat", fleet.tag, WEIGHTS))
    hub.api.apply(inference_gateway())

    def waiting() -> None:
        found = fleet.assert_condition(service.manifest, "RoutingReady", "False", "WaitingForGateway")
        assert "Install Envoy Gateway" in str(found["status"]["conditions"])
        fleet.assert_condition(_gateway(fleet), "ControllerReady", "False", "Installing")

    eventually(waiting, within=SOON)
    establish_kinds(hub)
    fleet.deploy("llama", replicas=2)
    fleet.deploy("canary")
    with fake_issuer(hub):
        _open_gateway(fleet)
    _wait_shares(service, "llama", "canary")
    uid = service.route["metadata"]["uid"]
    play_acceptance(hub, service.route)

    def ready() -> None:
        found = fleet.assert_condition(service.manifest, "Ready")
        assert found["status"]["address"] == f"http://{ADDRESS}/{fleet.tag}/chat"
        assert found["status"]["endpoints"] == {"total": 3, "ready": 3}

    eventually(ready, within=SOON)
    fleet.deploy("llama", replicas=1)
    fleet.deploy("canary", replicas=0)
    fleet.wait_counts("llama", total=1, ready=1)
    fleet.wait_condition("canary", "ReplicasScheduled", "True", "ScaledToZero")
    _wait_shares(service, "llama")
    fleet.deploy("llama", replicas=0)

    def unavailable() -> None:
        fleet.assert_condition(service.manifest, "EndpointsResolved", "False", "NoEndpoints")
        assert service.shares() == {}
        assert service.route["metadata"]["uid"] == uid

    eventually(unavailable, within=SOON)
    _delete_service_and_gateway(fleet, service)
