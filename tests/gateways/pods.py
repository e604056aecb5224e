"""Pods of engines as a kubelet would report them."""

from collections.abc import Iterator
from contextlib import contextmanager

from gateways.live import LiveFleet
from modelplane_dev.plane.api import Kind

_POD = Kind("v1", "Pod")


@contextmanager
def not_ready(live: LiveFleet, name: str) -> Iterator[None]:
    """Let a pod not be ready meanwhile; those who need it afterwards wait until its replica takes requests again."""
    pods = {
        pod["metadata"]["name"]: (gateways.cluster.api, pod)
        for site, gateways in live.gateways.sites.items()
        for pod in live.fleet.pods(f"{live.fleet.tag}-{site}")
    }
    api, pod = pods[name]
    was = pod["status"]["conditions"]
    failed = [each | ({"status": "False"} if each["type"] in {"Ready", "ContainersReady"} else {}) for each in was]
    namespace = pod["metadata"]["namespace"]
    api.patch(_POD, name, {"status": {"conditions": failed}}, namespace, "status")
    try:
        yield
    finally:
        api.patch(_POD, name, {"status": {"conditions": was}}, namespace, "status")
