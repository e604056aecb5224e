"""The values by which all images of a chart come from one place: below a prefix, each under its own path."""

from collections.abc import Callable, Mapping
from typing import Any, Final

#: Returns the values of a chart for the prefix, a registry's host and a path.
ImageValues = Callable[[str], dict[str, Any]]
#: The Envoy of Envoy Gateway v1.8.3, which is in its program: its chart names none.
ENVOY: Final = "docker.io/envoyproxy/envoy:distroless-v1.38.3"


def _none(_: str) -> dict[str, Any]:
    """Return no values: the chart has no image."""
    return {}


def _registry(prefix: str) -> dict[str, Any]:
    return {"global": {"imageRegistry": prefix}}


def _cert_manager(prefix: str) -> dict[str, Any]:
    return {"imageRegistry": prefix}


def _envoy_gateway(prefix: str) -> dict[str, Any]:
    return {"global": {"imageRegistry": prefix, "images": {"envoyProxy": {"image": ENVOY}}}}


def _ai_gateway(prefix: str) -> dict[str, Any]:
    return {
        "controller": {"image": {"repository": f"{prefix}/envoyproxy/ai-gateway-controller"}},
        "extProc": {"image": {"repository": f"{prefix}/envoyproxy/ai-gateway-extproc"}},
    }


def _lws(prefix: str) -> dict[str, Any]:
    return {"image": {"manager": {"repository": f"{prefix}/lws/lws"}}}


def _node_feature_discovery(prefix: str) -> dict[str, Any]:
    return {"image": {"repository": f"{prefix}/nfd/node-feature-discovery"}}


def _dra(prefix: str) -> dict[str, Any]:
    return {"image": {"repository": f"{prefix}/dra-driver-nvidia/dra-driver-nvidia-gpu"}}


#: Of every chart, by name.
IMAGES: Final[Mapping[str, ImageValues]] = {
    "cert-manager": _cert_manager,
    "gateway-helm": _envoy_gateway,
    "ai-gateway-crds-helm": _none,
    "ai-gateway-helm": _ai_gateway,
    "lws": _lws,
    "node-feature-discovery": _node_feature_discovery,
    "dra-driver-nvidia-gpu": _dra,
    "kube-prometheus-stack": _registry,
}
