"""The router: the Gateway that requests to external providers pass. Only the public gateway may call it.

Its pods connect to whatever teams name, themselves included, so they listen on nothing else. Its Service is of type
ClusterIP. A listener of the public Gateway was rejected: all listeners share one public Service.
"""

from typing import Final

from modelplane.compose_cluster.public import authority
from modelplane.composing.references import arrange
from modelplane.kube.certificate import authority_config_map, pair
from modelplane.kube.gateway.private import PrivateGateway
from modelplane.kube.gateway.provider import refused_filter
from modelplane.model.names import ENVOY_NAMESPACE, LISTENER_HTTPS, ROUTER, ROUTER_PAIR, SERVER_NAME, SYSTEM_NAMESPACE
from modelplane.observed.fields import mapping, text
from modelplane.observed.gateway import gateway_obstacles, serves
from modelplane.step import Manifest, Request

#: Composition resource names begin with this.
_PART: Final = "router-"
_GATEWAY: Final = "router"
AUTHORITY: Final = f"{_PART}authority"
_CERTIFICATE: Final = f"{_PART}certificate"


def bodies(request: Request, class_name: str, replicas: int) -> dict[str, Manifest]:
    """Return the router and its related objects; none until there is a CA to verify the public gateway with."""
    bundle = authority.read_bundle(request)
    if not bundle:
        return {}
    private = PrivateGateway(
        ROUTER, class_name, ROUTER_PAIR, ROUTER, service_type="ClusterIP", replicas=replicas, alone=True
    )
    around: dict[str, Manifest] = {
        _CERTIFICATE: pair(ROUTER_PAIR, SERVER_NAME, "server auth"),
        AUTHORITY: authority_config_map(ROUTER, SYSTEM_NAMESPACE, bundle),
        f"{_PART}refused": refused_filter(ROUTER, SYSTEM_NAMESPACE, ROUTER),
        **{f"{_PART}{what}": manifest for what, manifest in private.surroundings().items()},
    }
    gateway = {_GATEWAY: private.gateway(), f"{_PART}unknown-hosts": private.unknown_hosts()}
    needs = {} if _GATEWAY in request.observed else dict.fromkeys(gateway, around)
    issued = authority.is_issued(request, ROUTER_PAIR)
    there = {name: () for name in request.observed if issued or name != _CERTIFICATE}
    return arrange({**around, **gateway}, needs, there, {})


def read_pair(request: Request) -> str | None:
    """Return the Secret of the router's pair once it is issued and there is a CA to verify callers with, else None."""
    return ROUTER_PAIR if authority.is_issued(request, ROUTER_PAIR) and AUTHORITY in request.observed else None


def obstacle(request: Request) -> str:
    """Return why the router does not serve, "" if it does or there is no CA yet."""
    gateway, named = request.observed.get(_GATEWAY), f"Gateway {SYSTEM_NAMESPACE}/{ROUTER}"
    if gateway is None:
        unissued = "" if authority.is_issued(request, ROUTER_PAIR) else f": Secret {ROUTER_PAIR} is not issued"
        return f"{named} is not composed yet{unissued}" if authority.read_bundle(request) else ""
    failures = gateway_obstacles(gateway.body)
    if failures:
        return f"{named}: {'; '.join(failures)}"
    return "" if serves(gateway.body, LISTENER_HTTPS) else f"{named} does not serve yet"


def read_name(request: Request) -> str:
    """Return the DNS name of the router: "" until it serves, from then on always."""
    gateway = request.observed.get(_GATEWAY)
    last = mapping(mapping(request.composite.body.get("status")).get("services"))
    if gateway and serves(gateway.body, LISTENER_HTTPS):
        return f"{ROUTER}.{ENVOY_NAMESPACE}.svc.cluster.local"
    return text(last.get("router"))
