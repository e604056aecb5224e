"""The values by which requests to a ModelService are routed."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Address:
    """How an endpoint is reached: its `hostname` in requests, and the DNS name and port to dial.

    `mutual_tls`: requests go there by TLS, and the gateway there requires the public gateway's client certificate.
    """

    hostname: str
    fqdn: str
    port: int
    mutual_tls: bool = False


@dataclass(frozen=True, slots=True)
class Provider:
    """An external provider of an OpenAI-compatible API.

    `host` is the DNS name to dial, or an IP address where it `is_ip`. `authority` is the Host header, `server_name` the
    name that its certificate must have with `tls`, `root` the path that replaces /v1.
    """

    host: str
    is_ip: bool
    port: int
    tls: bool
    authority: str
    server_name: str
    root: str


class Copies(StrEnum):
    """How many of its replica's copies serve behind an endpoint. The endpoint's XRD describes each."""

    ALL = "All"
    MOST = "Most"
    FEW = "Few"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A ModelEndpoint. `address` is None while it cannot be reached.

    `ready`: it may take traffic. `leaving`: it takes traffic only if its service has no other ready endpoint. `is_off`:
    a user has switched it off, and it takes none in any case. `model` is the name under which the engines of a composed
    endpoint serve, "" where it is not known. `copies`: how many of its replica's copies serve.
    """

    name: str
    labels: Mapping[str, str]
    address: Address | None
    ready: bool
    leaving: bool = False
    is_off: bool = False
    model: str = ""
    copies: Copies = Copies.ALL


class EndpointState(StrEnum):
    """The state of an endpoint for a service that selects it. The service's XRD describes each."""

    SERVING = "Serving"
    LAST_RESORT = "LastResort"
    LEAVING = "Leaving"
    FEW_COPIES = "FewCopies"
    NOT_READY = "NotReady"
    NO_ADDRESS = "NoAddress"
    NO_ROOM = "NoRoom"


@dataclass(frozen=True, slots=True)
class ServiceEntry:
    """An entry of a ModelService's `spec.endpoints`.

    `key` identifies it across edits of the list. `weight` is the weight of the whole entry, `priority` its tier: 0, or
    1 for the fallback.
    """

    key: str
    selector: Mapping[str, str]
    weight: int = 1
    priority: int = 0


@dataclass(frozen=True, slots=True)
class BackendPlan:
    """One Backend of a service, and its weight on the route. `key` identifies it within the service."""

    key: str
    endpoints: tuple[Address, ...]
    weight: int
    fallback: bool = False

    @property
    def mutual_tls(self) -> bool:
        """Tell whether its endpoints are reached by mutual TLS: either all or none are."""
        return any(each.mutual_tls for each in self.endpoints)


@dataclass(frozen=True, slots=True)
class BackendReference:
    """A route's reference to a Backend: its name and weight."""

    name: str
    weight: int


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """A host, in lower case, that hand-written endpoints may name: of a namespace or all (""), at a port or all (0)."""

    host: str
    namespace: str = ""
    port: int = 0

    def allows(self, host: str, namespace: str, port: int | None) -> bool:
        """Tell whether an endpoint of a namespace may name a host, at a port or (None) at any that is allowed."""
        known = self.host == host and self.namespace in {"", namespace}
        return known and (port is None or self.port in {0, port})


@dataclass(frozen=True, slots=True)
class PublicGateway:
    """The gateway of the control cluster: its base URL, "" while it has none, and whether callers need a key.

    `router` is the DNS name of the router, "" until it serves; `endpoint_hosts` are the hosts that hand-written
    endpoints may name in any case, and with `listed_only` the only ones, `own_hosts` the gateway's own address and
    names. `ca_bundle` are the CA certificates (PEM) by which it and the clusters' gateways verify each other, "" while
    there is none. `listeners` are those that services attach to, () if not published yet.
    """

    url: str
    requires_keys: bool
    listeners: tuple[str, ...] = ()
    ca_bundle: str = ""
    router: str = ""
    endpoint_hosts: tuple[AllowedHost, ...] = ()
    listed_only: bool = False
    own_hosts: frozenset[str] = frozenset()
