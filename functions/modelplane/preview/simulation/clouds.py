"""The statuses that the clouds' providers write when everything that they are asked for can be made."""

from collections.abc import Iterator, Mapping
from typing import Final

from modelplane.clouds import CLOUDS
from modelplane.model.names import SYSTEM_NAMESPACE
from modelplane.preview.simulation.providers import StatusPatch, condition_of, is_healthy, patch_of, simulated
from modelplane.preview.store import View
from modelplane.reading.kinds import Key, is_of_cloud
from modelplane.reading.tree import Manifest, Tree, child, mapping

#: (apiVersion, kind) of what the clouds' providers bring.
CLOUD_KINDS: Final = tuple(sorted({(each.api_version, each.kind) for cloud in CLOUDS.values() for each in cloud.kinds}))
_CONFIGS: Final = frozenset({"ClusterProviderConfig", "ProviderConfig"})
_CLUSTER, _POOL = "Cluster.container.gcp.m.upbound.io", "NodePool.container.gcp.m.upbound.io"


def cloud_answers(view: View) -> Iterator[StatusPatch]:
    """Yield the status of every managed resource that has no healthy status for its present generation.

    What is edited is changed at once: a preview has no clock.
    """
    for kind in sorted(view.kinds()):
        if not is_of_cloud(kind) or kind.partition(".")[0] in _CONFIGS:
            continue
        for obj in simulated(view, kind):
            if not is_healthy(obj) or _lags(view, obj, kind):
                yield patch_of(obj, _status(view, obj, kind))


def _status(view: View, obj: Manifest, kind: str) -> Tree:
    conditions = [
        condition_of(obj, view.now, "Ready", "True", "Available"),
        condition_of(obj, view.now, "Synced", "True", "ReconcileSuccess"),
    ]
    return {"conditions": conditions, "atProvider": dict(_there(view, obj, kind))}


def _lags(view: View, obj: Manifest, kind: str) -> bool:
    """Tell whether what a provider reports of a resource has changed without an edit of it."""
    there = _there(view, obj, kind)
    seen = mapping(obj, "status", "atProvider")
    return any(seen.get(field) != value for field, value in there.items())


def _there(view: View, obj: Manifest, kind: str) -> Mapping[str, object]:
    """Return what a provider reports: of GKE versions of Kubernetes. A pool has that of its cluster at first."""
    if kind == _CLUSTER:
        return {"masterVersion": _full(child(obj, "spec", "forProvider", "minMasterVersion"))}
    if kind != _POOL:
        return {}
    asked, last = child(obj, "spec", "forProvider", "version"), child(obj, "status", "atProvider", "version")
    if asked or last:
        return {"version": asked or last}
    name = str(child(obj, "spec", "forProvider", "clusterRef", "name"))
    cluster = view.peek(Key(_CLUSTER, SYSTEM_NAMESPACE, name))
    return {"version": _full(child(cluster, "spec", "forProvider", "minMasterVersion"))} if cluster else {}


def _full(minor: object) -> str:
    return f"{minor}.1-gke.1"
