"""`modelplane observe` beside the public gateway, with the rights and the ConfigMap of install/observe."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import yaml

from modelplane.model.names import ENVOY_NAMESPACE, PUBLIC_GATEWAY, SYSTEM_NAMESPACE
from modelplane_dev.folders import ROOT
from modelplane_dev.plane.api import Manifest
from modelplane_dev.plane.gateways.controller import STATISTICS, Gateways
from modelplane_dev.processes.functions import MODELPLANE
from modelplane_dev.processes.process import Process

_ACCOUNT = "modelplane-observe"
#: Seconds between two readings where a test waits for them.
_EVERY = 0.5


def _endpoints(address: str) -> Manifest:
    """Return what the control cluster knows of the gateway's pods: here there are none."""
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": f"{PUBLIC_GATEWAY}-0",
            "namespace": ENVOY_NAMESPACE,
            "labels": {"kubernetes.io/service-name": PUBLIC_GATEWAY},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": [],
    }


def _installed() -> Iterator[dict[str, Any]]:
    for manifest in yaml.safe_load_all((ROOT / "install/observe/observe.yaml").read_text()):
        if manifest["kind"] != "Deployment":  # the process stands for its pod
            yield manifest


@contextmanager
def observer(public: Gateways, address: str, every: float = _EVERY) -> Iterator[Process]:
    """Run it; the Envoy of the public gateway listens at an address of its network, and is asked every so often."""
    hub = public.cluster
    for manifest in (*_installed(), _endpoints(address)):
        hub.api.apply(manifest)
    folder = public.folder / "observe"
    folder.mkdir(exist_ok=True)
    (folder / "token").write_text(hub.account_token(SYSTEM_NAMESPACE, _ACCOUNT))
    files = ("--token-file", folder / "token", "--ca-file", hub.run.certificates.authority)
    options = ("--statistics-port", str(STATISTICS), "--every", str(every))
    command = (MODELPLANE, "observe", "--server", hub.address, *files, *options)
    with public.network.process("observe", *command) as running:
        yield running
