"""Real gateways for a fleet: Envoy Gateway and Envoy on the control cluster and on one inference cluster, linked."""

import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from sys import executable
from typing import Any

from e2e.fleet import SOON, Fleet
from e2e.services import INFERENCE_GATEWAY_KIND, SERVICE, inference_gateway
from modelplane.model.names import CLUSTER_GATEWAY, INFERENCE_GATEWAY, PUBLIC_GATEWAY, SYSTEM_NAMESPACE
from modelplane_dev.plane.api import ApiError, Manifest
from modelplane_dev.plane.envoy_gateway import GATEWAY
from modelplane_dev.plane.fakes import play_gateway
from modelplane_dev.plane.gateways.controller import Gateways, gateways
from modelplane_dev.plane.inference import InferenceSite
from modelplane_dev.plane.waiting import eventually

#: The public gateway's address.
ADDRESS = "203.0.113.99"
_CLASS = {
    "apiVersion": GATEWAY.api_version,
    "kind": "GatewayClass",
    "metadata": {"name": "envoy"},
    "spec": {"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"},
}


def _site_gateway() -> Manifest:
    """Return the Gateway of an inference cluster."""
    listener = {"name": "http", "port": 443, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
    return {
        "apiVersion": GATEWAY.api_version,
        "kind": GATEWAY.kind,
        "metadata": {"name": CLUSTER_GATEWAY, "namespace": SYSTEM_NAMESPACE},
        "spec": {"gatewayClassName": "envoy", "listeners": [listener]},
    }


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
    def code(self) -> str:
        """Return the code of an error in the shape of OpenAI's API."""
        code: str = self.body["error"]["code"]
        return code


@dataclass(frozen=True, slots=True)
class LiveGateways:
    """The gateways of the control cluster and of an inference cluster."""

    fleet: Fleet
    public: Gateways
    remote: Gateways

    def ask(self, url: str, body: Any = None, *headers: str) -> Answer:
        """Return the answer to a GET, or to a POST with a body."""
        data = () if body is None else ("--json", json.dumps(body))
        given = [part for header in headers for part in ("--header", header)]
        written = ("--write-out", "\n%{http_code}")
        text = self.public.network.output("curl", "-sS", "--max-time", "30", *written, *data, *given, url)
        text, _, status = text.rpartition("\n")
        return Answer(int(status), text)

    def send_many(self, url: str, requests: int, workers: int = 8) -> Counter[str]:
        """Return how many requests had each status, and how many each engine answered."""
        program = (executable, "-m", "modelplane_dev.plane.gateways.load")
        return Counter(json.loads(self.public.network.output(*program, url, str(requests), str(workers))))

    def shell(self, script: str, directory: Path) -> str:
        """Return what a script prints that calls the services, and whose kubectl speaks to the control cluster."""
        environment = self.fleet.plane.hub.environment()
        return self.public.network.output("bash", "-euc", f"cd {directory}\n{script}", environment=environment)

    @contextmanager
    def watched(self, url: str) -> Iterator[list[tuple[int, int]]]:
        """Send one request after the other; afterwards the list says how many in a row had which status."""
        found: list[tuple[int, int]] = []
        command = self.public.network.command(executable, "-m", "modelplane_dev.plane.gateways.watch", url)
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield found
            finally:
                text, _ = process.communicate("")
        found += [(status, count) for status, count in json.loads(text)]


def lost(counts: Counter[str]) -> dict[str, int]:
    """Return how many requests had a status other than 200, by status."""
    return {status: count for status, count in counts.items() if status.isdecimal() and status != str(HTTPStatus.OK)}


def _forget(fleet: Fleet) -> None:
    """Delete the fleet's services, then the InferenceGateway that they have kept."""
    api = fleet.plane.hub.api
    for found in api.list(SERVICE, fleet.tag):
        api.delete(SERVICE, found["metadata"]["name"], fleet.tag)

    def deleted() -> None:
        try:
            api.delete(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY)
        except ApiError as error:
            raise AssertionError(error) from error
        assert not api.get(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY)

    eventually(deleted, within=SOON)


@contextmanager
def live_gateways(fleet: Fleet, name: str) -> Iterator[LiveGateways]:
    """Run the gateways, and make a cluster of the fleet on a site, whose fake gateway is back afterwards."""
    site: InferenceSite = fleet.plane.sites[name]
    api = site.cluster.api
    fake = (api.get(GATEWAY, CLUSTER_GATEWAY, SYSTEM_NAMESPACE) or {})["status"]["addresses"][0]["value"]
    try:
        with gateways(fleet.plane.hub, "public") as public, gateways(site.cluster, name) as remote:
            _, address = public.network.link(remote.network, 1)
            api.apply(_CLASS)
            api.apply(_site_gateway())
            fleet.plane.hub.api.apply(inference_gateway())
            remote.open(CLUSTER_GATEWAY, address)
            fleet.add_cluster(name, nodes=3)
            public.open(PUBLIC_GATEWAY, ADDRESS)
            yield LiveGateways(fleet, public, remote)
            _forget(fleet)
    finally:
        play_gateway(site.cluster, fake)
