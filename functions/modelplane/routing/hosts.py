"""Which hosts an endpoint that is written by hand may name."""

import ipaddress
from collections.abc import Container
from typing import Final

#: Names of what is inside the control cluster or of Modelplane itself.
_INSIDE: Final = (".modelplane.internal", ".svc", ".cluster.local", ".localhost", ".internal")
#: Labels of the shortest name that no resolver of a pod completes to a Service's, `<service>.<namespace>`.
_LABELS: Final = 3


def refuse_host(host: str, allowed: Container[str], *, is_namespace: bool) -> str:
    """Return why an endpoint may not name a host, "" if it may: requests come from within the control cluster.

    `allowed` are the hosts that the InferenceGateway allows. `is_namespace` says that the control cluster has a
    namespace that is called like the last label: the host may then be a pod's of a headless Service.
    """
    if host in allowed:
        return ""
    if _is_ip(host):
        return "is an IP address"
    if f".{host}".endswith(_INSIDE):
        return "is inside the control cluster"
    if host.count(".") + 1 < _LABELS:
        return "has fewer than three labels, as a Service of the control cluster may"
    return "ends in the name of a namespace of the control cluster" if is_namespace else ""


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
