"""Requests to a service's URL: Envoy Gateway and Envoy are real on the control cluster and on two inference clusters.

Engines are fakes that answer as OpenAI does, one process at the address of each pod. Names are resolved by a file.
"""

import threading
import time
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.fleet import SOON, Fleet
from e2e.live import WORKERS, LiveFleet, live_fleet, lost
from e2e.live_pages import open_page
from e2e.passes import LivePasses
from e2e.scenarios import own_fleet
from e2e.services import model_service
from modelplane.compose_cluster.gateway import pair_name
from modelplane.kube.gateway.kinds import gateway_object
from modelplane.model.names import (
    API_VERSION,
    AUTHORITY,
    CA_KEY,
    CLIENT_PAIR,
    INFERENCE_GATEWAY,
    LABEL_DEPLOYMENT,
    PUBLIC_GATEWAY,
    SYSTEM_NAMESPACE,
)
from modelplane_dev.plane.api import ApiError, Kind, Manifest
from modelplane_dev.plane.cluster import ACCOUNTS, TEAM
from modelplane_dev.plane.control_plane import DEPLOYMENT, ENDPOINT, INFERENCE_CLUSTER, ControlPlane
from modelplane_dev.plane.envoy_gateway import BACKEND
from modelplane_dev.plane.fakes import POD_ADDRESSES
from modelplane_dev.plane.gateways.live import ADDRESS, INFERENCE_GATEWAY_KIND
from modelplane_dev.plane.gateways.requests import CUT
from modelplane_dev.plane.issuer import SECRET
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

pytestmark = pytest.mark.alone

CHAT = {"model": "example/model", "messages": [{"role": "user", "content": "Hello"}]}
WEIGHTS = {"llama": 90, "canary": 10}
#: Seconds from a service's creation to its first answer, requests whose shares are counted, and by how much a share may
#: differ from its weight. By chance alone a share of a tenth differs by 0.02 once in 40,000 runs.
FIRST_ANSWER, REQUESTS, TOLERANCE = 15.0, 4000, 0.02
#: Seconds that a certificate is valid for where renewal is tested.
LEAF = 60.0
CONFIG_MAP = Kind("v1", "ConfigMap")


@pytest.fixture(scope="module")
def live(plane: ControlPlane, request: pytest.FixtureRequest) -> Iterator[LiveFleet]:
    """Run the gateways, and two replicas of one deployment and one of another."""
    with own_fleet(plane, request.node) as fleet, live_fleet(fleet) as running:
        fleet.deploy("llama", replicas=2)
        fleet.deploy("canary")
        fleet.wait_counts("llama", total=2, ready=2)
        fleet.wait_counts("canary", total=1, ready=1)
        yield running


@pytest.fixture
def engines(live: LiveFleet) -> Iterator[dict[str, Process]]:
    """Run an engine in each pod, once each cluster has one of the two replicas and no other."""
    eventually(lambda: _assert_spread(live.fleet), within=SOON)
    running = live.run_engines()
    yield running
    for engine in running.values():
        engine.stop()


def _assert_spread(fleet: Fleet) -> None:
    endpoints = fleet.endpoints("llama")
    clusters = sorted(endpoint["metadata"]["labels"]["modelplane.ai/cluster"] for endpoint in endpoints)
    assert clusters == sorted(fleet.clusters), clusters


def _wait_status(live: LiveFleet, url: str, status: int) -> float:
    """Wait until the service answers with a status; return after how many seconds."""
    started = time.monotonic()

    def answered() -> None:
        answer = live.ask(f"{url}/v1/chat/completions", CHAT)
        assert answer.status == status, answer

    eventually(answered, within=SOON)
    return time.monotonic() - started


def _share(counts: Counter[str], deployment: str) -> float:
    """Return the share of the requests that the replicas of a deployment have answered."""
    return sum(count for name, count in counts.items() if name.startswith(f"{deployment}-")) / counts["200"]


def _assert_only_the_api_is_reachable(live: LiveFleet, url: str) -> None:
    caller = ("Authorization: Bearer secret", "x-api-key: secret", "x-modelplane-caller: somebody", "X-Gateway-Y: z")
    seen = live.ask(f"{url}/v1/chat/completions", CHAT, *caller).body["headers"]
    assert not {"authorization", "x-api-key", "x-modelplane-caller", "x-gateway-y"} & seen.keys()
    for path in (f"{url}/v1/load_lora_adapter", f"{url}/v1/unload_lora_adapter", f"{url}/metrics", f"http://{ADDRESS}"):
        answer = live.ask(path, {})
        assert (answer.status, answer.code) == (404, "not_found"), path


def _assert_a_stream_is_whole(live: LiveFleet, url: str) -> None:
    answer = live.ask(f"{url}/v1/chat/completions", CHAT | {"stream": True})
    events = [line for line in answer.text.splitlines() if line]
    assert len(events) == 6
    assert events[-1] == "data: [DONE]"


def test_a_url_answers_by_weight_and_loses_nothing_when_an_engine_dies(
    live: LiveFleet, engines: dict[str, Process]
) -> None:
    fleet = live.fleet
    url = f"http://{ADDRESS}/{fleet.tag}/weighted"
    fleet.plane.hub.api.apply(model_service("weighted", fleet.tag, WEIGHTS))
    seconds = _wait_status(live, url, 200)
    fleet.figures.append(f"service applied to first answer {seconds:.1f} s")
    assert seconds < FIRST_ANSWER
    _assert_a_stream_is_whole(live, url)
    _assert_only_the_api_is_reachable(live, url)
    counts = live.send_many(url, REQUESTS)
    assert lost(counts) == {}
    share = _share(counts, "canary")
    fleet.figures.append(f"of {REQUESTS} requests {share:.1%} to the entry of weight 10 of 100")
    assert abs(share - 0.1) < TOLERANCE
    dying, staying = (name for name in engines if name.startswith("llama-"))
    death = threading.Timer(1.0, engines[dying].kill)
    death.start()
    counts = live.send_many(url, REQUESTS)
    death.join()
    assert 0 < counts[dying] < counts[staying]
    fleet.figures.append(f"an engine killed under load: of {REQUESTS} requests lost {lost(counts) or 'none'}")
    assert lost(counts) == {}
    for engine in engines.values():
        engine.stop()
    _wait_status(live, url, 503)
    assert live.ask(f"{url}/v1/models").code == "unavailable"


@pytest.mark.usefixtures("engines")
def test_the_loss_of_a_clusters_gateway_loses_no_request(live: LiveFleet) -> None:
    fleet = live.fleet
    url = f"http://{ADDRESS}/{fleet.tag}/spread"
    fleet.plane.hub.api.apply(model_service("spread", fleet.tag, {"llama": 1}))
    _wait_status(live, url, 200)
    lost_gateway = live.gateways.sites["west"].envoy
    loss = threading.Timer(1.0, lost_gateway.kill)
    loss.start()
    try:
        counts = live.send_many(url, REQUESTS)
        loss.join()
        engines = [count for name, count in counts.items() if not name.isdecimal()]
        assert len(engines) == 2
        assert min(engines) < max(engines) / 1.5, counts
    finally:
        lost_gateway.start()
    cut = counts[str(CUT)]
    fleet.figures.append(
        f"a cluster's gateway killed under load: of {REQUESTS} requests lost {lost(counts) or 'none'}, cut {cut}"
    )
    assert lost(counts) == {}
    assert cut <= WORKERS, "no more than were under way"


def test_a_drained_cluster_loses_no_request(live: LiveFleet) -> None:
    fleet, api = live.fleet, live.fleet.plane.hub.api
    drained, other = (f"{fleet.tag}-{site}" for site in live.gateways.sites)
    engines = [site.run_engine_for_all(POD_ADDRESSES) for site in live.gateways.sites.values()]
    fleet.deploy("moves", replicas=2)
    fleet.wait_counts("moves", total=2, ready=2)
    url = f"http://{ADDRESS}/{fleet.tag}/moving"
    api.apply(model_service("moving", fleet.tag, {"moves": 1}))
    _wait_status(live, url, 200)

    def moved() -> None:
        assert {replica["spec"]["clusterName"] for replica in fleet.replicas("moves")} == {other}
        assert {found["metadata"]["labels"]["modelplane.ai/cluster"] for found in fleet.endpoints("moves")} == {other}
        assert fleet.counts("moves") == (2, 2)

    with live.watched(url) as seen:
        taint = {"key": "maintenance", "effect": "NoExecute"}
        api.patch(INFERENCE_CLUSTER, drained, {"spec": {"taints": [taint]}})
        eventually(moved, within=SOON)
    api.patch(INFERENCE_CLUSTER, drained, {"spec": {"taints": None}})
    for replicas in (1, 2):  # a new replica is placed on the other cluster
        api.patch(DEPLOYMENT, "llama", {"spec": {"replicas": replicas}}, fleet.tag)
        fleet.wait_counts("llama", total=replicas, ready=replicas)
    for engine in engines:
        engine.stop()
    fleet.figures.append(f"a cluster drained: of {sum(count for _, count in seen)} requests all answered")
    assert {status for status, _ in seen} == {200}, seen


@pytest.mark.usefixtures("engines")
def test_between_any_two_writes_of_a_service_no_request_fails(live: LiveFleet) -> None:
    passes = LivePasses(live, "changes")
    with live.watched(passes.url) as seen:
        passes.go()
        _wait_status(live, passes.url, 200)
        for change in ("every endpoint", "keys", "no keys", "another entry", "no endpoint", "one endpoint"):
            passes.change(change)
    before, *statuses = (status for status, _ in seen)
    assert before == 404, seen
    assert {200, 401} <= set(statuses) <= {200, 401, 503}, seen


@pytest.mark.usefixtures("engines")
def test_between_any_two_writes_a_service_with_keys_lets_nobody_in(live: LiveFleet) -> None:
    passes = LivePasses(live, "closed", requires_keys=True)
    with live.watched(passes.url) as seen:
        passes.go()
        _wait_status(live, passes.url, 401)
        assert live.ask(f"{passes.url}/v1/models").code == "invalid_api_key"
        for change in ("every endpoint", "another entry", "no endpoint"):
            passes.change(change)
    assert {status for status, _ in seen} == {404, 401}, seen


@pytest.mark.usefixtures("engines")
def test_the_page_on_serving_gets_an_answer_and_adds_a_canary(live: LiveFleet, tmp_path: Path) -> None:
    *done, look = open_page(live, "serve-a-model", tmp_path)
    gateway, chat, canary = (live.shell(script, tmp_path) for script in done)
    assert ADDRESS in gateway
    assert '"content": "This is an answer."' in chat
    assert f"http://{ADDRESS}/{live.fleet.tag}/chat" in canary

    def listed() -> None:
        assert "3 of 3 endpoints are ready" in live.shell(look, tmp_path)

    eventually(listed, within=SOON)


def test_the_page_on_secure_requests_shows_who_is_trusted_and_forgets_old_cas(live: LiveFleet, tmp_path: Path) -> None:
    look, forget = open_page(live, "secure-requests", tmp_path)
    look = look.replace("eu-1", f"{live.fleet.tag}-west")
    shown = live.shell(look, tmp_path)
    assert shown.startswith("-----BEGIN CERTIFICATE-----\n")
    assert shown.endswith("-----END CERTIFICATE-----\ntrue")
    live.shell(forget, tmp_path)
    in_use = live.fleet.plane.hub.api.get(SECRET, CLIENT_PAIR, SYSTEM_NAMESPACE) or {}

    def published() -> None:
        assert set(_certificates(_trusted(live))) >= set(_certificates(b64decode(in_use["data"][CA_KEY]).decode()))
        assert len(_certificates(_trusted(live))) <= 2

    eventually(published, within=SOON)


def _certificates(text: str) -> list[str]:
    return text.split("-----END CERTIFICATE-----\n")[:-1]


def _host(live: LiveFleet, deployment: str, site: str) -> str:
    """Return the host of the replica of a deployment on a site."""
    (found,) = (
        endpoint["spec"]["host"]
        for endpoint in live.fleet.endpoints(deployment)
        if endpoint["metadata"]["labels"]["modelplane.ai/cluster"] == f"{live.fleet.tag}-{site}"
    )
    return str(found)


@pytest.mark.usefixtures("engines")
def test_a_stranger_at_a_clusters_gateway_gets_nothing(live: LiveFleet) -> None:
    host = _host(live, "llama", "west")

    def answered() -> None:  # the engine has just been started
        assert live.ask_site("west", host, CLIENT_PAIR).status == 200

    eventually(answered, within=SOON)
    for pair in (None, pair_name(f"{live.fleet.tag}-north")):
        answer = live.ask_site("west", host, pair)
        assert answer.status == 0, answer
        assert "certificate" in answer.text, answer


def test_a_clusters_gateway_answers_503_for_a_replica_that_is_gone(live: LiveFleet) -> None:
    answer = live.ask_site("west", f"gone.{live.fleet.tag}.x.replicas.modelplane.internal", CLIENT_PAIR)
    assert (answer.status, answer.code) == (503, "unavailable")


@pytest.mark.usefixtures("engines")
def test_what_others_write_beside_a_service_gets_no_request(live: LiveFleet) -> None:
    fleet = live.fleet
    hub, host = fleet.plane.hub, _host(live, "llama", "west")
    hub.api.apply(_everything_for(TEAM, fleet.tag))
    route = gateway_object(
        "HTTPRoute", "foreign", fleet.tag, {"parentRefs": [{"name": PUBLIC_GATEWAY, "namespace": SYSTEM_NAMESPACE}]}
    )
    with pytest.raises(ApiError, match="only Modelplane attaches routes"):
        hub.api_of(TEAM).apply(route)
    spoofed = {
        "apiVersion": API_VERSION,
        "kind": "ModelEndpoint",
        "metadata": {"name": "spoofed", "namespace": fleet.tag, "labels": {LABEL_DEPLOYMENT: "llama"}},
        "spec": {"url": "https://thief.example.org", "host": host, "mutualTLS": True},
    }
    hub.api.apply(spoofed)
    try:
        hub.api.apply(model_service("guarded", fleet.tag, {"llama": 1}))
        _wait_status(live, f"http://{ADDRESS}/{fleet.tag}/guarded", 200)
        fleet.assert_condition(hub.api.get(ENDPOINT, "spoofed", fleet.tag) or {}, "RoutingReady", "False")
        backends = hub.api.list(BACKEND, fleet.tag)
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


@pytest.mark.usefixtures("engines")
def test_certificates_are_renewed_without_a_failed_request(live: LiveFleet) -> None:
    issuer, url = live.gateways.issuer, f"http://{ADDRESS}/{live.fleet.tag}/renewed"
    live.fleet.plane.hub.api.apply(model_service("renewed", live.fleet.tag, {"llama": 1}))
    _wait_status(live, url, 200)
    pairs = [CLIENT_PAIR, *(pair_name(f"{live.fleet.tag}-{site}") for site in live.gateways.sites)]
    issuer.lifetime = LEAF
    with live.watched(url) as seen:
        issuer.renew()
        # By then the first of the short certificates have expired, and those after them.
        time.sleep(3 * LEAF)
    issuer.lifetime = 86400.0
    issuer.renew()
    renewed = {pair: len(issuer.issued[pair]) for pair in pairs}
    assert min(renewed.values()) > 4, renewed
    live.fleet.figures.append(
        f"certificates of {LEAF:.0f} s: of {sum(count for _, count in seen)} requests all answered"
    )
    assert {status for status, _ in seen} == {200}, seen
    for site in live.gateways.sites:
        assert live.ask_site(site, _host(live, "llama", site), CLIENT_PAIR).status == 200


@pytest.mark.usefixtures("engines")
def test_a_new_ca_signs_every_pair_without_a_failed_request(live: LiveFleet) -> None:
    hub, issuer = live.fleet.plane.hub, live.gateways.issuer
    url = f"http://{ADDRESS}/{live.fleet.tag}/another-ca"
    hub.api.apply(model_service("another-ca", live.fleet.tag, {"llama": 1}))
    _wait_status(live, url, 200)
    before = _trusted(live)
    with live.watched(url) as seen:
        issuer.renew(AUTHORITY)

        def both() -> None:
            bundle = _trusted(live)
            assert bundle.endswith(before)
            assert len(bundle) > len(before)
            assert {_trusted(live, site) for site in live.gateways.sites} == {bundle}

        eventually(both, within=SOON)
        times = {pair: len(issued) for pair, issued in issuer.issued.items()}
        issuer.renew()

        def renewed() -> None:
            assert all(len(issuer.issued[pair]) > count for pair, count in times.items() if pair != AUTHORITY)
            for site in live.gateways.sites:
                assert live.ask_site(site, _host(live, "llama", site), CLIENT_PAIR).status == 200

        eventually(renewed, within=SOON)
    live.fleet.figures.append(f"a new CA: of {sum(count for _, count in seen)} requests all answered")
    assert {status for status, _ in seen} == {200}, seen


def _trusted(live: LiveFleet, site: str | None = None) -> str:
    """Return the certificates by which a site's gateway knows callers, or those that are published."""
    if site is None:
        found = live.fleet.plane.hub.api.get(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY) or {}
        return str(found["status"]["caBundle"])
    trusted = live.gateways.sites[site].cluster.api.get(CONFIG_MAP, AUTHORITY, SYSTEM_NAMESPACE) or {}
    return str(trusted["data"][CA_KEY])
