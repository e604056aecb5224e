"""The LeaderWorkerSet controller of an inference cluster, with its webhooks on loopback instead of a Service."""

import json
from collections.abc import Iterator
from typing import Any

from modelplane_dev import components
from modelplane_dev.components import sources
from modelplane_dev.plane.cluster import Cluster
from modelplane_dev.plane.crossplane import crds, establish
from modelplane_dev.plane.manifests import read_manifests
from modelplane_dev.processes.ports import free_port, listens
from modelplane_dev.processes.process import Process

#: Which pods its webhooks receive, by the installation's own patch: no other pod waits for them.
_OWN_PODS = {"matchExpressions": [{"key": "leaderworkerset.sigs.k8s.io/name", "operator": "Exists"}]}


def lws(cluster: Cluster, port: int) -> Process:
    """Return the controller, whose webhooks listen on a port."""
    run = cluster.run
    config = run.folder / f"{cluster.name}-lws.json"
    content = {
        "apiVersion": "config.lws.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(run.certificates.server)},
        "health": {"healthProbeBindAddress": f"127.0.0.1:{free_port()}"},
        "metrics": {"bindAddress": "0"},
    }
    config.write_text(json.dumps(content))
    environment = {"KUBECONFIG": cluster.kubeconfig()}
    return Process(f"{cluster.name}-lws", run.folder, [components.path("lws"), f"--config={config}"], environment)


def prepare(cluster: Cluster) -> None:
    """Install the kind LeaderWorkerSet."""
    establish(cluster, crds(sources.lws_crds()))


def connect_webhooks(cluster: Cluster, process: Process, port: int) -> None:
    """Install the controller's webhooks once it listens, each with a URL on the port."""
    process.wait_for(lambda: listens(port))
    for configuration in _webhooks(port, cluster.run.certificates.bundle):
        cluster.api.apply(configuration)


def _webhooks(port: int, bundle: str) -> Iterator[dict[str, Any]]:
    manifests = (components.source(*sources.LWS) / "config/webhook/manifests.yaml").read_text()
    for configuration in read_manifests(manifests):
        for webhook in configuration["webhooks"]:
            path = webhook["clientConfig"].pop("service")["path"]
            webhook["clientConfig"] = {"url": f"https://localhost:{port}{path}", "caBundle": bundle}
            if path.endswith("pod"):
                webhook["objectSelector"] = _OWN_PODS
        yield configuration
