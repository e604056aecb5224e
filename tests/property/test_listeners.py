"""The public gateway goes over to HTTPS and back, one object at a time, while services follow whenever they look."""

import copy
import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from unit.compose_cluster.public.gateways import TLS, bodies, decided
from unit.compose_cluster.public.test_router import PAIRS

_PROGRAMMED = [{"type": "Programmed", "status": "True"}]
_GATEWAY = {"name": "public-gateway", "namespace": "modelplane-system"}
_FOLLOWING = [{"type": kind, "status": "True"} for kind in ("RoutingReady", "Synced")]
#: Passes within which the gateway comes to rest.
_PASSES = 12


@dataclass
class Service:
    """A ModelService: the listeners of its route, and the URL that it has published."""

    name: str
    follows: bool = True
    listeners: tuple[str, ...] = ()
    url: str = ""

    @property
    def body(self) -> dict[str, Any]:
        """Return the ModelService."""
        annotations = {} if self.follows else {"crossplane.io/paused": "true"}
        metadata = {"name": self.name, "namespace": "ml", "annotations": annotations}
        return {"kind": "ModelService", "metadata": metadata, "status": {"conditions": _FOLLOWING}}


@dataclass
class Fleet:
    """An InferenceGateway, what it has composed, and the services; what is wrong between two changes is collected."""

    random: Random
    services: list[Service]
    spec: dict[str, Any] = field(default_factory=dict)
    store: dict[str, Any] = field(default_factory=dict)
    status: dict[str, Any] = field(default_factory=dict)
    unserved: list[str] = field(default_factory=list)
    watched: bool = False

    def listeners(self, name: str) -> set[str]:
        """Return the listeners of the Gateway that a route is attached to and that there are."""
        there = {each["name"] for each in self.store["gateway"]["spec"]["listeners"]}
        parents = self.store.get(name, {"spec": {"parentRefs": []}})["spec"]["parentRefs"]
        named = {each.get("sectionName", "") for each in parents if each["name"] == "public-gateway"}
        return there if "" in named else there & named

    def settle(self) -> None:
        """Run whole passes until the gateway rests and all services have followed."""
        for _ in range(_PASSES):
            before = copy.deepcopy((self.store, self.status, self.services))
            self.one_pass()
            self.report()
            for service in self.services:
                self.follow(service)
            self.report()
            if before == (self.store, self.status, self.services):
                return
        raise AssertionError("the gateway does not come to rest")

    def one_pass(self) -> None:
        """Decide, and carry it out in any order, while services look and the gateway's controller reports."""
        services = [each.body for each in self.services]
        result = decided(self.store, spec=self.spec, services=services, secrets=PAIRS, status=self.status)
        wanted = bodies(result)
        changes = sorted({*wanted} | {*self.store})
        self.random.shuffle(changes)
        for name in changes:
            self.change(name, wanted.get(name))
            self.look()
            match self.random.randrange(12):
                case 0 | 1:
                    self.follow(self.random.choice(self.services))
                    self.look()
                case 2:
                    self.report()
        self.status = dict(result.status or {})
        self.look()

    def change(self, name: str, body: dict[str, Any] | None) -> None:
        """Apply one composed object, or delete it."""
        if body is None:
            self.store.pop(name, None)
            return
        last = self.store.get(name, {"metadata": {}})
        body = json.loads(json.dumps(body, default=str))
        changed = last.get("spec") != body.get("spec")
        body["metadata"]["generation"] = last["metadata"].get("generation", 0) + changed
        if "status" in last:
            body["status"] = last["status"]
        self.store[name] = body

    def follow(self, service: Service) -> None:
        """Let a service look at the gateway."""
        if service.follows and self.status.get("url"):
            service.listeners, service.url = tuple(self.status["listeners"]), self.status["url"]

    def report(self) -> None:
        """Let the gateway's controller say what it has accepted, and how many routes each listener has."""
        for body in self.store.values():
            accepted = {"type": "Accepted", "status": "True", "observedGeneration": body["metadata"]["generation"]}
            parts = [{"parentRef": _GATEWAY, "ancestorRef": _GATEWAY, "conditions": [accepted]}]
            ready = [{"type": "Ready", "status": "True"}, {"type": "Programmed", "status": "True"}]
            body["status"] = {"parents": parts, "ancestors": parts, "conditions": ready}
        if "gateway" in self.store:
            listeners = [each["name"] for each in self.store["gateway"]["spec"]["listeners"]]
            ours = [self.listeners(name) for name, body in self.store.items() if body["kind"] == "HTTPRoute"]
            routes = [*ours, *({*each.listeners} for each in self.services)]
            self.store["gateway"]["status"] = {
                "addresses": [{"value": "gw.example.org"}],
                "listeners": [
                    {"name": name, "conditions": _PROGRAMMED, "attachedRoutes": sum(name in each for each in routes)}
                    for name in listeners
                ],
            }

    def look(self) -> None:
        """Collect the services that the published fleet URL does not lead to, or their own URL."""
        if not self.watched:
            return
        listener = self.status["fleetUrl"].partition("://")[0]
        for service in (each for each in self.services if each.follows):
            if not self.leads(listener, service):
                self.unserved.append(f"{self.status['fleetUrl']} to {service}")
            own = service.url.partition("://")[0]
            if own not in service.listeners or own not in self.listeners("listener-filters-route"):
                self.unserved.append(f"{service.url} to {service}")

    def leads(self, listener: str, service: Service) -> bool:
        """Tell whether a request to the fleet URL reaches a service; what plain HTTP does not take goes to HTTPS."""
        for name in ("fleet-route", "fleet-route-sent"):
            if listener not in self.listeners(name) and "https-redirect" in self.store:
                listener = "https"
            if listener not in self.listeners(name):
                return False
        target = "internal" if "tls" in self.store["fleet-gateway"]["spec"] else "http"
        return target in service.listeners and target in self.listeners("listener-filters-route")


def fleet(random: Random, spec: dict[str, Any], services: list[Service]) -> Fleet:
    """Return a fleet at rest, whose URL is published."""
    made = Fleet(random, services, spec)
    made.settle()
    made.watched = True
    return made


URLS = {"http": "http://gw.example.org/v1", "https": "https://models.example.com/v1"}


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.booleans(), st.integers(1, 4))
def test_between_any_two_changes_the_fleet_url_and_each_service_s_own_lead_to_it(
    seed: int, secured: bool, count: int
) -> None:
    services = [Service(f"s{number}") for number in range(count)]
    there = fleet(Random(seed), TLS if secured else {}, services)  # noqa: S311
    assert there.status["fleetUrl"] == URLS["https" if secured else "http"]
    for spec in ({}, TLS, {}) if secured else (TLS, {}, TLS):
        there.spec = spec
        there.settle()
        assert there.unserved == []
        assert there.status["fleetUrl"] == URLS["https" if spec else "http"]
        assert all(each.url == there.status["url"] for each in services)
        listeners = ("https", "internal") if spec else ("http",)
        assert {each.listeners for each in services} == {listeners}
    assert [*there.listeners("listener-filters-route")] != [], "the Gateway is there"


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_a_paused_service_keeps_no_other_from_https(seed: int) -> None:
    services = [Service("chat"), Service("paused")]
    there = fleet(Random(seed), {}, services)  # noqa: S311
    services[1].follows = False
    there.spec = TLS
    there.settle()
    assert there.unserved == []
    assert (there.status["fleetUrl"], services[0].listeners) == (URLS["https"], ("https", "internal"))
