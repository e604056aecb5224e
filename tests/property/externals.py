"""One ModelEndpoint that is written by hand: its inputs, passes and objects."""

from dataclasses import dataclass, field
from typing import Any

from modelplane.compose_endpoint.endpoint import compose
from modelplane.composing.requirements import GATEWAY_KINDS
from modelplane.step import Object, Request, Result
from modelplane.step.call import run
from property.services import API, Store, bare, obj, secret

#: What a Secret with a CA holds: a certificate that has signed itself, and whose key is nowhere.
CERTIFICATE = b"""\
-----BEGIN CERTIFICATE-----
MIIBfDCCASGgAwIBAgIULrWJovI7KcnUrePK58uu7CmPLnEwCgYIKoZIzj0EAwIw
EjEQMA4GA1UEAwwHZXhhbXBsZTAgFw0yNjExMjIyMjQ3MDFaGA8yMTI2MTAyOTIy
NDcwMVowEjEQMA4GA1UEAwwHZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABDU6Mqa7jDZuAY/7t/RGdT1tnIKD+RkhuVQDgr1Ju1WFacWP+zc2rAtX8JZW
9Ln2Pxnjwv86zn0rdZtWI2LEYoGjUzBRMB0GA1UdDgQWBBTId5J1BA9mjKK9L4Ri
G1CZaYLLbTAfBgNVHSMEGDAWgBTId5J1BA9mjKK9L4RiG1CZaYLLbTAPBgNVHRMB
Af8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQCvujQBFY+tqt1qvLFnYhGg65pV
7QMjaqOMNZiQlAOTgwIhAMN4txgQ5hf0ReuCx+AkZL4VFqm3FxIY/tGoYpBqE8J3
-----END CERTIFICATE-----
"""
ROUTER = "provider-router.envoy-gateway-system.svc.cluster.local"


@dataclass
class External:
    """An endpoint by hand with what its passes read and write."""

    spec: dict[str, Any] = field(default_factory=lambda: {"url": "https://api.example.com/openai/v1"})
    secrets: dict[str, dict[str, bytes]] = field(default_factory=dict)
    namespaces: tuple[str, ...] = ()
    gateway: dict[str, Any] | None = field(default_factory=lambda: {"services": {"router": ROUTER}})
    allowed: tuple[str, ...] = ()
    policy: str = "Public"
    kinds: bool = True
    name: str = "groq"
    store: Store = field(default_factory=dict)

    @property
    def body(self) -> dict[str, Any]:
        """Return the ModelEndpoint."""
        return {
            "apiVersion": API,
            "kind": "ModelEndpoint",
            "metadata": {"name": self.name, "namespace": "ml"},
            "spec": self.spec,
        }

    def _found(self, kind: str, name: str) -> tuple[Object, ...]:
        if kind == "Secret":
            return (obj(secret(name, self.secrets[name])),) if name in self.secrets else ()
        if kind == "CustomResourceDefinition":
            return ()
        if kind == "Namespace":
            return (obj({"kind": kind, "metadata": {"name": name}}),) if name in self.namespaces else ()
        gateway = {"kind": kind, "metadata": {"name": name}, "status": self.gateway}
        spec = {"endpointHosts": list(self.allowed), "endpointHostPolicy": self.policy}
        return () if self.gateway is None else (obj({**gateway, "spec": spec}),)

    def reconcile(self) -> Result:
        """Return what a pass decides, once all that it requires is fetched."""
        observed = {name: obj(body) for name, body in self.store.items()}
        schemas = {each.name: {"type": "object"} if self.kinds else None for each in GATEWAY_KINDS}
        needs = run(compose, Request(obj(self.body), observed=observed, schemas=schemas)).result.requirements
        required = {each.name: self._found(each.kind, each.match_name or "") for each in needs}
        outcome = run(compose, Request(obj(self.body), observed=observed, required=required, schemas=schemas))
        assert (outcome.defect, outcome.result.fatal) == (None, None)
        return outcome.result

    def desired(self) -> Store:
        """Return what a pass wants, by composition resource name."""
        return {name: dict(each.build()) for name, each in self.reconcile().desired.items()}

    def settle(self) -> None:
        """Run whole passes until one changes nothing."""
        for _ in range(6):
            wanted = self.desired()
            if wanted == {name: bare(body) for name, body in self.store.items()}:
                return
            self.store = wanted
        raise AssertionError("the endpoint does not come to rest")

    def accept(self) -> None:
        """Let the router accept the route."""
        condition = {"type": "Accepted", "status": "True"}
        parent = {"parentRef": {"name": "provider-router"}, "conditions": [condition]}
        self.store["route"]["status"] = {"parents": [parent]}
