"""How many more replicas of a shape the fleet takes, and where, by the search of the scheduler itself."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Final

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.names import API_VERSION
from modelplane.model.observation import Malformed
from modelplane.model.placement import Footprint
from modelplane.model.refusal import Refusal, SelectorMismatch
from modelplane.observed.deployment import read_deployment
from modelplane.reading.fleet import FleetCluster
from modelplane.reading.reader import Reader, as_object
from modelplane.reading.refusals import ClusterRefusal, find_probe, find_view
from modelplane.reading.tree import Manifest, Tree
from modelplane.scheduling.matching import Options, bad_selectors, lacking, refuse
from modelplane.scheduling.pools import layout
from modelplane.scheduling.room import Ledger, fits_in_order
from modelplane.scheduling.search_budget import SearchBudget
from modelplane.scheduling.words import find_remedy, word

#: Name and version of the JSON that `as_json` returns.
CAPACITY_VERSION: Final = "capacity.modelplane.ai/v1alpha1"
#: The devices of a shape without a selector: drivers of GPUs are called gpu.VENDOR.
_ANY_GPU: Final = 'device.driver.startsWith("gpu.")'


@dataclass(frozen=True, slots=True)
class Fit:
    """How many more replicas a cluster takes on a profile ("" for the only one), on these pools."""

    cluster: str
    profile: str
    pools: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class MoreRoom:
    """Where more replicas of a shape fit, and why the other clusters take none."""

    shape: str
    fits: tuple[Fit, ...]
    refusals: tuple[ClusterRefusal, ...]

    @property
    def total(self) -> int:
        """Return how many more the fleet takes on the profile that it takes most of; profiles share the room."""
        counts: dict[str, int] = {}
        for fit in self.fits:
            counts[fit.profile] = counts.get(fit.profile, 0) + fit.count
        return max(counts.values(), default=0)


def count_more(reader: Reader, deployment: Manifest, shape: str) -> MoreRoom | str:
    """Return how many more replicas of a ModelDeployment fit, or why that cannot be said; `shape` is its name."""
    probe = find_probe(reader, deployment)
    if probe is None:
        found = read_deployment(as_object(reader, deployment))
        return str(found) if isinstance(found, Malformed) else "its profiles cannot be read: see its conditions"
    if why := probe.resolution.problem or _invalid(probe):
        return why
    view = find_view(reader, deployment)
    clusters = view.candidates if isinstance(view.candidates, tuple) else ()
    footprint = view.cache if isinstance(view.cache, Footprint) else None
    namespace = view.namespace if isinstance(view.namespace, dict) else {}
    ledger = Ledger((replica for of_cluster in view.residents.values() for replica in of_cluster), view.residents)
    fits: list[Fit] = []
    refusals: list[ClusterRefusal] = []
    for cluster in clusters:
        refusal = _left_out(probe, cluster) or refuse(probe, cluster, footprint, namespace)
        found_here = [refusal] if refusal else list(_fits(probe, cluster, ledger))
        fits += (each for each in found_here if isinstance(each, Fit))
        refusals += (_row(cluster.name, each) for each in found_here if isinstance(each, Refusal))
    return MoreRoom(shape, tuple(fits), tuple(refusals))


def _invalid(probe: Deployment) -> str:
    """Return why nothing of a deployment is placed wherever there is room, "" where that depends on the room."""
    if probe.over_bound:
        return f"{probe.over_bound.field} {probe.over_bound.why}; make it smaller"
    bad = (f"selector `{each.selector}` does not compile: {each.why}" for each in bad_selectors(probe))
    return "; ".join(bad)


def _left_out(probe: Deployment, cluster: Cluster) -> Refusal | None:
    label = lacking(cluster, {**probe.resolution.selector, **probe.cluster_selector})
    return SelectorMismatch(*label) if label else None


def _fits(probe: Deployment, cluster: Cluster, ledger: Ledger) -> Iterator[Fit | Refusal]:
    budget, where = SearchBudget(1), layout(cluster)
    for profile in probe.profiles:
        found = fits_in_order(Options(profile, budget).on(where.shape), where, ledger.charge(cluster), budget)
        if isinstance(found, Refusal):
            yield found
            continue
        counts: Counter[tuple[str, ...]] = Counter()
        for assignment, count in found:
            counts[tuple(where.pools[option.position].name for option in assignment)] += count
        yield from (Fit(cluster.name, profile.name, pools, count) for pools, count in counts.items())


def _row(cluster: str, refusal: Refusal) -> ClusterRefusal:
    text, remedy = word(refusal), find_remedy(refusal)
    return ClusterRefusal(cluster, refusal.profile, refusal.pool, refusal.reason, text, remedy)


def shape_of(gpus: int, nodes: int, selector: str, namespace: str) -> Manifest:
    """Return a ModelDeployment of one engine on `nodes` nodes with `gpus` devices each, which a selector chooses."""
    template = {"spec": {"containers": [{"name": "engine", "image": "engine"}]}}
    request = {"name": "gpu", "count": gpus, "selectors": [{"cel": selector or _ANY_GPU}]}
    pod = {"nodeSelector": {"devices": [request]}, "template": template}
    members = [{"role": "Standalone", **pod}]
    if nodes > 1:
        members = [{"role": "Leader", **pod}, {"role": "Worker", "worker": {"nodes": nodes - 1}, **pod}]
    return {
        "apiVersion": API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": "shape", "namespace": namespace, "uid": f"shape/{gpus}/{nodes}/{selector}"}
        | {"resourceVersion": "0"},
        "spec": {"replicas": 1, "engines": [{"name": "main", "members": members}]},
    }


def as_json(clusters: Iterable[FleetCluster], more: MoreRoom | None, unknown: Iterable[str]) -> Tree:
    """Return the pools of a fleet and the room for a shape as JSON of CAPACITY_VERSION."""
    pools = [
        {
            "cluster": cluster.name,
            "state": str(cluster.state),
            "pool": pool.name,
            "nodes": pool.nodes,
            "nodesFree": pool.nodes_free,
            "devices": {name: asdict(devices) for name, devices in pool.devices.items()},
        }
        for cluster in clusters
        for pool in cluster.pools
    ]
    room = None
    if more is not None:
        room = {
            "shape": more.shape,
            "total": more.total,
            "fits": [{**asdict(fit), "pools": list(fit.pools)} for fit in more.fits],
            "refusals": [asdict(each) for each in more.refusals],
        }
    return {"apiVersion": CAPACITY_VERSION, "pools": pools, "room": room, "unknown": list(unknown)}
