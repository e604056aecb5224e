"""The gateway of the control cluster: what its controller writes to the status of its objects when all is well."""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from modelplane.model.names import PUBLIC_GATEWAY, SYSTEM_NAMESPACE
from modelplane.preview.simulation.clusters import GATEWAY_DOMAIN, status_on_cluster
from modelplane.preview.simulation.providers import StatusPatch, patch_of, simulated
from modelplane.preview.store import View
from modelplane.reading.tree import Manifest, Tree, items, mapping

#: The public gateway answers at this name under the domain of simulated gateways.
_CONTROL_CLUSTER = "control"
_PUBLIC = {"kind": "Gateway", "name": PUBLIC_GATEWAY, "namespace": SYSTEM_NAMESPACE}


def gateway_answers(view: View) -> Iterator[StatusPatch]:
    """Yield the status of every object of the gateway whose status differs from it."""
    for kind, answer in _ANSWERS.items():
        for obj in simulated(view, kind):
            status = answer(obj)
            if mapping(obj, "status") != status:
                yield patch_of(obj, status)


def _accepted(kinds: tuple[str, ...] = ("Accepted",)) -> list[Tree]:
    return [{"type": kind, "status": "True", "reason": kind} for kind in kinds]


def _gateway(obj: Manifest) -> Tree:
    listeners = [
        {"name": listener.get("name"), "conditions": _accepted(("Accepted", "Programmed", "ResolvedRefs"))}
        for listener in items(obj, "spec", "listeners")
    ]
    address = {"type": "Hostname", "value": f"{_CONTROL_CLUSTER}.{GATEWAY_DOMAIN}"}
    return {"addresses": [address], "conditions": _accepted(("Accepted", "Programmed")), "listeners": listeners}


def _route(obj: Manifest) -> Tree:
    return status_on_cluster(obj, _CONTROL_CLUSTER) or {}


def _policy(obj: Manifest) -> Tree:
    """Return the status of a policy: accepted, with the Gateway of each of its targets as ancestor."""
    targets = [dict(each) if each.get("kind") == "Gateway" else _PUBLIC for each in items(obj, "spec", "targetRefs")]
    seen = {"observedGeneration": mapping(obj, "metadata").get("generation")}
    conditions = [each | seen for each in _accepted()]
    return {"ancestors": [{"ancestorRef": each, "conditions": conditions} for each in targets]}


def _issued(_: Manifest) -> Tree:
    """Return the status of a certificate. Its Secret is not simulated, so hops to clusters do not change."""
    return {"conditions": _accepted(("Ready",))}


def _other(_: Manifest) -> Tree:
    return {"conditions": _accepted()}


_ANSWERS: Mapping[str, Callable[[Manifest], Tree]] = MappingProxyType(
    {
        "Backend.gateway.envoyproxy.io": _other,
        "Certificate.cert-manager.io": _issued,
        "BackendTrafficPolicy.gateway.envoyproxy.io": _policy,
        "ClientTrafficPolicy.gateway.envoyproxy.io": _policy,
        "EnvoyExtensionPolicy.gateway.envoyproxy.io": _policy,
        "Gateway.gateway.networking.k8s.io": _gateway,
        "GatewayClass.gateway.networking.k8s.io": _other,
        "HTTPRoute.gateway.networking.k8s.io": _route,
        "SecurityPolicy.gateway.envoyproxy.io": _policy,
    }
)
