"""External providers of a fleet with real gateways: a fake of all of them, and endpoints that lead to it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from e2e.fleet import SOON
from e2e.services import model_service
from gateways.live import LiveFleet
from gateways.streams import QUIET
from modelplane.model.names import API_VERSION
from modelplane_dev.plane.control_plane import ENDPOINT
from modelplane_dev.plane.gateways.provider import CERTIFICATE, REQUESTS
from modelplane_dev.plane.waiting import eventually

#: Label of the endpoints.
PROVIDER = "example.com/provider"


@dataclass(frozen=True, slots=True)
class Providers:
    """The fake, with the folder in which it writes what reaches it."""

    live: LiveFleet
    folder: Path

    @property
    def certificate(self) -> str:
        """Return its certificate, which it has signed itself."""
        return (self.folder / CERTIFICATE).read_text()

    def write_secret(self, name: str, **values: str) -> None:
        """Write a Secret of the fleet's namespace."""
        metadata = {"name": name, "namespace": self.live.fleet.tag}
        self.live.fleet.plane.hub.api.apply(
            {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": values}
        )

    def route_to(self, name: str, **spec: Any) -> dict[str, Any]:
        """Make an endpoint, and wait until the router takes it; return the entry of a service that selects it."""
        self.write_endpoint(name, **spec)
        eventually(lambda: self.assert_routing(name), within=SOON)
        return entry({PROVIDER: name})

    def write_endpoint(self, name: str, **spec: Any) -> None:
        """Write an endpoint."""
        metadata = {"name": name, "namespace": self.live.fleet.tag, "labels": {PROVIDER: name}}
        manifest = {"apiVersion": API_VERSION, "kind": "ModelEndpoint", "metadata": metadata, "spec": spec}
        self.live.fleet.plane.hub.api.apply(manifest)

    def forget(self) -> None:
        """Delete the endpoints, and wait until nothing is left of them."""
        for name in self._endpoints():
            self.live.fleet.plane.hub.api.delete(ENDPOINT, name, self.live.fleet.tag)

        def gone() -> None:
            assert not self._endpoints()
            self.live.assert_no_orphans()

        eventually(gone, within=SOON)

    def _endpoints(self) -> list[str]:
        found = (each["metadata"] for each in self.live.fleet.plane.hub.api.list(ENDPOINT, self.live.fleet.tag))
        return [each["name"] for each in found if PROVIDER in each["labels"] and each["name"] != QUIET]

    def assert_routing(self, name: str, status: str = "True", reason: str = "BackendConfigured") -> None:
        """Assert what the condition RoutingReady of an endpoint says."""
        found = self.live.fleet.plane.hub.api.get(ENDPOINT, name, self.live.fleet.tag) or {}
        self.live.fleet.assert_condition(found, "RoutingReady", status, reason)

    def serve(self, name: str, *entries: dict[str, Any], status: int = 200) -> str:
        """Make a service, wait until it leads to a Backend for each entry and answers with a status; return its URL."""
        manifest = model_service(name, self.live.fleet.tag, {})
        manifest["spec"] = {"endpoints": list(entries)}
        self.live.fleet.plane.hub.api.apply(manifest)
        eventually(lambda: self._assert_backends(name, len(entries)), within=SOON)
        self.live.wait_chat(self.live.url(name), status)
        return self.live.url(name)

    def _assert_backends(self, service: str, count: int) -> None:
        assert len(self.live.observed(service).shares()) == count
        self.live.assert_routed(service)

    def answer_with(self, host: str, status: int) -> None:
        """Let the provider of a host answer with a status from now on, 200 as it does otherwise."""
        file = self.folder / host
        if status == 200:
            file.unlink()
        else:
            file.write_text(str(status))

    def reached(self, host: str) -> list[dict[str, Any]]:
        """Return what has reached the provider of a host: path, headers by their names in lower case, and model."""
        found = self.folder / REQUESTS
        lines = found.read_text().splitlines(keepends=True) if found.exists() else []
        whole = (json.loads(line) for line in lines if line.endswith("\n"))
        return [each for each in whole if each["headers"]["host"] == host]


def entry(labels: dict[str, str], priority: int = 0) -> dict[str, Any]:
    """Return an entry of a service."""
    return {"priority": priority, "selector": {"matchLabels": labels}}
