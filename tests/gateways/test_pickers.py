"""Endpoint pickers, on the real gateways of two clusters: which pod answers, and what a dead one costs."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.calls import CHAT, CURL, lost
from gateways.live import LiveFleet
from gateways.pools import PICKED, addresses, pickers
from modelplane.model.names import CLIENT_PAIR
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

#: Set by a picker, read by the gateway that has asked it: where the request goes.
CHOICE = "x-gateway-destination-endpoint"
REQUESTS_SENT = 400
#: Seconds for which a request waits in an engine, if it is not given up before.
WAITS = 900


@pytest.fixture(scope="session")
def running_pickers(fleet_with_gateways: LiveFleet) -> Iterator[dict[str, Process]]:
    with pickers(fleet_with_gateways) as running:
        yield running


@pytest.fixture
def url(live: LiveFleet, running_pickers: dict[str, Process], engines: dict[str, Process]) -> str:
    """Return the URL of a service over the deployment, once each cluster answers."""
    assert running_pickers
    assert engines
    live.fleet.plane.hub.api.apply(model_service(PICKED, live.fleet.tag, {PICKED: 1}))
    for site in live.gateways.sites:
        live.wait_site(site, PICKED)
    live.wait_chat(live.url(PICKED))
    return live.url(PICKED)


def test_the_pod_that_answers_is_the_pickers_choice_and_not_the_callers(live: LiveFleet, url: str) -> None:
    pods = {name: address for site in live.gateways.sites for name, address in addresses(live, site).items()}
    (other, *_) = (address for name, address in pods.items() if PICKED not in name)
    answered = set()
    for _ in range(20):
        answer = live.ask(f"{url}/v1/chat/completions", CHAT, f"{CHOICE}: {other}")
        assert answer.status == 200, answer
        name = answer.body["system_fingerprint"]
        assert PICKED in name
        assert answer.body["headers"][CHOICE] == pods[name]
        answered.add(name)
    assert len(answered) > 1, answered


def test_no_request_goes_where_one_waits_beside_a_pod_that_is_free(live: LiveFleet, url: str) -> None:

    def assert_elsewhere() -> None:
        counts = live.send_many(url, 40)
        assert lost(counts) == {}, counts
        assert counts[busy] == 0, counts

    with _waiting(live, url):
        busy = eventually(lambda: _busy_pod(live), within=SOON)
        eventually(assert_elsewhere, within=SOON)  # pickers read the metrics every 50 ms
        assert_elsewhere()
        assert _busy_pod(live) == busy


@contextmanager
def _waiting(live: LiveFleet, url: str) -> Iterator[None]:
    """Let a request wait in an engine meanwhile."""
    asked = ("curl", "-sS", "--header", f"X-Wait: {WAITS}", "--json", json.dumps(CHAT))
    command = live.gateways.public.network.command(*asked, f"{url}/v1/chat/completions")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.kill()


def _busy_pod(live: LiveFleet) -> str:
    """Return the pod of the deployment in whose engine a request waits; assert that there is one."""
    told = {
        pod: site.network.output(*CURL, f"http://{address}/metrics")
        for name, site in live.gateways.sites.items()
        for pod, address in addresses(live, name).items()
        if PICKED in pod
    }
    waiting = [pod for pod, metrics in told.items() if "num_requests_waiting 1" in metrics]
    assert len(waiting) == 1, told
    return waiting[0]


def test_a_dead_picker_is_503_and_requests_go_to_the_other_cluster_until_it_is_back(
    live: LiveFleet, url: str, running_pickers: dict[str, Process]
) -> None:
    running_pickers["west"].kill()
    try:
        live.wait_site("west", PICKED, 503)
        assert live.ask_site("west", live.host(PICKED, "west"), CLIENT_PAIR).code == "unavailable"
        counts = live.send_many(url, REQUESTS_SENT)
    finally:
        running_pickers["west"].start()
    assert lost(counts) == {}, counts
    assert _from(live, "west", counts) == 0, counts
    live.wait_site("west", PICKED)

    def back() -> None:
        again = live.send_many(url, 40)
        assert lost(again) == {}, again
        assert _from(live, "west", again) > 0, again

    eventually(back, within=SOON)


def _from(live: LiveFleet, site: str, counts: Counter[str]) -> int:
    """Return how many requests the pods of a site have answered."""
    return sum(counts[name] for name in addresses(live, site))
