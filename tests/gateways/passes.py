"""Passes of a ModelService on real gateways, written one object at a time: each may end between any two of them."""

import random
import time
from collections.abc import Mapping
from typing import Any

from e2e.fleet import SOON
from gateways.live import LiveFleet
from modelplane.model.names import INFERENCE_GATEWAY
from modelplane.model.routing import Address, Endpoint, ServiceEntry
from modelplane.step.opening import open_secrets
from modelplane_dev.plane.api import Kind
from modelplane_dev.plane.cluster import CROSSPLANE
from modelplane_dev.plane.gateways.live import ADDRESS, INFERENCE_GATEWAY_KIND
from modelplane_dev.plane.waiting import eventually
from property.services import Service, bare

#: Seconds from one write to the next: Envoy Gateway acts on a write within a fraction of them.
PAUSE = 0.4
#: Passes within which a service comes to rest, also where the gateway says something of a policy between two of them.
PASSES = 12
#: The deployments whose endpoints there are.
_DEPLOYMENTS = ("llama", "canary")
_ALL = (ServiceEntry("all", {}),)
_SPLIT = (
    ServiceEntry("main", {"modelplane.ai/deployment": "llama"}, weight=90),
    ServiceEntry("canary", {"modelplane.ai/deployment": "canary"}, weight=10),
)


class LivePasses:
    """A service whose objects the test writes in an order of chance; there is no ModelService of its name."""

    def __init__(self, live: LiveFleet, name: str, **fields: Any) -> None:
        # Nobody else may write routes of the public Gateway.
        self._api = live.fleet.plane.hub.api_of(CROSSPLANE)
        self._live = live
        self._chance = random.Random(name)  # noqa: S311 - the same order in every run
        self._endpoints = [_endpoint(each) for name in _DEPLOYMENTS for each in live.fleet.endpoints(name)]
        published = live.fleet.plane.hub.api.get(INFERENCE_GATEWAY_KIND, INFERENCE_GATEWAY) or {}
        gateway = {"url": f"http://{ADDRESS}", "caBundle": published["status"]["caBundle"]}
        first = self._endpoints[:1]
        self._service = Service(
            entries=_ALL, endpoints=first, gateway=gateway, name=name, namespace=live.fleet.tag, **fields
        )
        self._changes: Mapping[str, tuple[str, Any]] = {
            "every endpoint": ("endpoints", self._endpoints),
            "one endpoint": ("endpoints", self._endpoints[-1:]),
            "no endpoint": ("endpoints", []),
            "another entry": ("entries", _SPLIT),
            "keys": ("requires_keys", True),
            "no keys": ("requires_keys", False),
            "another key": ("secrets", {"keys": {"ann": b"another"}}),
            "no usable key": ("secrets", {}),
            "pages may call": ("spec", self._service.spec | {"cors": {"allowOrigins": ["*"]}}),
        }

    @property
    def url(self) -> str:
        """Return the URL of the service."""
        return f"http://{ADDRESS}/{self._service.namespace}/{self._service.name}"

    def change(self, name: str) -> None:
        """Change one thing, and carry out all passes that follow."""
        field, value = self._changes[name]
        setattr(self._service, field, value)
        self.go()

    def wait_answer(self, status: int, *headers: str) -> None:
        """Carry out passes until the list of models is answered with a status: the gateway takes its time to accept."""

        def answered() -> None:
            self.go()
            answer = self._live.ask(f"{self.url}/v1/models", None, *headers)
            assert answer.status == status, answer

        eventually(answered, within=SOON)

    def go(self) -> None:
        """Carry out passes until the service comes to rest."""
        for _ in range(PASSES):
            self._observe_policies()
            result, store = self._service.reconcile(), self._service.store
            wanted = {name: dict(each.build()) for name, each in result.desired.items()}
            composed = {name: _composed(body) for name, body in store.items()}
            writes = [name for name in composed.keys() | wanted.keys() if composed.get(name) != wanted.get(name)]
            self._service.status = dict(result.status or {})
            if not writes:
                return
            self._chance.shuffle(writes)
            for name in sorted(writes, key=lambda each: each in wanted):
                self._write(name, wanted.get(name))
                time.sleep(PAUSE)
        raise AssertionError("the service does not come to rest")

    def _observe_policies(self) -> None:
        """Read what the gateway says of the policy of keys."""
        for name, body in self._service.store.items():
            if body["kind"] != "SecurityPolicy":
                continue
            metadata = body["metadata"]
            found = self._api.get(_kind(body), metadata["name"], metadata["namespace"]) or {}
            seen = {**metadata, "generation": found["metadata"]["generation"]}
            self._service.store[name] = {**body, "metadata": seen, "status": found.get("status", {})}

    def _write(self, name: str, body: dict[str, Any] | None) -> None:
        store = self._service.store
        if body is not None:
            self._api.apply(open_secrets(body))
            store[name] = body
            return
        gone = store.pop(name)
        metadata = gone["metadata"]
        self._api.delete(_kind(gone), metadata["name"], metadata["namespace"])


def _kind(body: Mapping[str, Any]) -> Kind:
    return Kind(body["apiVersion"], body["kind"])


def _composed(body: dict[str, Any]) -> dict[str, Any]:
    """Return an object as a step composes it: without what the API server and the gateway have added."""
    metadata = {field: value for field, value in body["metadata"].items() if field != "generation"}
    return bare({**body, "metadata": metadata})


def _endpoint(found: Mapping[str, Any]) -> Endpoint:
    """Return a ModelEndpoint of the fleet as a service reads it."""
    routing, metadata = found["status"]["routing"], found["metadata"]
    mutual_tls = routing.get("mutualTLS") is True
    address = Address(routing["hostname"], routing["fqdn"], int(routing["port"]), mutual_tls=mutual_tls)
    return Endpoint(metadata["name"], metadata["labels"], address, ready=True)
