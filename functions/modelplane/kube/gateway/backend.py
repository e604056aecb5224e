"""The Backend: endpoints of a service that share a weight on its route."""

from collections.abc import Sequence
from typing import Any

from modelplane.kube.gateway.kinds import ENVOY_GROUP, envoy_object
from modelplane.model.names import SERVER_NAME
from modelplane.model.routing import Address, BackendReference

KIND = "Backend"


def backend(
    name: str, namespace: str, endpoints: Sequence[Address], *, fallback: bool, authority: str | None = None
) -> dict[str, Any]:
    """Return the Backend of these endpoints, `fallback`: used while no endpoint of the others is healthy.

    `authority` is the ConfigMap with the CA of the endpoints that are reached by mutual TLS, None for plain ones. The
    client's certificate is the Gateway's: from a Backend it would have to be where the team's members read it.
    An endpoint is always a DNS name: of two IP addresses that are equal Envoy Gateway drops one without a word.
    """
    listed = [{"hostname": each.hostname, "fqdn": {"hostname": each.fqdn, "port": each.port}} for each in endpoints]
    spec: dict[str, Any] = {"type": "Endpoints", "endpoints": listed} | ({"fallback": True} if fallback else {})
    if authority:
        spec["tls"] = mutual_tls(authority)
    return envoy_object(KIND, name, namespace, spec)


def mutual_tls(authority: str) -> dict[str, Any]:
    """Return the `tls` of a Backend whose endpoints have a pair of the CA in a ConfigMap."""
    return {"sni": SERVER_NAME, "caCertificateRefs": [{"group": "", "kind": "ConfigMap", "name": authority}]}


def backend_reference(reference: BackendReference) -> dict[str, Any]:
    """Return the backendRef of a route. It has no filters: they would make a cluster of Envoy of each Backend."""
    return {"group": ENVOY_GROUP, "kind": KIND, "name": reference.name, "weight": reference.weight}
