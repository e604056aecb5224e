"""Streams outlive changes, and silence."""

import pytest

from e2e.services import SERVICE, model_service
from gateways.live import CHAT, LiveFleet
from gateways.streams import FLEET_URL, SILENCE, WORDS, Stream, serve_endpoint, write_endpoint
from modelplane.kube.gateway.traffic import hop_traffic_policy
from modelplane.model.names import CLUSTER_GATEWAY, SYSTEM_NAMESPACE
from modelplane_dev.plane.api import Kind
from modelplane_dev.plane.control_plane import ENDPOINT

#: Seconds of a stream: longer than Envoy Gateway's own drain time, 60 s, after which a changed listener cuts it.
LASTS = 90.0
POLICY = Kind("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy")


@pytest.mark.usefixtures("engines", "quiet_provider")
def test_a_stream_outlives_services_providers_and_filters_that_come_and_go(live: LiveFleet) -> None:
    api, tag = live.fleet.plane.hub.api, live.fleet.tag
    api.apply(model_service("long", tag, {"llama": 1}))
    live.wait_answer(200, FLEET_URL, CHAT | {"model": f"{tag}/long"})
    stream = Stream(live, "long", *([LASTS / len(WORDS)] * len(WORDS)))
    _change_sites(live, numbers=2)
    _add_and_remove_keys(live)
    write_endpoint(live, "passing", model="another/model", headers={"x-vendor-version": "2"})
    serve_endpoint(live, "passing")
    api.delete(SERVICE, "passing", tag)
    api.delete(ENDPOINT, "passing", tag)
    words, seconds = stream.finish()
    assert words == WORDS
    assert seconds >= LASTS
    live.fleet.figures.append(f"{seconds:.0f} s of a stream beside changes of every listener that it passes")


def _add_and_remove_keys(live: LiveFleet) -> None:
    api, tag = live.fleet.plane.hub.api, live.fleet.tag
    metadata = {"name": "passing", "namespace": tag}
    api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"ann": "key-of-ann"}})
    keyed = model_service("passing-keyed", tag, {"llama": 1})
    keyed["spec"]["keys"] = [{"name": "ann", "secretRef": {"name": "passing", "key": "ann"}}]
    api.apply(keyed)
    url = f"{live.url('passing-keyed')}/v1/chat/completions"
    live.wait_answer(200, url, CHAT, "Authorization: Bearer key-of-ann")
    api.delete(SERVICE, "passing-keyed", tag)


def _change_sites(live: LiveFleet, numbers: int) -> None:
    """Change the filters of the sites' listeners as an InferencePool does: each answer that is replaced is one more."""
    for site in live.fleet.clusters.values():
        api = site.cluster.api
        found = api.get(POLICY, CLUSTER_GATEWAY, SYSTEM_NAMESPACE) or {}
        wanted = hop_traffic_policy(CLUSTER_GATEWAY, SYSTEM_NAMESPACE, CLUSTER_GATEWAY)["spec"]["responseOverride"]
        assert found["spec"]["responseOverride"] == wanted
        for number in range(numbers):
            added = [{**wanted[0], "match": {"statusCodes": [{"type": "Value", "value": 510 + number}]}}]
            api.patch(POLICY, CLUSTER_GATEWAY, {"spec": {"responseOverride": wanted + added}}, SYSTEM_NAMESPACE)


@pytest.mark.last
def test_a_stream_outlives_six_minutes_of_silence(silent_stream: Stream) -> None:
    words, seconds = silent_stream.finish()
    assert words == WORDS
    assert seconds >= SILENCE
