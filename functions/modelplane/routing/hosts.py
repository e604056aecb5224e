"""Which hosts a hand-written endpoint may name."""

import re
from collections.abc import Container
from typing import Final

from modelplane.model.names import ENVOY_NAMESPACE, PUBLIC_GATEWAY, ROUTER

#: Names inside the control cluster, its cloud (metadata.google.internal), or Modelplane itself. A pod's resolver
#: completes the first two.
_INSIDE: Final = (".svc", ".pod", ".cluster.local", ".localhost", ".internal")
#: A last label that resolvers read as part of an IPv4 address, in any of its spellings: 127.1, 0177.0.0.1, 0x7f.1.
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")


#: What the DNS names of the public gateway's Service and of the router's begin with, whatever the cluster's domain is.
_GATEWAYS: Final = tuple(f"{name}.{ENVOY_NAMESPACE}." for name in (PUBLIC_GATEWAY, ROUTER))


def is_own(host: str, own: Container[str]) -> bool:
    """Tell whether a host is one of the gateway's `own` or a name of its Services: a request would come back."""
    return host.strip("[]") in own or f"{host}.".startswith(_GATEWAYS)


#: Ports of a public host that need no leave.
_PORTS: Final = (80, 443)


def refuse_port(port: int) -> str:
    """Return why an endpoint may not name a port of a host that is not allowed by name, "" if it may."""
    return "" if port in _PORTS else f"is called at port {port}, which is neither 80 nor 443"


def refuse_host(host: str, *, is_namespace: bool) -> str:
    """Return why an endpoint may not name a host that is not allowed by name, "" if it may.

    Requests come from within the control cluster. `is_namespace`: it has a namespace with the name of the last label,
    so that a pod's resolver completes the host to that of a Service or pod there. To which address a name leads is not
    known here: that is for the network.
    """
    if _is_ip(host):
        return "is an IP address"
    if f".{host}".endswith(_INSIDE):
        return "is a name inside the control cluster or its network"
    if "." not in host:
        return "has no dot, as the name of a Service in the router's namespace"
    return "ends in the name of a namespace of the control cluster" if is_namespace else ""


def _is_ip(host: str) -> bool:
    """Tell whether a host is an IP address: the last label of a name is never a number, and no name has brackets."""
    return host.startswith("[") or bool(_NUMBER.fullmatch(host.rpartition(".")[2]))
