"""The values that each chart of the serving stack is installed with, where its own are not what engines need."""

from collections.abc import Mapping
from typing import Any, Final

#: Pods that run on GPU nodes tolerate the taint that these carry.
_ON_GPU_NODES: Final = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
_ALL: Final = {"includeAll": True}

#: Its hook would wait for the webhook, and fail the release where that is slow. Its pods tell.
CERT_MANAGER: Final[dict[str, Any]] = {"crds": {"enabled": True}, "startupapicheck": {"enabled": False}}

#: Its policy would forbid every older bundle of Gateway API's CRDs on the whole cluster, also to who manages them.
_CRDS: Final[dict[str, Any]] = {"gatewayAPI": {"safeUpgradePolicy": {"enabled": False}}}
_APIS: Final[dict[str, Any]] = {"enableBackend": True}
#: By Envoy AI Gateway it routes to InferencePools. It takes no settings while this does not answer.
_EXTENSION: Final[dict[str, Any]] = {
    "backendResources": [{"group": "inference.networking.k8s.io", "kind": "InferencePool", "version": "v1"}],
    "hooks": {
        "xdsTranslator": {
            "translation": {"listener": _ALL, "route": _ALL, "cluster": _ALL, "secret": _ALL},
            "post": ["Translation", "Cluster", "Route"],
        }
    },
    # Everything that Envoy is configured with passes: the default is 4 MiB.
    "maxMessageSize": "64Mi",
    "service": {"fqdn": {"hostname": "ai-gateway-controller.envoy-ai-gateway-system.svc.cluster.local", "port": 1063}},
}
GATEWAY: Final[dict[str, Any]] = {
    "crds": _CRDS,
    "config": {"envoyGateway": {"extensionApis": _APIS, "extensionManager": _EXTENSION}},
}
#: Without Envoy AI Gateway, as on the control cluster.
GATEWAY_ALONE: Final[dict[str, Any]] = {"crds": _CRDS, "config": {"envoyGateway": {"extensionApis": _APIS}}}

#: Where GATEWAY has the kinds that Envoy Gateway routes to beside Services.
_TO_POOLS: Final = ("config", "envoyGateway", "extensionManager", "backendResources")


def routes_to_pools(values: Any) -> bool:
    """Tell whether values let Envoy Gateway route to InferencePools."""
    for key in _TO_POOLS:
        values = values.get(key) if isinstance(values, Mapping) else None
    return bool(values)


def without_pools(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by which Envoy Gateway does not route to InferencePools: without their kind it would not start."""

    def without(found: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        key, *rest = path
        if key not in found:
            return dict(found)
        if not rest:
            return {name: value for name, value in found.items() if name != key}
        return {**found, key: without(found[key], tuple(rest))}

    return without(values, _TO_POOLS)


AI_GATEWAY: Final[dict[str, Any]] = {
    "controller": {
        "replicaCount": 2,
        "maxRecvMsgSize": str(64 << 20),
        "mutatingWebhook": {
            # The chart's own certificate is made once, for a year.
            "certManager": {"enable": True},
            # It refuses every pod that it is asked about and cannot answer for: not those of other Envoy Gateways.
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "envoy-gateway-system"}},
        },
    }
}

LWS: Final[dict[str, Any]] = {"image": {"manager": {"tag": "v0.8.0", "pullPolicy": "IfNotPresent"}}}

NODE_FEATURE_DISCOVERY: Final[dict[str, Any]] = {"worker": {"tolerations": _ON_GPU_NODES}}

#: Value of the DRA driver's chart: where the nodes have NVIDIA's driver.
DRIVER_ROOT: Final = "nvidiaDriverRoot"

DRA: Final[dict[str, Any]] = {
    # Its consent to allocate GPUs, which a device plugin must not do beside it.
    "gpuResourcesEnabledOverride": True,
    "resources": {"computeDomains": {"enabled": False}},
    # Some clouds admit pods of the critical classes in kube-system alone.
    "kubeletPlugin": {"tolerations": _ON_GPU_NODES, "priorityClassName": ""},
}

METRICS: Final[dict[str, Any]] = {
    "alertmanager": {"enabled": False},
    "grafana": {"enabled": False},
    "prometheus": {"prometheusSpec": {"podMonitorSelectorNilUsesHelmValues": False}},
}
