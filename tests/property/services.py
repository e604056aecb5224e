"""One ModelService on an API server where a pass may end between any two writes: its inputs, passes and objects."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from modelplane.compose_endpoint.service import compose
from modelplane.composing import requirements as require
from modelplane.model.routing import Endpoint, ServiceEntry
from modelplane.step import Object, Request, Result
from modelplane.step.call import run

API = "modelplane.ai/v1alpha1"
#: Where a service's objects are kept, by composition resource name.
Store = dict[str, dict[str, Any]]


def obj(body: dict[str, Any]) -> Object:
    """Return an object as a step gets it, a version of its own."""
    return Object(copy.deepcopy(body), object())


def model_endpoint(endpoint: Endpoint, namespace: str) -> dict[str, Any]:
    """Return the ModelEndpoint that a deployment composed and that its own pass has published."""
    owner = {"apiVersion": API, "kind": "ModelDeployment", "name": "d", "uid": "u", "controller": True}
    address = endpoint.address
    routing = {"hostname": address.hostname, "fqdn": address.fqdn, "port": address.port} if address else {}
    return {
        "apiVersion": API,
        "kind": "ModelEndpoint",
        "metadata": {
            "name": endpoint.name,
            "namespace": namespace,
            "labels": dict(endpoint.labels),
            "ownerReferences": [owner],
        },
        "spec": {"url": "https://gw.example.org", "ready": endpoint.ready, "leaving": endpoint.leaving},
        "status": {"routing": {**routing, "ready": endpoint.ready}},
    }


def entry_spec(entry: ServiceEntry, *, named: bool) -> dict[str, Any]:
    """Return an entry as the API has it."""
    found = {
        "selector": {"matchLabels": dict(entry.selector)},
        "weight": entry.weight,
        "priority": entry.priority,
    }
    return found | ({"name": entry.key} if named else {})


@dataclass
class Service:
    """A ModelService with what its passes read and write."""

    entries: Sequence[ServiceEntry] = (ServiceEntry("all", {}),)
    endpoints: Iterable[Endpoint] = ()
    named: bool = True
    spec: dict[str, Any] = field(default_factory=dict)
    gateway: dict[str, Any] | None = field(default_factory=lambda: {"url": "http://gw.example.org"})
    requires_keys: bool = False
    kinds: bool = True
    name: str = "chat"
    namespace: str = "ml"
    store: Store = field(default_factory=dict)

    @property
    def body(self) -> dict[str, Any]:
        """Return the ModelService."""
        entries = [entry_spec(entry, named=self.named) for entry in self.entries]
        metadata = {"name": self.name, "namespace": self.namespace}
        spec = {"endpoints": entries, **self.spec}
        return {"apiVersion": API, "kind": "ModelService", "metadata": metadata, "spec": spec}

    def reconcile(self) -> Result:
        """Return what a pass decides, once all that it requires is fetched."""
        request = Request(obj(self.body), observed={name: obj(body) for name, body in self.store.items()})
        needs = run(compose, request).result
        bodies = [model_endpoint(each, self.namespace) for each in self.endpoints]
        required: dict[str, tuple[Object, ...]] = {}
        for each in needs.requirements:
            if each.kind == "ModelEndpoint":
                found = [b for b in bodies if each.match_labels.items() <= b["metadata"]["labels"].items()]
                required[each.name] = tuple(map(obj, found))
        gateway = {"kind": "InferenceGateway", "metadata": {"name": "default"}, "status": self.gateway}
        gateway["spec"] = {"requireKeys": self.requires_keys}
        required["gateway"] = () if self.gateway is None else (obj(gateway),)
        schemas = {each.name: {"type": "object"} if self.kinds else None for each in require.GATEWAY_KINDS}
        fetched = Request(request.composite, request.observed, required=required, schemas=schemas)
        outcome = run(compose, fetched)
        assert outcome.defect is None
        assert outcome.result.fatal is None
        return outcome.result

    def desired(self) -> Store:
        """Return what a pass wants, by composition resource name."""
        return {name: dict(each.build()) for name, each in self.reconcile().desired.items()}

    def settle(self) -> None:
        """Run whole passes until one changes nothing."""
        for _ in range(6):
            wanted = self.desired()
            if wanted == self.store:
                return
            self.store = wanted
        raise AssertionError("the service does not come to rest")

    @property
    def route(self) -> dict[str, Any] | None:
        """Return the HTTPRoute, None while there is none."""
        return self.store.get("route")


def references(route: dict[str, Any]) -> set[tuple[str, str]]:
    """Return kind and name of everything that the rules of an HTTPRoute refer to."""
    found = set()
    for rule in route["spec"]["rules"]:
        found |= {(each["kind"], each["name"]) for each in rule.get("backendRefs", ())}
        extensions = (each["extensionRef"] for each in rule["filters"] if each["type"] == "ExtensionRef")
        found |= {(each["kind"], each["name"]) for each in extensions}
    return found


def named_objects(store: Store) -> set[tuple[str, str]]:
    """Return kind and name of every object there is."""
    return {(body["kind"], body["metadata"]["name"]) for body in store.values()}
