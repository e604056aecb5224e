"""Streams outlive changes, and silence."""

import os
import signal
from collections.abc import Iterable

import pytest

from e2e.fleet import SOON
from e2e.services import SERVICE, model_service
from gateways.calls import CHAT
from gateways.live import LiveFleet
from gateways.streams import FLEET_URL, LONGEST, SILENCE, WORDS, Stream, serve_endpoint, write_endpoint
from modelplane.kube.gateway.traffic import hop_traffic_policy
from modelplane.model.names import CLUSTER_GATEWAY, SYSTEM_NAMESPACE
from modelplane_dev.plane.api import Kind
from modelplane_dev.plane.control_plane import DEPLOYMENT, ENDPOINT
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

#: Seconds of a stream: longer than Envoy Gateway's own drain time, 60 s, after which a changed listener cuts it.
LASTS = 90.0
#: Seconds of a stream whose way is taken away meanwhile.
OUTLIVES = 60.0
POLICY = Kind("gateway.envoyproxy.io/v1alpha1", "BackendTrafficPolicy")


@pytest.mark.proves("P100")
@pytest.mark.usefixtures("engines", "quiet_provider")
def test_streams_outlive_other_services_and_the_deletion_of_their_own_deployment_and_route(live: LiveFleet) -> None:
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
    with live.engines_for_all() as engines:
        _outlive_its_way(live, engines)
    words, seconds = stream.finish()
    assert words == WORDS
    assert seconds >= LASTS
    live.fleet.figures.append(f"{seconds:.0f} s of a stream beside changes of every listener that it passes")


def _outlive_its_way(live: LiveFleet, engines: Iterable[Process]) -> None:
    """Delete a deployment, for which an engine answers, and all that leads to it in the middle of an answer."""
    fleet, api = live.fleet, live.fleet.plane.hub.api
    fleet.deploy("doomed")
    fleet.wait_counts("doomed", total=1, ready=1)
    (endpoint,) = fleet.endpoints("doomed")
    api.apply(model_service("doomed", fleet.tag, {"doomed": 1}))
    live.wait_answer(200, FLEET_URL, CHAT | {"model": f"{fleet.tag}/doomed"})
    name, host = endpoint["metadata"]["name"], endpoint["spec"]["host"]
    (site,) = (each for each in live.gateways.sites.values() if name in each.configuration())
    assert host in live.gateways.public.configuration()
    # However long its way takes to go, it ends after it.
    stream = Stream(live, "doomed", *([OUTLIVES / len(WORDS)] * (len(WORDS) - 1)), LONGEST)
    api.delete(DEPLOYMENT, "doomed", fleet.tag)

    def gone() -> None:
        assert name not in site.configuration(), "the route and cluster of the site's Envoy"
        assert host not in live.gateways.public.configuration(), "the endpoint of the public Envoy's cluster"

    eventually(gone, within=SOON)
    assert stream.is_running, "it was to end after its way"
    live.wait_chat(live.url("doomed"), 503)
    stream.wait_until(OUTLIVES)
    for engine in engines:
        os.kill(engine.pid, signal.SIGUSR1)
    words, seconds = stream.finish()
    assert words == WORDS
    assert seconds >= OUTLIVES
    fleet.figures.append(f"{seconds:.0f} s of a stream whose ModelDeployment, routes and Envoy clusters were deleted")


def _add_and_remove_keys(live: LiveFleet) -> None:
    api, tag = live.fleet.plane.hub.api, live.fleet.tag
    metadata = {"name": "passing", "namespace": tag}
    api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"ann": "key-of-ann"}})
    keyed = model_service("passing-keyed", tag, {"llama": 1})
    keyed["spec"] |= {
        "keys": [{"name": "ann", "secretRef": {"name": "passing", "key": "ann"}}],
        "rateLimit": {"requests": 1000, "per": "Hour", "perCaller": True},
        "cors": {"allowOrigins": ["https://chat.example.com"]},
    }
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
