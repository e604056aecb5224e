"""Requests to a service's URL: Envoy Gateway and Envoy are real on the control cluster and on an inference cluster.

Engines are fakes that answer as OpenAI does, one process at the address of each pod. Names are resolved by a file.
"""

import threading
import time
from collections import Counter

import pytest

from e2e.fleet import SOON, Fleet
from e2e.live import ADDRESS, LiveGateways, live_gateways, lost
from e2e.services import INFERENCE_GATEWAY_KIND, SERVICE, model_service
from modelplane.model.names import INFERENCE_GATEWAY
from modelplane_dev.plane.api import ApiError
from modelplane_dev.plane.fakes import POD_ADDRESSES
from modelplane_dev.plane.waiting import eventually

CHAT = {"model": "example/model", "messages": [{"role": "user", "content": "Hello"}]}
WEIGHTS = {"llama": 90, "canary": 10}
#: Seconds from a service's creation to its first answer, requests whose shares are counted, and by how much a share may
#: differ from its weight. By chance alone a share of a tenth differs by 0.02 once in 40,000 runs.
FIRST_ANSWER, REQUESTS, TOLERANCE = 15.0, 4000, 0.02


def _first_answer(live: LiveGateways, url: str) -> float:
    """Wait until the service answers; return after how many seconds."""
    started = time.monotonic()

    def answered() -> None:
        answer = live.ask(f"{url}/v1/chat/completions", CHAT)
        assert answer.status == 200, answer

    eventually(answered, within=SOON)
    return time.monotonic() - started


def _share(counts: Counter[str], deployment: str) -> float:
    """Return the share of the requests that the replicas of a deployment have answered."""
    return sum(count for name, count in counts.items() if name.startswith(f"{deployment}-")) / counts["200"]


def _assert_only_the_api_is_reachable(live: LiveGateways, url: str) -> None:
    caller = ("Authorization: Bearer secret", "x-api-key: secret", "x-modelplane-caller: somebody", "X-Gateway-Y: z")
    seen = live.ask(f"{url}/v1/chat/completions", CHAT, *caller).body["headers"]
    assert not {"authorization", "x-api-key", "x-modelplane-caller", "x-gateway-y"} & seen.keys()
    for path in ("/v1/load_lora_adapter", "/v1/unload_lora_adapter", "/metrics", ""):
        assert live.ask(f"{url}{path}", {}).status == 404, path


def _assert_a_stream_is_whole(live: LiveGateways, url: str) -> None:
    answer = live.ask(f"{url}/v1/chat/completions", CHAT | {"stream": True})
    events = [line for line in answer.text.splitlines() if line]
    assert len(events) == 6
    assert events[-1] == "data: [DONE]"


def _delete(fleet: Fleet) -> None:
    """Delete the service and the gateway."""
    api = fleet.plane.hub.api
    api.delete(SERVICE, "chat", fleet.tag)

    def deleted() -> None:
        try:
            api.delete(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY)
        except ApiError as error:
            raise AssertionError(error) from error

    eventually(deleted, within=SOON)


@pytest.mark.alone
def test_a_url_answers_by_weight_and_loses_nothing_when_an_engine_dies(fleet: Fleet) -> None:
    with live_gateways(fleet, "north") as live:
        fleet.deploy("llama", replicas=2)
        fleet.deploy("canary")
        fleet.wait_counts("llama", total=2, ready=2)
        fleet.wait_counts("canary", total=1, ready=1)
        engines = live.remote.run_engines(fleet.pods(f"{fleet.tag}-north"), POD_ADDRESSES)
        url = f"http://{ADDRESS}/{fleet.tag}/chat"
        fleet.plane.hub.api.apply(model_service("chat", fleet.tag, WEIGHTS))
        seconds = _first_answer(live, url)
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
        _delete(fleet)
