"""Reads the InferenceGateway, and the status that the gateway's controller writes on composed objects."""

import json
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any, Final

from modelplane.model.names import EJECTIONS_KEY, ENVOY_NAMESPACE, LISTENER_HTTP, LISTENER_HTTPS, PUBLIC_GATEWAY
from modelplane.model.routing import AllowedHost, BackendReference, PublicGateway
from modelplane.observed.endpoint import URL, is_dns_name, is_ip
from modelplane.observed.fields import count, excerpt, mapping, mappings, number, text, texts
from modelplane.observed.memo import once_per_version
from modelplane.step import Object

_UNACCEPTED: Final = (
    "Envoy Gateway has not accepted the last change yet. If this stays, look at the pods of its Deployment "
    f"envoy-gateway in namespace {ENVOY_NAMESPACE}."
)

#: Most conditions and listeners of a Gateway on a cluster that are named, and characters of a listener's name.
_MOST_NAMED: Final = 8
_NAME_LIMIT: Final = 253


@once_per_version
def read_gateway(obj: Object) -> PublicGateway:
    """Return the public gateway as an InferenceGateway publishes it."""
    spec, status = mapping(obj.body.get("spec")), mapping(obj.body.get("status"))
    return PublicGateway(
        url=text(status.get("url")),
        requires_keys=spec.get("requireKeys") is True,
        listeners=tuple(texts(status.get("listeners"))),
        ca_bundle=text(status.get("caBundle")),
        router=text(mapping(status.get("services")).get("router")),
        endpoint_hosts=tuple(map(_allowed, texts(spec.get("endpointHosts")))),
        listed_only=spec.get("endpointHostPolicy") == "Listed",
        own_hosts=frozenset(_own_hosts(spec, status)),
    )


def read_ejections(published: Object, namespace: str, route: str) -> int | None:
    """Return how many endpoints of an HTTPRoute the public gateway has ejected, None if the ConfigMap says nothing."""
    try:
        found = json.loads(text(mapping(published.body.get("data")).get(EJECTIONS_KEY)))
    except ValueError:
        return None
    return count(found.get(f"{namespace}/{route}")) if isinstance(found, dict) else None


def _allowed(entry: str) -> AllowedHost:
    """Return the host that an entry `[<namespace>/]<host>[:<port>]` allows."""
    namespace, _, where = entry.rpartition("/")
    host, _, port = where.partition(":")
    return AllowedHost(host.lower(), namespace, int(port) if port.isascii() and port.isdecimal() else 0)


def _own_hosts(spec: Mapping[str, Any], status: Mapping[str, Any]) -> Iterator[str]:
    """Yield the address and the names of the public gateway and the router, without those that are not known."""
    services = mapping(status.get("services"))
    urls = (URL.fullmatch(text(status.get(field))) for field in ("url", "fleetUrl"))
    named = (mapping(spec.get("tls")).get("hostname"), status.get("address"), *services.values())
    yield from filter(None, (text(each).lower() for each in (*named, *(parts[2] for parts in urls if parts))))


def choose_address(gateway: Mapping[str, Any], published: str) -> str:
    """Return an address (IP address or DNS name) in the status of a Gateway, "" without any.

    The published one is preferred, so that their order does not matter.
    """
    addresses = _addresses(gateway)
    return published if published in addresses else next(iter(addresses), "")


def choose_outer_address(gateway: Mapping[str, Any], published: str) -> str:
    """Return the same of a Gateway on another cluster, "" if it has only addresses within the one that dials it."""
    addresses = _addresses(gateway)
    return published if published in addresses else next((each for each in addresses if not _is_inner(each)), "")


def inner_address(gateway: Mapping[str, Any]) -> str:
    """Return an address of a Gateway on another cluster that leads into the one that dials it, "" without any."""
    return next(filter(_is_inner, _addresses(gateway)), "")


def _addresses(gateway: Mapping[str, Any]) -> list[str]:
    found = mappings(mapping(gateway.get("status")).get("addresses"))
    return [value for value in (text(entry.get("value")) for entry in found) if _is_address(value)]


#: Names that lead to the control cluster itself or its cloud's metadata, wherever they are resolved.
_INNER: Final = (".svc", ".pod", ".cluster.local", ".localhost", ".modelplane.internal", ".metadata.google.internal")
#: Where clouds answer their own nodes, beside link-local addresses.
_OF_CLOUDS: Final = frozenset({"168.63.129.16", "100.100.100.200", "fd00:ec2::254", "fd20:ce::254"})


def _is_inner(address: str) -> bool:
    """Tell whether an address leads into the cluster that dials it. A private network may hold another cluster."""
    if not is_ip(address):
        return "." not in address or f".{address.lower()}".endswith(_INNER)
    found = ip_address(address)
    mapped = getattr(found, "ipv4_mapped", None) or found
    local = mapped.is_loopback or mapped.is_link_local or mapped.is_unspecified or mapped.is_multicast
    return local or str(mapped) in _OF_CLOUDS


def _is_address(value: str) -> bool:
    """Tell whether a text is a DNS name, or an IP address without brackets: a cluster may write anything."""
    if not value.isascii():
        return False
    return is_dns_name(value.lower()) or (is_ip(value) and not set(value) & set("[]"))


def serves(gateway: Mapping[str, Any], listener: str) -> bool:
    """Tell whether a listener of an observed Gateway is programmed."""
    listeners = mappings(mapping(gateway.get("status")).get("listeners"))
    found = (each for of in listeners if of.get("name") == listener for each in mappings(of.get("conditions")))
    return any(each.get("type") == "Programmed" and each.get("status") == "True" for each in found)


def attached_routes(gateway: Mapping[str, Any], listener: str) -> int:
    """Return how many routes are attached to a listener of an observed Gateway."""
    listeners = mappings(mapping(gateway.get("status")).get("listeners"))
    return sum(number(each.get("attachedRoutes"), 0) for each in listeners if each.get("name") == listener)


def read_certificate(gateway: Mapping[str, Any], listener: str) -> str:
    """Return the Secret with the certificate of a listener of an observed Gateway, "" without one."""
    listeners = mappings(mapping(gateway.get("spec")).get("listeners"))
    found = (
        mappings(mapping(each.get("tls")).get("certificateRefs")) for each in listeners if each.get("name") == listener
    )
    return next((text(each.get("name")) for references in found for each in references), "")


def gateway_obstacles(gateway: Mapping[str, Any]) -> list[str]:
    """Return why a Gateway does not serve, by its conditions and those of its first listeners."""
    status = mapping(gateway.get("status"))
    found = [("", each) for each in mappings(status.get("conditions"))]
    for listener in mappings(status.get("listeners")):
        where = f"listener {text(listener.get('name'))[:_NAME_LIMIT]}: "
        found += [(where, each) for each in mappings(listener.get("conditions"))]
    failing = {"Accepted", "Programmed", "ResolvedRefs"}
    said = [
        f"{where}{excerpt(each.get('message')) or excerpt(each.get('reason')) or 'no reason given'}"
        for where, each in found
        if each.get("type") in failing and each.get("status") == "False"
    ]
    return said[:_MOST_NAMED]


def lacks_address(gateway: Mapping[str, Any]) -> bool:
    """Tell whether all that a Gateway on a cluster waits for is an address: its Service has none."""
    conditions = mappings(mapping(gateway.get("status")).get("conditions"))
    late = [each for each in conditions if each.get("type") == "Programmed" and each.get("status") == "False"]
    return any(each.get("reason") == "AddressNotAssigned" for each in late)


def read_hostnames(backend: Object) -> frozenset[str]:
    """Return the hostnames of the endpoints that a Backend lists."""
    listed = mappings(mapping(backend.body.get("spec")).get("endpoints"))
    return frozenset(text(each.get("hostname")) for each in listed)


def read_references(route: Object) -> tuple[BackendReference, ...]:
    """Return the Backends that an HTTPRoute refers to."""
    rules = mappings(mapping(route.body.get("spec")).get("rules"))
    found = (each for rule in rules for each in mappings(rule.get("backendRefs")) if each.get("kind") == "Backend")
    return tuple(BackendReference(text(each.get("name")), number(each.get("weight"), 1)) for each in found)


def listener_of(url: str) -> str:
    """Return the listener of the public gateway that serves a URL, by its scheme."""
    return LISTENER_HTTPS if url.startswith("https://") else LISTENER_HTTP


def read_listeners(route: Object, gateway: str = PUBLIC_GATEWAY) -> tuple[str, ...]:
    """Return the listeners of a Gateway that an HTTPRoute is attached to, "" for all that it has."""
    parents = mappings(mapping(route.body.get("spec")).get("parentRefs"))
    return tuple(text(each.get("sectionName")) for each in parents if each.get("name") == gateway)


def verdicts(obj: Object, gateway: str = PUBLIC_GATEWAY) -> list[Mapping[str, Any]]:
    """Return the conditions that a controller has set: on the object, or for its part in a Gateway."""
    status = mapping(obj.body.get("status"))
    ancestors = (("parents", "parentRef"), ("ancestors", "ancestorRef"))
    parts = [
        mappings(part.get("conditions"))
        for field, reference in ancestors
        for part in mappings(status.get(field))
        if mapping(part.get(reference)).get("name") == gateway
    ]
    return [each for part in (mappings(status.get("conditions")), *parts) for each in part]


def rejection(obj: Object, gateway: str = PUBLIC_GATEWAY) -> str:
    """Return why a controller does not accept an object or its references, "" if it does or reports nothing."""
    return "; ".join(_refused(verdicts(obj, gateway)))


def is_accepted(obj: Object, gateway: str = PUBLIC_GATEWAY) -> bool:
    """Tell whether a controller has accepted an object on every listener, and resolved its references."""
    found = [(each.get("type"), each.get("status")) for each in verdicts(obj, gateway)]
    accepted = {status for kind, status in found if kind == "Accepted"}
    return accepted == {"True"} and ("ResolvedRefs", "False") not in found


def is_current(obj: Object) -> bool:
    """Tell whether a controller has accepted the present generation of an object."""
    generation = number(obj.metadata.get("generation"), 0)
    seen = (number(each.get("observedGeneration"), 0) for each in verdicts(obj) if each.get("type") == "Accepted")
    return is_accepted(obj) and all(each >= generation for each in seen)


def unaccepted_change(obj: Object, gateway: str = PUBLIC_GATEWAY) -> str:
    """Return that a controller has reported on older generations of an object only, "" if on the present one."""
    generation = number(obj.metadata.get("generation"), 0)
    accepted = [each for each in verdicts(obj, gateway) if each.get("type") == "Accepted"]
    seen = [number(each.get("observedGeneration"), generation) for each in accepted]
    return _UNACCEPTED if seen and max(seen) < generation else ""


def checks_keys(policy: Object) -> bool:
    """Tell whether a SecurityPolicy requires a key of callers."""
    return bool(mapping(mapping(policy.body.get("spec")).get("apiKeyAuth")))


def _refused(conditions: list[Mapping[str, Any]]) -> Iterator[str]:
    for each in conditions:
        if each.get("type") in {"Accepted", "ResolvedRefs"} and each.get("status") == "False":
            yield excerpt(each.get("message")) or excerpt(each.get("reason")) or "no reason given"
