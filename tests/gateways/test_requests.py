"""Requests to a service's URL: Envoy Gateway and Envoy are real on the control cluster and on two inference clusters.

Engines are fakes that answer as OpenAI does, one process at the address of each pod. Names are resolved by a file.
"""

from collections import Counter
from pathlib import Path

import pytest

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.calls import CHAT, WORKERS, in_time, lost
from gateways.live import LiveFleet
from gateways.live_pages import open_page
from modelplane_dev.plane.control_plane import INFERENCE_CLUSTER
from modelplane_dev.plane.gateways.live import ADDRESS
from modelplane_dev.plane.gateways.requests import CUT
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

WEIGHTS = {"llama": 90, "canary": 10}
#: Seconds from a service's creation to its first answer, requests whose shares are counted, and by how much a share may
#: differ from its weight. By chance alone a share of a tenth differs by 0.02 once in 40,000 runs.
FIRST_ANSWER, REQUESTS, TOLERANCE = 15.0, 4000, 0.02
#: Requests that are answered before something is lost: that one of two endpoints gets none does not happen by chance.
FIRST = 200


def _share(counts: Counter[str], deployment: str) -> float:
    """Return the share of the requests that the replicas of a deployment have answered."""
    return sum(count for name, count in counts.items() if name.startswith(f"{deployment}-")) / counts["200"]


def _sent(*counts: Counter[str]) -> int:
    """Return how many requests were sent."""
    return sum(count for each in counts for name, count in each.items() if name.isdecimal())


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
    names: list[str] = []

    def serve() -> float:
        names.append(f"weighted-{len(names)}")
        fleet.plane.hub.api.apply(model_service(names[-1], fleet.tag, WEIGHTS))
        return live.wait_chat(live.url(names[-1]))

    seconds = in_time(serve, FIRST_ANSWER)
    url = live.url(names[-1])
    fleet.figures.append(f"service applied to first answer {seconds:.1f} s")
    assert seconds < FIRST_ANSWER
    _assert_a_stream_is_whole(live, url)
    _assert_only_the_api_is_reachable(live, url)
    eventually(lambda: live.assert_endpoints(names[-1], 3), within=SOON)
    counts = live.send_many(url, REQUESTS)
    assert lost(counts) == {}
    share = _share(counts, "canary")
    fleet.figures.append(f"of {REQUESTS} requests {share:.1%} to the entry of weight 10 of 100")
    assert abs(share - 0.1) < TOLERANCE
    dying, staying = (name for name in engines if name.startswith("llama-"))
    before, after = live.send_around(engines[dying].kill, url, REQUESTS, first=FIRST)
    assert before[dying] > 0, before
    assert (after[dying], after[staying] > 0) == (0, True), after
    missing = lost(before + after)
    fleet.figures.append(f"an engine killed under load: of {_sent(before, after)} requests lost {missing or 'none'}")
    assert missing == {}
    for engine in engines.values():
        engine.stop()
    live.wait_chat(url, 503)
    assert live.ask(f"{url}/v1/models").code == "unavailable"


@pytest.mark.usefixtures("engines")
def test_the_loss_of_a_clusters_gateway_loses_no_request(live: LiveFleet) -> None:
    fleet = live.fleet
    url = live.url("spread")
    fleet.plane.hub.api.apply(model_service("spread", fleet.tag, {"llama": 1}))
    live.wait_chat(url)
    eventually(lambda: live.assert_endpoints("spread", 2), within=SOON)
    lost_gateway = live.gateways.sites["west"].envoy
    try:
        before, after = live.send_around(lost_gateway.kill, url, REQUESTS, first=FIRST)
    finally:
        lost_gateway.start()
        live.wait_site("west", "llama")
    engines = [{name for name in each if not name.isdecimal()} for each in (before, after)]
    assert (len(engines[0]), len(engines[1])) == (2, 1), (before, after)
    missing, cut = lost(before + after), before[str(CUT)]
    fleet.figures.append(
        f"a cluster's gateway killed under load: of {_sent(before, after)} requests lost {missing or 'none'}, cut {cut}"
    )
    assert missing == {}
    assert (cut <= WORKERS, after[str(CUT)]) == (True, 0), "no more than were under way"


def test_a_drained_cluster_loses_no_request(live: LiveFleet) -> None:
    fleet, api = live.fleet, live.fleet.plane.hub.api
    drained, other = (f"{fleet.tag}-{site}" for site in live.gateways.sites)
    fleet.deploy("moves", replicas=2)
    fleet.wait_counts("moves", total=2, ready=2)
    url = live.url("moving")
    api.apply(model_service("moving", fleet.tag, {"moves": 1}))

    def moved() -> None:
        assert {replica["spec"]["clusterName"] for replica in fleet.replicas("moves")} == {other}
        assert {found["metadata"]["labels"]["modelplane.ai/cluster"] for found in fleet.endpoints("moves")} == {other}
        assert fleet.counts("moves") == (2, 2)

    with live.engines_for_all():
        live.wait_chat(url)
        try:
            with live.watched(url) as seen:
                taint = {"key": "maintenance", "effect": "NoExecute"}
                api.patch(INFERENCE_CLUSTER, drained, {"spec": {"taints": [taint]}})
                eventually(moved, within=SOON)
        finally:
            api.patch(INFERENCE_CLUSTER, drained, {"spec": {"taints": None}})
    fleet.figures.append(f"a cluster drained: of {sum(count for _, count in seen)} requests all answered")
    assert {status for status, _ in seen} == {200}, seen


@pytest.mark.usefixtures("engines")
def test_the_page_on_serving_gets_an_answer_and_adds_a_canary(live: LiveFleet, tmp_path: Path) -> None:
    *done, look = open_page(live, "serve-a-model", tmp_path)
    gateway, chat, canary = (live.shell(script, tmp_path) for script in done)
    assert ADDRESS in gateway
    assert '"content": "This is an answer."' in chat
    assert live.url("chat") in canary

    def listed() -> None:
        assert "3 of 3 endpoints are ready" in live.shell(look, tmp_path)

    eventually(listed, within=SOON)
