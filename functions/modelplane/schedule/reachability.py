"""The clusters of a deployment's replicas, and which of them cannot be reached."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from modelplane.composing import requirements as require
from modelplane.model.conditions import ClusterCondition
from modelplane.model.fleet import Cluster, Effect
from modelplane.model.placement import FleetView, Schedule
from modelplane.observed.fields import condition, text
from modelplane.step import Object, Request

#: Most clusters that one message or event names; the status and the InferenceClusters themselves have the rest.
MAX_CLUSTERS = 10


@dataclass(frozen=True, slots=True)
class LostCluster:
    """A cluster that requests or the control plane cannot reach.

    It has `replicas`, of which `ready` were Ready when it was last observed. `answers` is False if the API server does
    not answer, else the gateway has no address. `why` is the InferenceCluster's message, "" without one. `tainted`: it
    has a NoExecute taint, which the replicas that stay tolerate.
    """

    name: str
    replicas: int
    ready: int
    answers: bool
    why: str
    tainted: bool = False

    def __str__(self) -> str:
        """Return what is wrong, how many replicas are there, and what to do."""
        noun = "replica" if self.replicas == 1 else "replicas"
        there = f"{self.replicas} {noun} there, {self.ready} ready when last seen"
        why = f" ({self.why})" if self.why else ""
        if self.answers:
            return f"the gateway of cluster {self.name} has lost its address, {there}{why}: restore the gateway"
        elsewhere = (
            "remove its taint from spec.tolerations"
            if self.tainted
            else f"taint InferenceCluster {self.name} NoExecute"
        )
        return (
            f"cluster {self.name} does not answer, {there}{why}: restore the connection, or {elsewhere} to place them "
            "elsewhere"
        )


def find_cluster(view: FleetView, name: str) -> Cluster | None:
    """Return a cluster that the pass has fetched, by name or as a candidate; None otherwise."""
    known = view.clusters.get(name)
    if isinstance(known, Cluster):
        return known
    listed = view.candidates if isinstance(view.candidates, tuple) else ()
    return next((candidate for candidate in listed if candidate.name == name), None)


def is_reachable(view: FleetView, name: str) -> bool:
    """Tell whether a cluster answers and its gateway has an address; an unknown cluster counts as reachable."""
    found = find_cluster(view, name)
    return found is None or (found.answers and bool(found.address))


def _own_words(request: Request, cluster: Cluster) -> str:
    """Return what BackendReady says; of a cluster that does not answer that is why, without what to do."""
    found = request.one(require.cluster(cluster.name))
    return text(condition(found, ClusterCondition.BACKEND_READY).get("message")) if isinstance(found, Object) else ""


def find_lost(request: Request, view: FleetView, schedule: Schedule) -> Iterator[LostCluster]:
    """Yield the clusters that cannot be reached and have replicas that are not leaving, by name."""
    counted = [each for each in schedule.placements if each.replica and not each.leaving]
    replicas = Counter(each.cluster for each in counted)
    ready = Counter(each.cluster for each in counted if each.replica and each.replica.ready)
    for name, count in sorted(replicas.items()):
        found = find_cluster(view, name)
        if found is not None and not is_reachable(view, name):
            tainted = any(taint.effect is Effect.NO_EXECUTE for taint in found.taints)
            yield LostCluster(name, count, ready[name], found.answers, _own_words(request, found), tainted)
