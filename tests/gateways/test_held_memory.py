"""What 500 connections without a key cost the public gateway, and whoever calls it with one."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from sys import executable
from typing import Any

import pytest

from e2e.services import SERVICE, model_service
from gateways import holders
from gateways.live import LiveFleet
from modelplane.kube.gateway.fleet_filter import LIMIT
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.gateways.live import ADDRESS
from modelplane_dev.plane.waiting import eventually

#: Connections, and bytes that the gateway may have more while there are so many.
CONNECTIONS, MORE = 500, 200 * 2**20
#: Requests of a caller with a key that are timed, and how much longer they may take.
TIMED, LONGER = 300, 2.0
KEY = "key-of-ann"
_HEAD = "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n{size}\r\n\r\n"


def _kind(count: int, path: str, size: str, sent: int) -> dict[str, Any]:
    return {"count": count, "head": _HEAD.format(path=path, size=size), "bytes": sent}


@contextmanager
def _holding(live: LiveFleet, *kinds: dict[str, Any]) -> Iterator[Counter[str]]:
    """Hold connections; the counter has the statuses of their answers afterwards."""
    found: Counter[str] = Counter()
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    command = live.gateways.public.network.command(executable, "-m", holders.__name__, ADDRESS)
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.writelines(f"{json.dumps(each)}\n" for each in kinds)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline().strip() == holders.HELD
        yield found
        text, _ = process.communicate("\n")
    found.update(json.loads(text))


@pytest.fixture
def keyed(live: LiveFleet) -> str:
    """Serve a service with a key, and `open`, which needs none; return the URL of the first."""
    api, tag = live.fleet.plane.hub.api, live.fleet.tag
    metadata = {"name": "held", "namespace": tag}
    api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"ann": KEY}})
    for name in ("held", "open"):
        manifest = model_service(name, tag, {"llama": 1})
        if name == "held":
            manifest["spec"]["keys"] = [{"name": "ann", "secretRef": {"name": "held", "key": "ann"}}]
        api.apply(manifest)
    live.wait_answer(200, f"{live.url('held')}/v1/models", None, f"Authorization: Bearer {KEY}")
    live.wait_answer(200, f"{live.url('open')}/v1/models")
    assert api.get(SERVICE, "held", tag)
    return live.url("held")


def _p99(live: LiveFleet, url: str) -> float:
    return float(json.loads(live.run_module("gateways.latency", str(TIMED), "1", url, "example/model", KEY))[1])


FLEET = "/v1/chat/completions"
#: What the connections send, by what it is.
SENT = {
    "bodies without end to the fleet URL": [_kind(CONNECTIONS, FLEET, "Transfer-Encoding: chunked", 8 * 2**20)],
    "bodies that are too large for the fleet URL": [
        _kind(CONNECTIONS, FLEET, f"Content-Length: {8 * 2**20}", 8 * 2**20)
    ],
    "bodies that never end on the fleet URL": [_kind(CONNECTIONS, FLEET, f"Content-Length: {LIMIT}", LIMIT - 1)],
}
#: What connections to a service without keys send that its engine waits for.
LARGE, FEW = 12 * 2**20, 40


@pytest.mark.usefixtures("engines")
@pytest.mark.parametrize("kinds", SENT.values(), ids=SENT)
def test_500_connections_without_a_key_cost_the_gateway_little(
    live: LiveFleet, keyed: str, kinds: list[dict[str, Any]]
) -> None:
    public, found = live.gateways.public, []

    def measure() -> None:
        alone, before = _p99(live, keyed), public.resident_bytes()
        with _holding(live, *kinds) as answered:
            more, beside = public.resident_bytes() - before, _p99(live, keyed)
        found.append((more / 2**20, alone, beside, dict(answered)))
        assert more <= MORE
        assert beside <= LONGER * alone

    try:
        eventually(measure, within=60)
    finally:
        more, alone, beside, answered = found[-1]
        live.fleet.figures.append(
            f"{CONNECTIONS} connections without a key: {more:.0f} MiB more, p99 of a caller with a key {alone:.1f} ms "
            f"alone and {beside:.1f} ms beside them; answered {answered}"
        )


@pytest.mark.usefixtures("engines")
def test_a_caller_without_a_key_holds_little_of_any_gateway_whatever_the_size_of_the_request(
    live: LiveFleet, keyed: str
) -> None:
    """Their engines take all of it: what a gateway holds is what it keeps to send the request again."""
    path = f"/{live.fleet.tag}/open/v1/chat/completions"
    gateways = [live.gateways.public, *live.gateways.sites.values()]
    assert keyed

    def measure() -> None:
        before = [each.resident_bytes() for each in gateways]
        with _holding(live, _kind(FEW, path, f"Content-Length: {LARGE + 1}", LARGE)) as answered:
            more = [each.resident_bytes() - was for each, was in zip(gateways, before, strict=True)]
        mib = [round(each / 2**20) for each in more]
        live.fleet.figures.append(f"{FEW} requests of 12 MiB without a key: {mib} MiB more; answered {dict(answered)}")
        assert max(more) <= MORE

    eventually(measure, within=60)
