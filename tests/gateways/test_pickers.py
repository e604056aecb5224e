"""Endpoint pickers, on the real gateways of two clusters: which pod answers, and what a dead one costs."""

import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.live import CHAT, LiveFleet, lost
from gateways.pools import PICKED, addresses, pickers
from modelplane.model.names import CLIENT_PAIR
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

#: Set by a picker, read by the gateway that has asked it: where the request goes.
CHOICE = "x-gateway-destination-endpoint"
REQUESTS_SENT = 400
#: Seconds for which a request waits in an engine.
WAITS = 8


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
        _wait_site(live, site, 200)
    live.wait_chat(live.url(PICKED))
    return live.url(PICKED)


def _wait_site(live: LiveFleet, site: str, status: int) -> None:
    """Wait until the gateway of a site answers a request for the deployment's replica there with a status."""
    host = live.host(PICKED, site)

    def answered() -> None:
        answer = live.ask_site(site, host, CLIENT_PAIR)
        assert answer.status == status, answer

    eventually(answered, within=SOON)


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
    chats = f"{url}/v1/chat/completions"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(live.ask, chats, CHAT, f"X-Wait: {WAITS}")
        eventually(lambda: _assert_one_waits(live), within=WAITS)
        # Pickers read the metrics every 50 ms.
        time.sleep(0.5)
        counts = live.send_many(url, 40)
        assert not waiting.done()
        busy = waiting.result().body["system_fingerprint"]
    assert lost(counts) == {}, counts
    assert counts[busy] == 0, counts


def _assert_one_waits(live: LiveFleet) -> None:
    """Assert that an engine of the deployment tells of a request that waits."""
    told = [
        site.network.output("curl", "-sS", f"http://{address}/metrics")
        for name, site in live.gateways.sites.items()
        for pod, address in addresses(live, name).items()
        if PICKED in pod
    ]
    assert sum("num_requests_waiting 1" in metrics for metrics in told) == 1, told


def test_a_dead_picker_is_503_and_requests_go_to_the_other_cluster_until_it_is_back(
    live: LiveFleet, url: str, running_pickers: dict[str, Process]
) -> None:
    running_pickers["west"].kill()
    _wait_site(live, "west", 503)
    assert live.ask_site("west", live.host(PICKED, "west"), CLIENT_PAIR).code == "unavailable"
    counts = live.send_many(url, REQUESTS_SENT)
    assert lost(counts) == {}, counts
    assert _from(live, "west", counts) == 0, counts
    running_pickers["west"].start()
    _wait_site(live, "west", 200)

    def back() -> None:
        again = live.send_many(url, 40)
        assert lost(again) == {}, again
        assert _from(live, "west", again) > 0, again

    eventually(back, within=SOON)


def _from(live: LiveFleet, site: str, counts: Counter[str]) -> int:
    """Return how many requests the pods of a site have answered."""
    return sum(counts[name] for name in addresses(live, site))
