"""Endpoints of a service that are lost while requests are sent, on real gateways."""

import os
import signal

from e2e.fleet import SOON
from e2e.services import SERVICE, model_service
from gateways.calls import lost
from gateways.live import LiveFleet
from gateways.pods import not_ready
from modelplane_dev.plane.gateways.live import ADDRESS
from modelplane_dev.plane.gateways.observer import observer
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

REQUESTS_SENT = 400
#: Characters of a prompt with which a request is just below 1 MiB, how many such requests are sent, and how many are
#: under way at a time: each is held whole by two Envoys, the caller and the engine.
LARGE, LARGE_SENT, AT_A_TIME = 2**20 - 1024, 12, 2
#: Requests while most endpoints are dead, and how many are under way at a time.
BESIDE_DEAD, AT_ONCE = 2000, 8
#: Requests when no endpoint is left: each is tried until all are ejected.
BESIDE_ALL_DEAD = 20


def _serve_both(live: LiveFleet, name: str) -> str:
    """Make a service over both replicas of `llama`, and return its URL once they are its endpoints."""
    live.fleet.plane.hub.api.apply(model_service(name, live.fleet.tag, {"llama": 1}))
    eventually(lambda: live.assert_endpoints(name, 2), within=SOON)
    live.wait_chat(live.url(name))
    return live.url(name)


def test_an_engine_that_dies_loses_no_request_of_1_mib(live: LiveFleet, engines: dict[str, Process]) -> None:
    url = _serve_both(live, "large")
    dying, *_ = (name for name in engines if name.startswith("llama-"))
    before, after = live.send_around(
        engines[dying].kill, url, LARGE_SENT, first=LARGE_SENT, workers=AT_A_TIME, length=LARGE
    )
    assert before[dying] > 0, before
    assert [lost(each) for each in (before, after)] == [{}, {}], (before, after)
    assert after[dying] == 0


def test_while_one_endpoint_of_three_serves_no_request_is_lost(live: LiveFleet, engines: dict[str, Process]) -> None:
    live.fleet.plane.hub.api.apply(model_service("half-dead", live.fleet.tag, {"llama": 1, "canary": 1}))
    eventually(lambda: live.assert_endpoints("half-dead", 3), within=SOON)
    url = live.url("half-dead")
    live.wait_chat(url)
    dying = [name for name in engines if name.startswith("llama-")]
    for name in dying:
        engines[name].kill()
    counts = live.send_many(url, BESIDE_DEAD, workers=AT_ONCE)
    assert (lost(counts), {*dying} & counts.keys()) == ({}, set()), counts
    route = live.observed("half-dead").route["metadata"]["name"]
    assert live.gateways.public.statistic(route, "outlier_detection.ejections_active") == len(dying)
    assert live.gateways.public.statistic(route, "lb_healthy_panic") == 0, "requests went to ejected endpoints too"
    live.fleet.figures.append(f"two of three endpoints dead: of {BESIDE_DEAD} requests lost none")


def test_the_status_counts_what_the_gateway_has_ejected_though_all_pods_are_ready(
    live: LiveFleet, engines: dict[str, Process]
) -> None:
    def assert_status(ejected: int | None, said: str) -> None:
        service = live.fleet.plane.hub.api.get(SERVICE, "watched", live.fleet.tag) or {}
        conditions = {each["type"]: each for each in service["status"]["conditions"]}
        expected = {"total": 2, "ready": 2} | ({} if ejected is None else {"ejected": ejected})
        assert service["status"]["endpoints"] == expected
        assert said in conditions["EndpointsResolved"]["message"]

    url = _serve_both(live, "watched")
    assert_status(None, "2 of 2 endpoints are ready.")
    with observer(live.gateways.public, ADDRESS):
        eventually(lambda: assert_status(0, "2 of 2 endpoints are ready."), within=SOON)
        for name in (name for name in engines if name.startswith("llama-")):
            engines[name].kill()
        live.send_many(url, BESIDE_ALL_DEAD)
        eventually(lambda: assert_status(2, "The gateway has ejected 2 of 2 for now"), within=SOON, every=0.2)
    eventually(lambda: assert_status(None, "2 of 2 endpoints are ready."), within=SOON)


def test_an_engine_that_accepts_and_is_silent_gets_nothing_new_once_its_pod_is_not_ready(
    live: LiveFleet, engines: dict[str, Process]
) -> None:
    url = _serve_both(live, "silent")
    silent, *_ = (name for name in engines if name.startswith("llama-"))
    assert live.send_many(url, REQUESTS_SENT)[silent] > 0
    os.kill(engines[silent].pid, signal.SIGSTOP)  # its kernel accepts connections all the same
    try:
        with not_ready(live, silent):
            eventually(lambda: live.assert_endpoints("silent", 1), within=SOON)
            counts = live.send_many(url, REQUESTS_SENT)
    finally:
        os.kill(engines[silent].pid, signal.SIGCONT)
    assert (lost(counts), counts[silent]) == ({}, 0), counts
