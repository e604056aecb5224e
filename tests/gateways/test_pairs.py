"""Pairs of engines on a cluster with a real gateway, with llm-d's endpoint picker and its decode sidecar.

Fakes are the engines alone, which pass each other no KV cache but say whose they would have fetched.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

import pytest

from e2e.fleet import SOON
from e2e.scenes import deployment, engine
from e2e.services import model_service
from gateways.calls import CURL, Answer
from gateways.live import STAYS, LiveFleet
from modelplane.kube.sidecar import decode_sidecar
from modelplane.model.names import ENGINE_PORT, LABEL_ROLE, tenant_namespace
from modelplane_dev import components
from modelplane_dev.plane.api import Manifest
from modelplane_dev.plane.control_plane import DEPLOYMENT
from modelplane_dev.plane.fakes import POD_ADDRESSES
from modelplane_dev.plane.gateways.network import Network
from modelplane_dev.plane.gateways.pickers import picker, sidecar
from modelplane_dev.plane.gateways.pod_network import pod_network
from modelplane_dev.plane.waiting import eventually

SITE: Final = "north"
PAIR: Final = "pair"
#: The port of the decode engine, which is in its arguments.
DECODES_AT: Final = 8001
#: The port of a second sidecar in the pod, and the header by which a picker tells a sidecar who prefills.
BESIDE: Final = 8100
PREFILLER: Final = "x-prefiller-host-port"
MODEL: Final = "example/model"
#: Of less than 16 tokens by four characters a token, and of more.
SHORT: Final = "Hello"


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair that serves at a URL: the pods of its halves, and the network of the one that decodes."""

    live: LiveFleet
    url: str
    prefill: Manifest
    decode: Manifest
    inside: Network

    def ask(self, prompt: str) -> Answer:
        """Return the answer to a prompt."""
        body = {"model": MODEL, "messages": [{"role": "user", "content": prompt}]}
        return self.live.ask(f"{self.url}/v1/chat/completions", body)


def _manifest(live: LiveFleet) -> Manifest:
    halves = [engine(1, name="prefill", phase="Prefill"), engine(1, name="decode", phase="Decode")]
    halves[1]["members"][0]["template"]["spec"]["containers"][0]["args"].append(f"--port={DECODES_AT}")
    selector = {"matchLabels": {"name": f"{live.fleet.tag}-{SITE}"}}
    spec: dict[str, Any] = {"serving": {"mode": "PrefillDecode"}, "engines": halves, "clusterSelector": selector}
    return deployment(PAIR, live.fleet.tag, **spec, tolerations=[STAYS])


def _pods(live: LiveFleet) -> dict[str, Manifest]:
    """Return the pods of the pair and of its picker by their roles; assert that all have addresses."""
    found = live.fleet.clusters[f"{live.fleet.tag}-{SITE}"].pods(tenant_namespace(live.fleet.tag))
    roles = {}
    for pod in found:
        labels, name = pod["metadata"]["labels"], pod["metadata"]["name"]
        if pod["spec"]["containers"][0]["name"] == "picker" and f"{PAIR}-" in str(pod["spec"]["containers"][0]["args"]):
            roles["picker"] = pod
        elif name.startswith(PAIR):
            roles[labels[LABEL_ROLE]] = pod
    assert roles.keys() == {"picker", "prefill", "decode"}, roles.keys()
    assert all("podIP" in pod["status"] for pod in roles.values())
    return roles


def _name(pod: Manifest) -> str:
    return str(pod["metadata"]["name"])


def _address(pod: Manifest) -> str:
    return f"{pod['status']['podIP']}/32"


@pytest.fixture(scope="module")
def pair(fleet_with_gateways: LiveFleet) -> Iterator[Pair]:
    """Run a pair as a kubelet would; it is gone afterwards, because other tests run an engine in every pod."""
    live = fleet_with_gateways
    api, tag, site = live.fleet.plane.hub.api, live.fleet.tag, live.gateways.sites[SITE]
    api.apply(_manifest(live))
    live.fleet.wait_ready(PAIR)
    pods = eventually(lambda: _pods(live), within=SOON)
    prefill, decode = pods["prefill"], pods["decode"]
    with ExitStack() as stack:
        for running in site.run_engines([prefill], POD_ADDRESSES).values():
            # Another pod may get its address.
            stack.callback(running.stop)
        inside = stack.enter_context(pod_network(site, _address(decode), 1))
        stack.enter_context(site.engine_in(inside, decode, DECODES_AT))
        stack.enter_context(sidecar(decode, inside))
        beside = stack.enter_context(pod_network(site, _address(pods["picker"]), 2))
        stack.enter_context(picker(site, tenant_namespace(tag), PAIR, beside))
        api.apply(model_service(PAIR, tag, {PAIR: 1}))
        live.wait_chat(live.url(PAIR))
        yield Pair(live, live.url(PAIR), prefill, decode, inside)
        live.forget_services()
        api.delete(DEPLOYMENT, PAIR, tag)
        eventually(lambda: _assert_gone(live), within=SOON)


def _assert_gone(live: LiveFleet) -> None:
    left = live.fleet.clusters[f"{live.fleet.tag}-{SITE}"].pods(tenant_namespace(live.fleet.tag))
    names = [pod["metadata"]["name"] for pod in left if PAIR in str(pod)]
    assert not names, names


@pytest.mark.proves("P26")
def test_a_long_prompt_is_prefilled_by_the_one_half_and_answered_by_the_other(pair: Pair) -> None:
    answer = pair.ask("a prompt that no engine has read before " * 20)
    assert answer.status == 200, answer
    assert answer.body["system_fingerprint"] == _name(pair.decode)
    assert answer.body["prefilled_by"] == _name(pair.prefill)


def test_a_short_prompt_and_one_that_is_cached_are_read_by_the_half_that_answers(pair: Pair) -> None:
    longer = "another prompt, which is sent once more " * 20
    assert pair.ask(longer).body["prefilled_by"] == _name(pair.prefill)
    for prompt in (SHORT, longer):
        answer = pair.ask(prompt)
        assert answer.body["system_fingerprint"] == _name(pair.decode)
        assert "prefilled_by" not in answer.body, answer


def test_the_sidecar_tells_both_halves_of_a_pair_of_sglang_where_to_meet(pair: Pair) -> None:
    arguments = (*decode_sidecar(DECODES_AT, "sglang")["args"], f"--port={BESIDE}")
    process = pair.inside.process("sidecar-sglang", components.path("decode-sidecar"), *arguments)
    prefiller = pair.prefill["status"]["podIP"]
    body = {"model": MODEL, "messages": [{"role": "user", "content": SHORT}]}
    header = ("--header", f"{PREFILLER}: {prefiller}:{ENGINE_PORT}")
    asked = (*CURL, "--fail", *header, "--json", json.dumps(body), f"http://127.0.0.1:{BESIDE}/v1/chat/completions")
    with process:
        process.wait_for(lambda: pair.inside.succeeds(*asked))
        answer = json.loads(pair.inside.output(*asked))
    assert answer["system_fingerprint"] == _name(pair.decode)
    assert answer["bootstrap"] == f"{prefiller}:8998"
