"""The DNS name of a cluster whose gateway has an IP address: services dial names only."""

from collections.abc import Container, Mapping
from typing import Any, Final

from modelplane.composing.hold import held
from modelplane.kube.gateway.dns_name import address_family, endpoint_slice, headless_service
from modelplane.model.names import SYSTEM_NAMESPACE, workload_name
from modelplane.observed.endpoint import is_ip
from modelplane.observed.fields import text
from modelplane.step import Manifest, Request

#: Composition resource names; that of the EndpointSlice ends in the family of the address.
_SERVICE: Final = "gateway-service"
_SLICE: Final = "gateway-endpoints-"


def _service_name(cluster: str) -> str:
    return workload_name(cluster, "gateway", cluster)


def _hostname(cluster: str) -> str:
    return f"{_service_name(cluster)}.{SYSTEM_NAMESPACE}.svc.cluster.local"


def with_hostname(
    gateway: Mapping[str, Any], last: Mapping[str, Any], cluster: str, observed: Container[str]
) -> Mapping[str, Any]:
    """Return `status.gateway` with the DNS name of an IP address, from the time when the name resolves.

    `gateway` is the status without the name, `last` the status that was published before.
    """
    address, name = text(gateway.get("address")), _hostname(cluster)
    if not is_ip(address):
        return gateway
    resolves = {_SERVICE, f"{_SLICE}{address_family(address)}"}
    there = all(resource in observed for resource in resolves) or last.get("hostname") == name
    return {**gateway, "hostname": name} if there else gateway


def bodies(request: Request, gateway: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Manifest]:
    """Return the Service and EndpointSlice behind the DNS name, by resource name; none if the gateway has a name.

    They stay unchanged while the gateway has no address, and until another hostname has been published.
    """
    cluster, address = request.composite.name, text(gateway.get("address"))
    if is_ip(address):
        name = _service_name(cluster)
        return {_SERVICE: headless_service(name), f"{_SLICE}{address_family(address)}": endpoint_slice(name, address)}
    if address and last.get("hostname") == gateway.get("hostname"):
        return {}
    ours = (name for name in request.observed if name == _SERVICE or name.startswith(_SLICE))
    return {name: held(request.observed[name].body) for name in ours}
