"""How the services of a fleet with real gateways are called."""

import base64
import json
import os
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from sys import executable
from typing import Any

from e2e.fleet import SOON, Fleet
from modelplane.model.names import AUTHORITY, CLIENT_PAIR, SERVER_NAME, SYSTEM_NAMESPACE
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.gateways import load, watch
from modelplane_dev.plane.gateways.live import ADDRESS, ROUTER_ADDRESS, LiveGateways
from modelplane_dev.plane.gateways.requests import CUT
from modelplane_dev.plane.issuer import SECRET
from modelplane_dev.plane.waiting import eventually

CHAT = {"model": "example/model", "messages": [{"role": "user", "content": "Hello"}]}
#: Seconds without a change after which the passes that follow from the last one are over, as a rule.
_REST = 3.0
#: curl, which gives up where an answer takes longer than one does on any machine.
CURL = ("curl", "-sS", "--max-time", "120")
#: How curl ends where the other side has closed the connection: in the handshake, without an answer, or while it sends
#: or receives.
_CLOSED = frozenset({35, 52, 55, 56})
#: How often something is tried that has to be over in time, and after how many seconds another time: services look at
#: endpoints and keys again every ten seconds, and the tries are to begin at different times between two looks.
_TRIES, _LATER = 3, 4.0
#: Asks by TLS, and prints the status behind the answer. By HTTP/2 curl would lose an answer that Envoy gives by itself
#: before it has read the body, because Envoy then resets the stream.
CURL_BY_TLS = (*CURL, "--http1.1", "--write-out", "\n%{http_code}")
#: Requests that are under way at a time.
WORKERS = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of a service. Without one the status is 0, and `refused` says whether the gateway was there.

    It closes the connection of a caller without its certificate: with TLS 1.3 after the caller's own part of the
    handshake, so that curl may see the end before the reason.
    """

    status: int
    text: str
    refused: bool = False

    @property
    def body(self) -> Any:
        """Return its JSON."""
        return json.loads(self.text)

    @property
    def code(self) -> str:
        """Return the code of an error in the shape of OpenAI's API."""
        code: str = self.body["error"]["code"]
        return code


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls the services of a fleet, and its gateways themselves."""

    fleet: Fleet
    gateways: LiveGateways

    def ask(self, url: str, body: Any = None, *headers: str) -> Answer:
        """Return the answer to a GET, or to a POST with a body."""
        data = () if body is None else ("--json", json.dumps(body))
        given = [part for header in headers for part in ("--header", header)]
        written = ("--write-out", "\n%{http_code}")
        text = self.gateways.public.network.output(*CURL, *written, *data, *given, url)
        text, _, status = text.rpartition("\n")
        return Answer(int(status), text)

    def ask_large(self, url: str, body: Any, *headers: str) -> Answer:
        """Return the answer to a POST whose body is too long for an argument."""
        given = [part for header in headers for part in ("--header", header)]
        asked = (*CURL, "--write-out", "\n%{http_code}", "--json", "@-", *given, url)
        text, _, status = self.gateways.public.network.output(*asked, text=json.dumps(body)).rpartition("\n")
        return Answer(int(status), text)

    def ask_with_headers(self, url: str, body: Any, *headers: str) -> tuple[Answer, dict[str, str]]:
        """Return the answer to a POST and its headers, by their names in lower case."""
        given = [part for header in headers for part in ("--header", header)]
        asked = (*CURL, "--include", "--json", json.dumps(body), *given, url)
        head, _, text = self.gateways.public.network.output(*asked).replace("\r", "").partition("\n\n")
        first, *lines = head.splitlines()
        found = (line.partition(":") for line in lines)
        return Answer(int(first.split()[1]), text), {name.lower(): value.strip() for name, _, value in found}

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
        asked = (*CURL, "--request", "OPTIONS")
        written = ("--dump-header", "-", "--output", "/dev/null")
        lines = self.gateways.public.network.output(*asked, *written, *given, url).splitlines()
        found = (line.partition(":") for line in lines if ":" in line)
        return {name.lower(): value.strip() for name, _, value in found}

    def send_many(self, url: str, requests: int, *, workers: int = WORKERS, length: int = 10) -> Counter[str]:
        """Return how many requests had each status, and how many each engine answered.

        So many of them are under way at a time, with prompts of so many characters.
        """
        command = _load(url, requests, workers, length)
        return Counter(json.loads(self.gateways.public.network.output(*command)))

    def send_around(
        self,
        event: Callable[[], object],
        url: str,
        requests: int,
        *,
        first: int,
        workers: int = WORKERS,
        length: int = 10,
    ) -> tuple[Counter[str], Counter[str]]:
        """Let something happen under requests; return the counts of those begun until it was over, and of more after.

        It happens once `first` are answered, and so many follow.
        """
        command = self.gateways.public.network.command(*_load(url, requests, workers, length, first))
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            _wait_begun(process, load.BEGUN)
            event()
            text, _ = process.communicate("")
        before, after = (Counter[str](each) for each in json.loads(text))
        return before, after

    def call_by_openai(self, url: str, key: str) -> Any:
        """Return what OpenAI's client is answered at a base URL."""
        return json.loads(self.run_module("gateways.openai_calls", url, key))

    def read_models(self, url: str, key: str, *names: str) -> Any:
        """Return what OpenAI's client is answered at a base URL, by the names of models that it reads."""
        return json.loads(self.run_module("gateways.openai_models", url, key, *names))

    def run_module(self, module: str, *arguments: str, text: str | None = None) -> str:
        """Return what a module of the tests prints that runs in the public gateway's network; `text` is its input."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
        command = (executable, "-m", module, *arguments)
        return self.gateways.public.network.output(*command, environment=environment, text=text)

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
        return Answer(int(status), text or done.stderr, done.returncode in _CLOSED)

    def wait_site(self, site: str, deployment: str, status: int = 200) -> None:
        """Wait until a site's gateway answers a request for a deployment's replica there with a status."""
        self._wait_privately(lambda: self.ask_site(site, self.host(deployment, site), CLIENT_PAIR), status)

    def wait_router(self, host: str, status: int = 200) -> None:
        """Wait until the router answers a request for a host with a status."""
        self._wait_privately(lambda: self.ask_router(host, CLIENT_PAIR), status)

    @staticmethod
    def _wait_privately(ask: Callable[[], Answer], status: int) -> None:
        def answered() -> None:
            answer = ask()
            assert answer.status == status, answer

        eventually(answered, within=SOON)

    def host(self, deployment: str, site: str) -> str:
        """Return the host of the replica of a deployment on a site."""
        found = [
            endpoint["spec"]["host"]
            for endpoint in self.fleet.endpoints(deployment)
            if endpoint["metadata"]["labels"]["modelplane.ai/cluster"] == f"{self.fleet.tag}-{site}"
        ]
        assert len(found) == 1, found
        return str(found[0])

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
        """Send one request after the other; afterwards the list says how many in a row had which status.

        The first is answered before anything happens, and the last is sent after everything has.
        """
        found: list[tuple[int, int]] = []
        command = self.gateways.public.network.command(executable, "-m", watch.__name__, url, *model)
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            _wait_begun(process, watch.BEGUN)
            try:
                yield found
            finally:
                text, _ = process.communicate("")
        found += [(status, count) for status, count in json.loads(text)]


def _load(url: str, *numbers: int) -> tuple[str, ...]:
    return (executable, "-m", load.__name__, url, *map(str, numbers))


def _wait_begun(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout
    assert process.stdout.readline().strip() == line


def in_time(measure: Callable[[], float], bound: float, prepare: Callable[[], object] = lambda: None) -> float:
    """Return after how many seconds something is over: of some tries the first within a bound, else the quickest.

    What a machine does beside it adds to a time, and never takes away from it. Each try is prepared before.
    """
    found: list[float] = []
    while len(found) < _TRIES and not any(seconds < bound for seconds in found):
        prepare()
        time.sleep(_LATER if found else 0)
        found.append(measure())
    return min(found)


def lost(counts: Counter[str]) -> dict[str, int]:
    """Return how many requests had no answer of 200, by status; not those whose answer had begun when it was cut."""
    fine = {str(HTTPStatus.OK), str(CUT)}
    return {status: count for status, count in counts.items() if status.isdecimal() and status not in fine}
