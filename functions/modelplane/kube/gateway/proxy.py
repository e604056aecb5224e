"""The Gateway itself: its class, its listeners, and the Envoy pods and Service behind it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from modelplane.kube.charts import images_prefix
from modelplane.kube.gateway.access_log import access_log
from modelplane.kube.gateway.kinds import ENVOY_GROUP, GATEWAY_API, envoy_object, gateway_object
from modelplane.model.names import LISTENER_HTTP, LISTENER_HTTPS, LISTENER_INTERNAL

#: The name under which Envoy Gateway's controller takes GatewayClasses by default.
CONTROLLER: Final = "gateway.envoyproxy.io/gatewayclass-controller"
GATEWAY_KIND: Final = "Gateway"
#: Port of the listener that only the gateway itself may call.
INTERNAL_PORT: Final = 8444
CLASS_KIND: Final = "GatewayClass"
_ENVOY_PROXY: Final = "EnvoyProxy"
#: Memory of an Envoy pod. Envoy Gateway asks for 512Mi, as by default.
_MEMORY: Final = "4Gi"
#: What Envoy reads when it starts, and Envoy Gateway has no field for. Among five endpoints or more, Envoy ejects one
#: whose share of answers below 500 is far below that of the others. It is not to: one caller's requests, which affinity
#: sends to one endpoint, can all be answered with 500 there, and the other callers would lose it.
_RUNTIME: Final[Mapping[str, int]] = {"outlier_detection.enforcing_success_rate": 0}


#: Seconds that an Envoy pod may take to end.
_DRAIN: Final = 3600
#: Envoy's administration where no request can be sent: an abstract socket of its pod.
_ADMINISTRATION: Final[Mapping[str, Any]] = {
    "op": "replace",
    "path": "/admin/address",
    "value": {"pipe": {"path": "@administration"}},
}
#: What Envoy Gateway runs beside Envoy to drain it listens itself, and needs the port of the administration. Without it
#: a pod waits: its connections end one by one, as the policy of the callers has it.
_WITHOUT_PORTS: Final[Mapping[str, Any]] = {
    "type": "StrategicMerge",
    "value": {
        "spec": {
            "template": {
                "spec": {
                    "containers": [
                        {
                            "name": "envoy",
                            "lifecycle": {"preStop": {"$patch": "replace", "sleep": {"seconds": _DRAIN}}},
                        },
                        {"name": "shutdown-manager", "$patch": "delete"},
                    ]
                }
            }
        }
    },
}


def gateway_class(name: str) -> dict[str, Any]:
    """Return the GatewayClass of the gateways that Envoy Gateway runs for Modelplane."""
    spec = {"controllerName": CONTROLLER}
    return {"apiVersion": GATEWAY_API, "kind": CLASS_KIND, "metadata": {"name": name}, "spec": spec}


def _runtime_patches() -> Iterator[dict[str, Any]]:
    for name, value in _RUNTIME.items():
        yield {"op": "add", "path": f"/layered_runtime/layers/0/static_layer/{name}", "value": value}


def _overload_patches() -> Iterator[dict[str, Any]]:
    """Yield what ends the streams that hold most memory, from 256 KiB on, before Envoy takes no more requests.

    Envoy Gateway lets Envoy's heap have 80 percent of the memory limit, and sets what happens from 95 percent of that.
    """
    scaled = {"scaling_threshold": 0.85, "saturation_threshold": 0.95}
    action = {
        "name": "envoy.overload_actions.reset_high_memory_stream",
        "triggers": [{"name": "envoy.resource_monitors.fixed_heap", "scaled": scaled}],
    }
    yield {"op": "add", "path": "/overload_manager/actions/-", "value": action}
    tracked = {"minimum_account_to_track_power_of_two": 18}
    yield {"op": "add", "path": "/overload_manager/buffer_factory_config", "value": tracked}


def envoy_proxy(  # noqa: PLR0913 - what the pods of a Gateway are made of
    name: str,
    namespace: str,
    *,
    replicas: int,
    tokens: bool | None = None,
    service_type: str = "LoadBalancer",
    client_pair: str | None = None,
    alone: bool = False,
) -> dict[str, Any]:
    """Return the EnvoyProxy of a Gateway, which a load balancer makes reachable where the Service's type says so.

    It logs requests, with or without `tokens`; None leaves logs as Envoy Gateway has them. `client_pair` is the Secret
    with the certificate that it shows to endpoints with TLS, None where it shows none. `alone`: its pods listen on no
    port but those of its listeners and that of the readiness probe.

    The Service is named, so that its DNS name is known. The traffic policy Local, Envoy Gateway's default, never gets
    an address on some clouds. Any change of a listener's filters closes its older streams after the drain time, by
    default 60 s: streams of engines last longer.
    """
    service = {"name": name, "type": service_type}
    if service_type == "LoadBalancer":
        service["externalTrafficPolicy"] = "Cluster"
    limited = {"limits": {"memory": _MEMORY}, "requests": {"cpu": "100m", "memory": "512Mi"}}
    deployment: dict[str, Any] = {"replicas": replicas, "container": {"resources": limited}}
    if alone:
        deployment["patch"] = _WITHOUT_PORTS
    kubernetes = {"envoyDeployment": deployment, "envoyService": service}
    patches = [*_runtime_patches(), *_overload_patches(), *([_ADMINISTRATION] if alone else [])]
    spec: dict[str, Any] = {
        "provider": {"type": "Kubernetes", "kubernetes": kubernetes},
        "shutdown": {"drainTimeout": f"{_DRAIN}s"},
        "bootstrap": {"type": "JSONPatch", "jsonPatches": patches},
    }
    if alone:
        spec["telemetry"] = {"metrics": {"prometheus": {"disable": True}}}
    if tokens is not None:
        spec["telemetry"] = {"accessLog": access_log(tokens=tokens)}
    if images_prefix():
        # Otherwise Envoy Gateway's own settings, which have the place of Envoy's image, count for nothing here.
        spec["mergeType"] = "StrategicMerge"
    if client_pair:
        spec["backendTLS"] = {"clientCertificateRef": {"kind": "Secret", "name": client_pair}}
    return envoy_object(_ENVOY_PROXY, name, namespace, spec)


#: Routes of every namespace may attach.
FROM_ALL: Final[Mapping[str, Any]] = {"from": "All"}


def _listener(name: str, protocol: str, port: int, namespaces: Mapping[str, Any] = FROM_ALL) -> dict[str, Any]:
    allowed = {"namespaces": dict(namespaces)}
    return {"name": name, "protocol": protocol, "port": port, "allowedRoutes": allowed}


def _https(
    certificate: str, namespaces: Mapping[str, Any] = FROM_ALL, name: str = LISTENER_HTTPS, port: int = 443
) -> dict[str, Any]:
    tls = {"mode": "Terminate", "certificateRefs": [{"kind": "Secret", "name": certificate}]}
    return _listener(name, "HTTPS", port, namespaces) | {"tls": tls}


def _gateway(name: str, namespace: str, class_name: str, proxy: str, listeners: list[dict[str, Any]]) -> dict[str, Any]:
    parameters = {"group": ENVOY_GROUP, "kind": _ENVOY_PROXY, "name": proxy}
    spec = {
        "gatewayClassName": class_name,
        "infrastructure": {"parametersRef": parameters},
        "listeners": listeners,
    }
    return gateway_object(GATEWAY_KIND, name, namespace, spec)


def public_gateway(  # noqa: PLR0913 - what a Gateway is made of
    name: str, namespace: str, *, class_name: str, proxy: str, certificate: str | None, internal: str | None = None
) -> dict[str, Any]:
    """Return the Gateway that services attach to; HTTPS with the Secret of a `certificate`.

    `internal` is the Secret with the pair of the listener that only the gateway itself may call, None for no such one.
    """
    listeners = [_listener(LISTENER_HTTP, "HTTP", 80)]
    if certificate:
        listeners.append(_https(certificate))
    if internal:
        listeners.append(_https(internal, name=LISTENER_INTERNAL, port=INTERNAL_PORT))
    return _gateway(name, namespace, class_name, proxy, listeners)


def https_gateway(  # noqa: PLR0913 - what a Gateway is made of
    name: str, namespace: str, *, class_name: str, proxy: str, certificate: str, namespaces: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a Gateway that listens on HTTPS and on nothing else; routes come from `namespaces` (allowedRoutes)."""
    return _gateway(name, namespace, class_name, proxy, [_https(certificate, namespaces)])
