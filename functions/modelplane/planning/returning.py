"""Clusters that are not Ready in a snapshot: each may be Ready again before anything is placed."""

from collections.abc import Iterable
from typing import Final

from modelplane.model.conditions import ClusterCondition, Reason
from modelplane.model.fleet import Effect
from modelplane.observed.cluster import mistaken, read_cluster
from modelplane.planning.edits import CLUSTER
from modelplane.preview import ControlPlane
from modelplane.reading.reader import as_object
from modelplane.reading.tree import Manifest, items
from modelplane.step import Object

#: The conditions of a cluster that is Ready, with their reasons.
_WELL: Final = {
    str(ClusterCondition.CLUSTER_READY): str(Reason.CLUSTER_RUNNING),
    str(ClusterCondition.BACKEND_READY): str(Reason.BACKEND_HEALTHY),
    "Ready": "Available",
}


def find_returning(fleet: ControlPlane) -> tuple[str, ...]:
    """Return the clusters that would take replicas if they were Ready, sorted."""
    view = fleet.view()
    found = (as_object(view, obj) for obj in view.scan(CLUSTER))
    return tuple(sorted(obj.name for obj in found if _may_return(obj)))


def _may_return(obj: Object) -> bool:
    cluster = read_cluster(obj)
    if cluster.ready or cluster.deleting or cluster.orphaned or mistaken(obj):
        return False
    drained = any(taint.effect is Effect.NO_EXECUTE for taint in cluster.taints)
    return bool(cluster.address and cluster.pools and not drained)


def bring_back(fleet: ControlPlane, clusters: Iterable[str]) -> ControlPlane:
    """Return a fork of a fleet in which these clusters are Ready."""
    control = fleet.fork(fleet.world)
    for name in clusters:
        found = items(control.get(CLUSTER, None, name), "status", "conditions")
        control.patch_status(CLUSTER, None, name, {"conditions": [_well(each) for each in found]})
    return control


def _well(condition: Manifest) -> Manifest:
    reason = _WELL.get(str(condition.get("type")))
    others = {field: value for field, value in condition.items() if field != "message"}
    return {**others, "status": "True", "reason": reason} if reason else condition
