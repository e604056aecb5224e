"""One ModelService on an API server where a pass may end between any two writes: its inputs, passes and objects."""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from modelplane.compose_endpoint.service import compose
from modelplane.composing import requirements as require
from modelplane.model.names import endpoint_hostname
from modelplane.model.routing import Endpoint, ServiceEntry
from modelplane.step import Object, Request, Result
from modelplane.step.call import run
from modelplane.step.sealed import Sealed

API = "modelplane.ai/v1alpha1"
_GATEWAY = {"name": "public-gateway", "namespace": "modelplane-system"}
#: What the gateway says of a policy that it has accepted.
ACCEPTED = {"ancestors": [{"ancestorRef": _GATEWAY, "conditions": [{"type": "Accepted", "status": "True"}]}]}
#: What the InferenceGateway publishes.
GATEWAY = {"url": "http://gw.example.org", "caBundle": "ca"}
#: Where a service's objects are kept, by composition resource name.
Store = dict[str, dict[str, Any]]


def obj(body: dict[str, Any]) -> Object:
    """Return an object as a step gets it, a version of its own."""
    return Object(copy.deepcopy(body), object())


def secret(name: str, data: dict[str, bytes]) -> dict[str, Any]:
    """Return a Secret as a step gets it."""
    sealed = {key: Sealed(value) for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "ml"}, "data": sealed}


def bare(body: dict[str, Any]) -> dict[str, Any]:
    """Return an object as a step composes it: without what the gateway says of it."""
    return {field: value for field, value in body.items() if field != "status"}


def without_status(store: Store) -> Store:
    """Return objects as a step composes them."""
    return {name: bare(body) for name, body in store.items()}


def model_endpoint(endpoint: Endpoint, namespace: str) -> dict[str, Any]:
    """Return the ModelEndpoint that its own pass has published.

    A deployment composed it, unless its host is one of those by hand or it is switched off, as only people do.
    """
    owner = {"apiVersion": API, "kind": "ModelDeployment", "name": "d", "uid": "u", "controller": True}
    address = endpoint.address
    by_hand = endpoint.is_off or (address and address.hostname == endpoint_hostname(endpoint.name, namespace))
    routing: dict[str, Any] = {}
    if address:
        routing = {"hostname": address.hostname, "fqdn": address.fqdn, "port": address.port}
        routing |= {"mutualTLS": True} if address.mutual_tls else {}
    return {
        "apiVersion": API,
        "kind": "ModelEndpoint",
        "metadata": {
            "name": endpoint.name,
            "namespace": namespace,
            "labels": dict(endpoint.labels),
            "ownerReferences": [] if by_hand else [owner],
        },
        "spec": {"url": "https://gw.example.org", "ready": endpoint.ready, "leaving": endpoint.leaving}
        | ({"model": endpoint.model} if endpoint.model else {}),
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
    gateway: dict[str, Any] | None = field(default_factory=lambda: dict(GATEWAY))
    requires_keys: bool = False
    secrets: dict[str, dict[str, bytes]] = field(default_factory=dict)
    status: dict[str, Any] = field(default_factory=dict)
    ejections: str | None = None
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
        status = {"status": self.status} if self.status else {}
        return {"apiVersion": API, "kind": "ModelService", "metadata": metadata, "spec": spec, **status}

    def reconcile(self) -> Result:
        """Return what a pass decides, once all that it requires is fetched."""
        schemas = {each.name: {"type": "object"} if self.kinds else None for each in require.GATEWAY_KINDS}
        observed = {name: obj(body) for name, body in self.store.items()}
        request = Request(obj(self.body), observed=observed, schemas=schemas)
        needs = run(compose, request).result
        bodies = [model_endpoint(each, self.namespace) for each in self.endpoints]
        required: dict[str, tuple[Object, ...]] = {}
        for each in needs.requirements:
            if each.kind == "ModelEndpoint":
                found = [b for b in bodies if each.match_labels.items() <= b["metadata"]["labels"].items()]
                required[each.name] = tuple(map(obj, found))
            elif each.kind == "Secret":
                data = self.secrets.get(each.match_name or "")
                required[each.name] = () if data is None else (obj(secret(each.match_name or "", data)),)
        gateway = {"kind": "InferenceGateway", "metadata": {"name": "default"}, "status": self.gateway}
        gateway["spec"] = {"requireKeys": self.requires_keys}
        required["gateway"] = () if self.gateway is None else (obj(gateway),)
        published = {
            "kind": "ConfigMap",
            "metadata": {"name": "gateway-ejections"},
            "data": {"ejections": self.ejections},
        }
        required["ejections"] = () if self.ejections is None else (obj(published),)
        required |= {each.name: () for each in needs.requirements if each.kind == "CustomResourceDefinition"}
        fetched = Request(request.composite, request.observed, required=required, schemas=schemas)
        outcome = run(compose, fetched)
        assert outcome.defect is None
        assert outcome.result.fatal is None
        return outcome.result

    def desired(self) -> Store:
        """Return what a pass wants, by composition resource name."""
        return {name: dict(each.build()) for name, each in self.reconcile().desired.items()}

    def settle(self) -> None:
        """Run whole passes until one changes nothing; before each the gateway accepts what there is."""
        for _ in range(8):
            self.accept_policies()
            result = self.reconcile()
            wanted = {name: dict(each.build()) for name, each in result.desired.items()}
            status = dict(result.status or self.status)
            if (wanted, status) == (without_status(self.store), self.status):
                return
            self.store = wanted | {name: was for name, was in self.store.items() if wanted.get(name) == bare(was)}
            self.status = status
        raise AssertionError("the service does not come to rest")

    def put(self, name: str, body: dict[str, Any]) -> None:
        """Write an object; what the gateway has said of it stays while it does not change."""
        was = self.store.get(name)
        self.store[name] = was if was and bare(was) == body else body

    def accept_policies(self) -> None:
        """Let the gateway accept the policies as they are."""
        for body in self.store.values():
            if body["kind"] == "SecurityPolicy":
                body["status"] = ACCEPTED

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


def lets_through(service: Service) -> bool:
    """Tell whether the route sends requests on to Backends."""
    route = service.route
    return route is not None and any("backendRefs" in rule for rule in route["spec"]["rules"])


def checked_secrets(store: Store) -> set[tuple[str, str]]:
    """Return kind and name of the Secrets with the keys that are checked."""
    policies = (body["spec"].get("apiKeyAuth", {}) for body in store.values() if body["kind"] == "SecurityPolicy")
    return {("Secret", each["name"]) for policy in policies for each in policy.get("credentialRefs", ())}


def references_of_backends(store: Store) -> set[tuple[str, str]]:
    """Return kind and name of what the Backends that a route refers to refer to themselves."""
    referred = {name for kind, name in references(store["route"]) if kind == "Backend"}
    specs = [body["spec"] for body in store.values() if body["metadata"]["name"] in referred]
    trusted = [each for spec in specs for each in spec.get("tls", {}).get("caCertificateRefs", ())]
    return {(each["kind"], each["name"]) for each in trusted}


def named_objects(store: Store) -> set[tuple[str, str]]:
    """Return kind and name of every object there is."""
    return {(body["kind"], body["metadata"]["name"]) for body in store.values()}
