"""The Gateway itself: its class, its listeners, and the Envoy pods and Service behind it."""

from typing import Any, Final

from modelplane.kube.gateway.access_log import access_log
from modelplane.kube.gateway.kinds import ENVOY_GROUP, GATEWAY_API, envoy_object, gateway_object
from modelplane.model.names import LISTENER_HTTP, LISTENER_HTTPS

#: The name under which Envoy Gateway's controller takes GatewayClasses by default.
CONTROLLER: Final = "gateway.envoyproxy.io/gatewayclass-controller"
GATEWAY_KIND: Final = "Gateway"
CLASS_KIND: Final = "GatewayClass"
_ENVOY_PROXY: Final = "EnvoyProxy"


def gateway_class(name: str) -> dict[str, Any]:
    """Return the GatewayClass of the gateways that Envoy Gateway runs for Modelplane."""
    spec = {"controllerName": CONTROLLER}
    return {"apiVersion": GATEWAY_API, "kind": CLASS_KIND, "metadata": {"name": name}, "spec": spec}


def envoy_proxy(name: str, namespace: str, *, replicas: int, tokens: bool) -> dict[str, Any]:
    """Return the EnvoyProxy of a Gateway that a load balancer makes reachable, and that logs requests, with `tokens`.

    The Service is named, so that its DNS name is known. The traffic policy Local, Envoy Gateway's default, never gets
    an address on some clouds. Any change of a listener's filters closes its older streams after the drain time, by
    default 60 s: streams of engines last longer.
    """
    service = {"name": name, "type": "LoadBalancer", "externalTrafficPolicy": "Cluster"}
    kubernetes = {"envoyDeployment": {"replicas": replicas}, "envoyService": service}
    spec = {
        "provider": {"type": "Kubernetes", "kubernetes": kubernetes},
        "shutdown": {"drainTimeout": "3600s"},
        "telemetry": {"accessLog": access_log(tokens=tokens)},
    }
    return envoy_object(_ENVOY_PROXY, name, namespace, spec)


def _listener(name: str, protocol: str, port: int) -> dict[str, Any]:
    allowed = {"namespaces": {"from": "All"}}
    return {"name": name, "protocol": protocol, "port": port, "allowedRoutes": allowed}


def public_gateway(
    name: str, namespace: str, *, class_name: str, proxy: str, certificate: str | None
) -> dict[str, Any]:
    """Return the Gateway that services attach to, each to one listener; HTTPS with the Secret of a `certificate`."""
    listeners = [_listener(LISTENER_HTTP, "HTTP", 80)]
    if certificate:
        tls = {"mode": "Terminate", "certificateRefs": [{"kind": "Secret", "name": certificate}]}
        listeners.append(_listener(LISTENER_HTTPS, "HTTPS", 443) | {"tls": tls})
    parameters = {"group": ENVOY_GROUP, "kind": _ENVOY_PROXY, "name": proxy}
    spec = {
        "gatewayClassName": class_name,
        "infrastructure": {"parametersRef": parameters},
        "listeners": listeners,
    }
    return gateway_object(GATEWAY_KIND, name, namespace, spec)
