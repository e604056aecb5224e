"""A fleet with real gateways, on the control cluster and on two inference clusters; how its services are called."""

import base64
import json
import os
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from sys import executable
from typing import Any

from e2e.fleet import SOON, Fleet
from e2e.services import SERVICE, ObservedService
from modelplane.model.names import AUTHORITY, CLUSTER_GATEWAY, INFERENCE_GATEWAY, SERVER_NAME, SYSTEM_NAMESPACE
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.api import ApiError
from modelplane_dev.plane.control_plane import OBJECT
from modelplane_dev.plane.envoy_gateway import GATEWAY
from modelplane_dev.plane.fakes import POD_ADDRESSES
from modelplane_dev.plane.gateways.live import (
    ADDRESS,
    INFERENCE_GATEWAY_KIND,
    ROUTER_ADDRESS,
    LiveGateways,
    live_gateways,
)
from modelplane_dev.plane.gateways.requests import CUT
from modelplane_dev.plane.issuer import SECRET
from modelplane_dev.plane.waiting import eventually
from modelplane_dev.processes.process import Process

#: The inference clusters.
SITES = ("west", "north")
CHAT = {"model": "example/model", "messages": [{"role": "user", "content": "Hello"}]}
#: The names under which the engines of the deployments serve, the first one of each.
SERVED = {"llama": "example/model", "canary": "canary/model"}
#: Label of the services that are there for more than one test.
OUTLASTS = "example.com/outlasts-a-test"
#: Seconds without a change after which the passes that follow from the last one are over, as a rule.
_REST = 3.0
#: Asks by TLS, and prints the status behind the answer. By HTTP/2 curl would lose an answer that Envoy gives by itself
#: before it has read the body, because Envoy then resets the stream.
CURL_BY_TLS = ("curl", "-sS", "--http1.1", "--max-time", "30", "--write-out", "\n%{http_code}")
#: Requests that are under way at a time.
WORKERS = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a service."""

    status: int
    text: str

    @property
    def body(self) -> Any:
        """Return its JSON."""
        return json.loads(self.text)

    @property
    def refused(self) -> bool:
        """Tell whether the gateway has closed the connection of a caller without its certificate.

        With TLS 1.3 it says why after the caller's own part of the handshake: curl may see the end before the reason.
        """
        return self.status == 0 and any(each in self.text for each in ("certificate", "Empty reply", "reset by peer"))

    @property
    def code(self) -> str:
        """Return the code of an error in the shape of OpenAI's API."""
        code: str = self.body["error"]["code"]
        return code


@dataclass(frozen=True, slots=True)
class LiveFleet:
    """A fleet whose gateways are real."""

    fleet: Fleet
    gateways: LiveGateways

    def ask(self, url: str, body: Any = None, *headers: str) -> Answer:
        """Return the answer to a GET, or to a POST with a body."""
        data = () if body is None else ("--json", json.dumps(body))
        given = [part for header in headers for part in ("--header", header)]
        written = ("--write-out", "\n%{http_code}")
        text = self.gateways.public.network.output("curl", "-sS", "--max-time", "30", *written, *data, *given, url)
        text, _, status = text.rpartition("\n")
        return Answer(int(status), text)

    def url(self, service: str) -> str:
        """Return the URL of a service of the fleet."""
        return f"http://{ADDRESS}/{self.fleet.tag}/{service}"

    def wait_chat(self, url: str, status: int = 200) -> float:
        """Wait until a service answers a chat with a status; return after how many seconds."""
        return self.wait_answer(status, f"{url}/v1/chat/completions", CHAT)

    def wait_answer(self, status: int, url: str, body: Any = None, *headers: str) -> float:
        """Wait until an answer has a status; return after how many seconds."""
        started = time.monotonic()

        def answered() -> None:
            answer = self.ask(url, body, *headers)
            assert answer.status == status, answer

        eventually(answered, within=SOON)
        return time.monotonic() - started

    def wait_until_routes_rest(self) -> int:
        """Wait until no route of the public gateway has changed for some seconds; return how often they have."""
        while True:
            changes = self.gateways.public.route_changes()
            time.sleep(_REST)
            if self.gateways.public.route_changes() == changes:
                return changes

    def preflight(self, url: str, *headers: str) -> dict[str, str]:
        """Return the headers of the answer to a browser's question, by their names in lower case."""
        given = [part for header in headers for part in ("--header", header)]
        asked = ("curl", "-sS", "--max-time", "30", "--request", "OPTIONS")
        written = ("--dump-header", "-", "--output", "/dev/null")
        lines = self.gateways.public.network.output(*asked, *written, *given, url).splitlines()
        found = (line.partition(":") for line in lines if ":" in line)
        return {name.lower(): value.strip() for name, _, value in found}

    def send_many(self, url: str, requests: int, *, workers: int = WORKERS, length: int = 10) -> Counter[str]:
        """Return how many requests had each status, and how many each engine answered.

        So many of them are under way at a time, with prompts of so many characters.
        """
        program = (executable, "-m", "modelplane_dev.plane.gateways.load")
        counts = map(str, (requests, workers, length))
        return Counter(json.loads(self.gateways.public.network.output(*program, url, *counts)))

    def call_by_openai(self, url: str, key: str) -> Any:
        """Return what OpenAI's client is answered at a base URL."""
        return self._run_client("gateways.openai_calls", url, key)

    def read_models(self, url: str, key: str, *names: str) -> Any:
        """Return what OpenAI's client is answered at a base URL, by the names of models that it reads."""
        return self._run_client("gateways.openai_models", url, key, *names)

    def _run_client(self, module: str, *arguments: str) -> Any:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
        command = (executable, "-m", module, *arguments)
        return json.loads(self.gateways.public.network.output(*command, environment=environment))

    def observed(self, service: str) -> ObservedService:
        """Return a service as the control cluster shows it."""
        return ObservedService(self.fleet, service)

    def shell(self, script: str, directory: Path) -> str:
        """Return what a script prints that calls the services, and whose kubectl speaks to the control cluster."""
        environment = self.fleet.plane.hub.environment()
        return self.gateways.public.network.output("bash", "-euc", f"cd {directory}\n{script}", environment=environment)

    def ask_site(self, site: str, host: str, pair: str | None) -> Answer:
        """Return the answer of a site's gateway to a chat with a host, as `_ask_privately` does."""
        return self._ask_privately(self.gateways.addresses[site], host, pair)

    def ask_router(self, host: str, pair: str | None) -> Answer:
        """Return the answer of the router to a chat with a host, as `_ask_privately` does."""
        return self._ask_privately(ROUTER_ADDRESS, host, pair)

    def _ask_privately(self, address: str, host: str, pair: str | None) -> Answer:
        """Return the answer of a gateway that only the public one may call, status 0 where the connection gives none.

        `pair` is the Secret of the control cluster with the certificate that the caller shows, None for none.
        """
        api, name = self.fleet.plane.hub.api, SERVER_NAME
        with tempfile.TemporaryDirectory() as folder:
            shown: tuple[str, ...] = ()
            for secret in filter(None, {AUTHORITY, pair}):
                found = api.get(SECRET, secret, SYSTEM_NAMESPACE) or {}
                for file, value in found["data"].items():
                    Path(folder, f"{secret}-{file}").write_bytes(base64.b64decode(value))
            if pair:
                shown = ("--cert", f"{folder}/{pair}-tls.crt", "--key", f"{folder}/{pair}-tls.key")
            known = (
                "--cacert",
                f"{folder}/{AUTHORITY}-tls.crt",
                "--resolve",
                f"{name}:443:{address}",
            )
            asked = ("--header", f"Host: {host}", "--json", json.dumps(CHAT))
            command = (*CURL_BY_TLS, *known, *shown, *asked)
            entered = self.gateways.public.network.command(*command, f"https://{name}/v1/chat/completions")
            done = subprocess.run(entered, check=False, capture_output=True, text=True)
        text, _, status = done.stdout.rpartition("\n")
        return Answer(int(status), text or done.stderr)

    def host(self, deployment: str, site: str) -> str:
        """Return the host of the replica of a deployment on a site."""
        (found,) = (
            endpoint["spec"]["host"]
            for endpoint in self.fleet.endpoints(deployment)
            if endpoint["metadata"]["labels"]["modelplane.ai/cluster"] == f"{self.fleet.tag}-{site}"
        )
        return str(found)

    def forget_services(self) -> None:
        """Delete the services that tests have made for themselves, and wait until they are gone."""
        api = self.fleet.plane.hub.api

        def made() -> set[str]:
            found = (each["metadata"] for each in api.list(SERVICE, self.fleet.tag))
            return {each["name"] for each in found if OUTLASTS not in each.get("labels", {})}

        for name in made():
            api.delete(SERVICE, name, self.fleet.tag)

        def gone() -> None:
            left = made()
            assert not left, left

        eventually(gone, within=SOON)

    def assert_spread(self, deployment: str) -> None:
        """Assert that each cluster has one replica of a deployment."""
        endpoints = self.fleet.endpoints(deployment)
        clusters = sorted(endpoint["metadata"]["labels"]["modelplane.ai/cluster"] for endpoint in endpoints)
        assert clusters == sorted(self.fleet.clusters), clusters

    def assert_endpoints(self, service: str, count: int) -> None:
        """Assert that requests to a service go to so many endpoints."""
        assert sum(map(len, self.observed(service).shares())) == count

    def run_engines(self, started: dict[str, Process]) -> None:
        """Run an engine in each pod, once each cluster has one replica of `llama`.

        `started` has those of before by the pods' names, and then all: what runs goes on, and what has no pod is ended.
        """
        eventually(lambda: self.assert_spread("llama"), within=SOON)
        sites = self.gateways.sites
        pods = {site: self.fleet.pods(f"{self.fleet.tag}-{site}") for site in sites}
        for name in started.keys() - {pod["metadata"]["name"] for found in pods.values() for pod in found}:
            started.pop(name).stop()
        running = {name for name, engine in started.items() if engine.alive}
        for site, found in pods.items():
            missing = [pod for pod in found if pod["metadata"]["name"] not in running]
            started |= sites[site].run_engines(missing, POD_ADDRESSES)

    @contextmanager
    def early_connection(self, url: str, *origin: str) -> Iterator[list[int]]:
        """Send a request before, and one after, on one connection; the list has their statuses by then.

        With an origin the second is a browser's question whether a page from there may call.
        """
        found: list[int] = []
        command = self.gateways.public.network.command(executable, "-m", "gateways.early_connection", url, *origin)
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / 'tools'}:{ROOT / 'functions'}"}
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
            assert process.stdout
            found.append(int(process.stdout.readline()))
            try:
                yield found
            finally:
                text, _ = process.communicate("\n\n")
            found.append(int(text))

    @contextmanager
    def watched(self, url: str, *model: str) -> Iterator[list[tuple[int, int]]]:
        """Send one request after the other; afterwards the list says how many in a row had which status."""
        found: list[tuple[int, int]] = []
        program = ("-m", "modelplane_dev.plane.gateways.watch")
        command = self.gateways.public.network.command(executable, *program, url, *model)
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield found
            finally:
                text, _ = process.communicate("")
        found += [(status, count) for status, count in json.loads(text)]


def lost(counts: Counter[str]) -> dict[str, int]:
    """Return how many requests had no answer of 200, by status; not those whose answer had begun when it was cut."""
    fine = {str(HTTPStatus.OK), str(CUT)}
    return {status: count for status, count in counts.items() if status.isdecimal() and status not in fine}


def _remove(fleet: Fleet) -> None:
    """Delete the InferenceGateway and the fleet, and wait until the Gateways on the sites are gone."""
    api = fleet.plane.hub.api

    def deleted() -> None:  # it is kept until it has seen that there is no ModelService
        try:
            api.delete(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY)
        except ApiError as error:
            raise AssertionError(error) from error

    eventually(deleted, within=SOON)
    fleet.close()

    def gone() -> None:
        there = {name: site.cluster.api.get(GATEWAY, CLUSTER_GATEWAY, SYSTEM_NAMESPACE) for name, site in sites}
        clusters = [fleet.cluster(name).get("metadata") for name, _ in sites]
        objects = {each["metadata"]["name"]: each.get("status") for each in api.list(OBJECT, SYSTEM_NAMESPACE)}
        assert not any(there.values()), f"Gateways {there}, InferenceClusters {clusters}, Objects {objects}"

    sites = tuple(fleet.clusters.items())
    eventually(gone, within=SOON)


@contextmanager
def live_fleet(fleet: Fleet) -> Iterator[LiveFleet]:
    """Run the gateways, and make a cluster of the fleet on each of their sites."""
    with live_gateways(fleet.plane, SITES, pools=True) as gateways:
        clusters = [fleet.begin_cluster(name, nodes=2) for name in SITES]
        gateways.open_sites()
        for name in clusters:
            fleet.wait_cluster(name)
        gateways.open_public()
        gateways.open_router()
        yield LiveFleet(fleet, gateways)
        _remove(fleet)
