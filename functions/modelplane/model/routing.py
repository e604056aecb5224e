"""What requests to a ModelService are routed by, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Address:
    """How an endpoint is reached: the `hostname` that it answers to, and the DNS name and port to dial.

    `mutual_tls`: requests go there by TLS, and the gateway there asks for the public gateway's certificate.
    """

    hostname: str
    fqdn: str
    port: int
    mutual_tls: bool = False


@dataclass(frozen=True, slots=True)
class Provider:
    """An external provider of an OpenAI-compatible API: what to dial, and what to send there.

    `host` is a DNS name, or an address where it `is_ip`. `authority` is the Host header, `server_name` what its
    certificate must carry where it has `tls`, `root` the path that stands for /v1.
    """

    host: str
    is_ip: bool
    port: int
    tls: bool
    authority: str
    server_name: str
    root: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A ModelEndpoint. `address` is None while it cannot be reached.

    `ready` says that it may take traffic, `leaving` that it takes some only where its service has no other, `is_off`
    that it takes none, not even there: a person says so. `model` is the name under which the engines of a composed one
    serve, "" where that is not known.
    """

    name: str
    labels: Mapping[str, str]
    address: Address | None
    ready: bool
    leaving: bool = False
    is_off: bool = False
    model: str = ""


class EndpointState(StrEnum):
    """What an endpoint does for a service that selects it. The service's XRD says what each means."""

    SERVING = "Serving"
    LAST_RESORT = "LastResort"
    LEAVING = "Leaving"
    NOT_READY = "NotReady"
    NO_ADDRESS = "NoAddress"
    NO_ROOM = "NoRoom"


@dataclass(frozen=True, slots=True)
class ServiceEntry:
    """An entry of a ModelService's `spec.endpoints`.

    `key` identifies it across edits of the list. `weight` is the share of the whole entry, `priority` its tier: 0, or 1
    for the fallback.
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
        """Tell whether its endpoints are reached by mutual TLS: all are, or none is."""
        return any(each.mutual_tls for each in self.endpoints)


@dataclass(frozen=True, slots=True)
class BackendReference:
    """What a route says of one Backend: its name and weight."""

    name: str
    weight: int


@dataclass(frozen=True, slots=True)
class PublicGateway:
    """The gateway of the control cluster: its base URL, "" while it has none, and whether callers need a key.

    `router` is the DNS name of the router, "" until it serves; `endpoint_hosts` are those that endpoints by hand may
    name in any case. `ca_bundle` are the certificates (PEM) by which it knows clusters' gateways, and they it, "" while
    it has none. `listeners` are those that services attach to, () where an earlier version has not published them.
    """

    url: str
    requires_keys: bool
    listeners: tuple[str, ...] = ()
    ca_bundle: str = ""
    router: str = ""
    endpoint_hosts: frozenset[str] = frozenset()
