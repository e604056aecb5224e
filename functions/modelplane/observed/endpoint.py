"""Reads a ModelEndpoint as services route to it."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.model.conditions import Reason
from modelplane.model.names import API_VERSION, endpoint_hostname, is_replica_hostname
from modelplane.model.routing import Address, Copies, Endpoint
from modelplane.observed.fields import is_controlled_by, labels, mapping, number, text
from modelplane.observed.memo import once_per_version
from modelplane.step import Object

URL: Final = re.compile(r"(https?)://(\[[^\]]*\]|[^/:\[\]]+)(?::([0-9]{1,5}))?(/.*)?")
PORTS: Final = {"http": 80, "https": 443}
#: Longest text of an IP address, in brackets.
_IP_LIMIT: Final = 47
_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
#: Longest DNS name.
_NAME_LIMIT: Final = 253


@dataclass(frozen=True, slots=True)
class NoAddress:
    """Why services cannot route to an endpoint, as reason and message of its condition."""

    reason: Reason
    message: str


def is_ip(host: str) -> bool:
    """Tell whether a host is an IP address. An address with a zone, which may be any text, is not accepted."""
    if len(host) > _IP_LIMIT or "%" in host:
        return False
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def is_dns_name(host: str) -> bool:
    """Tell whether a host is a DNS name, of one label or more."""
    return len(host) <= _NAME_LIMIT and all(map(_LABEL.fullmatch, host.split(".")))


def is_composed(obj: Object) -> bool:
    """Tell whether a ModelDeployment composed an endpoint: by its owner, because a label can be written by hand."""
    return is_controlled_by(obj, API_VERSION, "ModelDeployment")


def address_of(obj: Object) -> Address | NoAddress:
    """Return how services reach an endpoint that a ModelDeployment composed, from its spec.

    Its host must be its own replica's: with another host it would receive the requests of another namespace.
    """
    spec = mapping(obj.body.get("spec"))
    url, host = text(spec.get("url")), text(spec.get("host"))
    if not is_replica_hostname(host, obj.name, obj.namespace) or not is_dns_name(host):
        return NoAddress(Reason.INVALID_HOST, f"spec.host: {host or 'none'} is not the host of replica {obj.name}")
    parts = URL.fullmatch(url)
    name = parts[2].lower() if parts else ""
    if parts and is_ip(name):
        why = f"the cluster's gateway has the IP address {name}, and its DNS name is not published yet"
        return NoAddress(Reason.WAITING_FOR_GATEWAY, why)
    if not parts or not is_dns_name(name):
        return NoAddress(Reason.INVALID_URL, f"spec.url: {url or 'none'} is not http or https and a DNS name")
    return Address(host, name, int(parts[3] or PORTS[parts[1]]), mutual_tls=spec.get("mutualTLS") is True)


def may_serve(obj: Object) -> bool:
    """Tell whether an endpoint may take traffic by its spec."""
    return mapping(obj.body.get("spec")).get("ready") is not False


@once_per_version
def read_endpoint(obj: Object) -> Endpoint:
    """Return the endpoint with its published address, if that is its own."""
    spec, routing = mapping(obj.body.get("spec")), mapping(mapping(obj.body.get("status")).get("routing"))
    address, composed = _published(obj, routing), is_composed(obj)
    return Endpoint(
        name=obj.name,
        labels=labels(obj),
        address=address,
        ready=address is not None and may_serve(obj) and routing.get("ready") is True,
        leaving=spec.get("leaving") is True,
        is_off=not composed and not may_serve(obj),
        model=text(spec.get("model")) if composed else "",
        copies=_copies(spec) if composed else Copies.ALL,
    )


@once_per_version
def read_placed_endpoint(obj: Object) -> tuple[str, Endpoint]:
    """Return an endpoint's namespace, and the endpoint; nothing is parsed of a version that was read before."""
    return obj.namespace, read_endpoint(obj)


def _copies(spec: Mapping[str, Any]) -> Copies:
    copies = text(spec.get("copies"))
    return Copies(copies) if copies in tuple(Copies) else Copies.ALL


def _published(obj: Object, routing: Mapping[str, Any]) -> Address | None:
    hostname, fqdn, port = text(routing.get("hostname")), text(routing.get("fqdn")), number(routing.get("port"), 0)
    if is_composed(obj):
        own = is_replica_hostname(hostname, obj.name, obj.namespace)
    else:
        own = hostname == endpoint_hostname(obj.name, obj.namespace) and routing.get("mutualTLS") is True
    mutual_tls = routing.get("mutualTLS") is True
    return Address(hostname, fqdn, port, mutual_tls=mutual_tls) if own and fqdn and port else None
