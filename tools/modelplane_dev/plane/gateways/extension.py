"""Envoy AI Gateway's controller, the extension server by which Envoy Gateway routes to InferencePools.

Some of its ports are also those of Envoy Gateway, so it has its own network, linked with that of the cluster's gateway.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from modelplane_dev import components
from modelplane_dev.components import sources
from modelplane_dev.plane.api import Manifest
from modelplane_dev.plane.cluster import Cluster, namespace
from modelplane_dev.plane.crossplane import crds, establish
from modelplane_dev.plane.gateways.network import Network
from modelplane_dev.plane.gateways.relay import COMMAND, start_relay

_NAMESPACE = "envoy-ai-gateway-system"
#: Its name and port, as an installation of its chart has them.
HOST: Final = f"ai-gateway-controller.{_NAMESPACE}.svc.cluster.local"
_PORT = 1063
#: Largest message in bytes: it receives the whole configuration of an Envoy. 4 MiB is the default at both ends.
_MESSAGE = 64 << 20
#: The number of its link, other than those of the links of a site.
_LINK = 200
_ALL = {"includeAll": True}
#: What of Envoy Gateway's configuration names it (ai-gateway/manifests/envoy-gateway-values.yaml, and its addon for
#: InferencePools).
MANAGER: Final[dict[str, Any]] = {
    "backendResources": [{"group": "inference.networking.k8s.io", "kind": "InferencePool", "version": "v1"}],
    "hooks": {
        "xdsTranslator": {
            "translation": {"listener": _ALL, "route": _ALL, "cluster": _ALL, "secret": _ALL},
            "post": ["Translation", "Cluster", "Route"],
        }
    },
    "maxMessageSize": f"{_MESSAGE >> 20}Mi",
    "service": {"fqdn": {"hostname": HOST, "port": _PORT}},
}
#: What it logs once the caches of the extension server are filled.
_STARTED = "Starting workers"


def _webhook() -> Manifest:
    """Return its webhook for Envoy's pods, without a rule: no pods run here. Without the object it exits."""
    client = {"url": "https://127.0.0.1:9443/mutate"}
    hook = {"name": HOST, "clientConfig": client, "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules": []}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": f"envoy-ai-gateway-gateway-pod-mutator.{_NAMESPACE}"},
        "webhooks": [hook],
    }


@contextmanager
def extension_server(
    cluster: Cluster, gateway: Network, api: Path, pair: Path, *, installed: bool = False
) -> Iterator[str]:
    """Run it for a cluster, and yield its address in the network of the cluster's gateway.

    `api` is the socket that leads to the cluster's API server, and `pair` the folder with the certificate of webhooks.
    With `installed` its charts have made what it needs on the cluster.
    """
    if not installed:
        establish(cluster, crds(sources.ai_gateway_crds()))
        for manifest in (namespace(_NAMESPACE), _webhook()):
            cluster.api.apply(manifest)
    network = Network(f"{gateway.name}-ai", gateway.folder, {})
    options = (f"--port=:{_PORT}", "--enableLeaderElection=false", f"--maxRecvMsgSize={_MESSAGE}")
    binary, environment = components.path("ai-gateway-controller"), {"KUBECONFIG": cluster.kubeconfig()}
    with ExitStack() as stack:
        stack.callback(network.stop)
        network.start()
        _, address = gateway.link(network, _LINK)
        start_relay(stack, network.process(f"{network.name}-api", *COMMAND, cluster.address, api))
        command = (binary, *options, f"--tlsCertDir={pair}")
        process = network.process(f"{network.name}-controller", *command, POD_NAMESPACE=_NAMESPACE, **environment)
        stack.enter_context(process)
        process.wait_for(lambda: _STARTED in process.log.read_text())
        yield address
