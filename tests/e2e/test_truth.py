"""Placements are true: on random fleets everything that is placed is bound, and little is refused that would be."""

import random
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from e2e.fleet import SOON, Fleet
from e2e.scenes import Demand, engine
from modelplane.model.fleet import Device, Pool
from modelplane.model.names import tenant_namespace
from modelplane.model.replica import Claim
from modelplane.step import AWAITING
from modelplane_dev.plane.api import condition
from modelplane_dev.plane.cluster import namespace
from modelplane_dev.plane.control_plane import DEPLOYMENT
from modelplane_dev.plane.inference import CLAIM, POD
from modelplane_dev.plane.waiting import eventually
from property.oracles.arrangements import stranded

FLEETS = 34
#: Fleets whose deployments are there at the same time.
AT_ONCE = 17
#: Of what is refused, kube-scheduler may bind at most this share although no arrangement of the pods leaves one without
#: a node. That it binds more is its luck: it happens to have put the other pods where they are not in the way.
PRICE = 0.05
#: Seconds within which a refused deployment is tried again on a busy machine, and how often that may place one.
TRIED_AGAIN = 3 * AWAITING.total_seconds()
ROUNDS = 6


@dataclass(frozen=True)
class TrialCluster:
    """One cluster and what is asked of it, by the name of the deployment."""

    number: int
    nodes: int
    gpus: int
    demands: dict[str, Demand]

    def strands(self, demands: list[Demand]) -> bool:
        """Return whether kube-scheduler can arrange the pods of these demands so that one is left without a node."""
        device = Device("gpu", "gpu.nvidia.com", "gpu.nvidia.com", self.gpus)
        groups = [((Claim("gpu", "gpu.nvidia.com", each.gpus),),) * each.pods for each in demands]
        return stranded(Pool("pool", self.nodes, (device,)), groups) is not None


def trial_clusters(seed: int) -> Iterator[TrialCluster]:
    """Return random fleets: pods of some or all GPUs of a node, copies, gangs, in all somewhat too many."""
    chance = random.Random(seed)  # noqa: S311 - a fixed seed is the point
    for number in range(FLEETS):
        nodes, gpus = chance.randint(1, 4), chance.choice((2, 4, 8))
        demands = {}
        for place in range(chance.randint(2, 5)):
            demand = Demand(
                gpus=chance.choice(sorted({1, 2, gpus // 2, gpus})),
                copies=chance.choice((1, 1, 2)),
                workers=chance.choice((0, 0, 0, 1, 2)),
            )
            demands[f"d{number}-{place}"] = demand
        yield TrialCluster(number, nodes, gpus, demands)


@pytest.mark.long
def test_everything_placed_is_bound_and_few_refusals_were_needless(fleet: Fleet) -> None:
    everything = list(trial_clusters(seed=1))
    placed = refused = 0
    lucky: list[tuple[TrialCluster, Demand]] = []
    needless: list[tuple[TrialCluster, Demand]] = []
    for start in range(0, FLEETS, AT_ONCE):
        some = everything[start : start + AT_ONCE]
        clusters = {trial.number: _make_cluster(fleet, trial) for trial in some}
        for trial in some:
            _ask(fleet, trial, clusters[trial.number])
        serving = _settle(fleet, some)
        unplaced, bound = {}, {}
        for trial in some:
            cluster = clusters[trial.number]
            unplaced[cluster] = [demand for name, demand in trial.demands.items() if name not in serving]
            bound[cluster] = [demand for name, demand in trial.demands.items() if name in serving]
            _wait_bound(fleet, cluster, bound[cluster])
            placed += len(bound[cluster])
            refused += len(unplaced[cluster])
        for cluster, demand in _kubernetes_binds(fleet, unplaced):
            trial = next(trial for trial in some if clusters[trial.number] == cluster)
            (lucky if trial.strands([*bound[cluster], demand]) else needless).append((trial, demand))
        for name in (name for trial in some for name in trial.demands):
            fleet.plane.hub.api.delete(DEPLOYMENT, name, fleet.tag)
    binds = len(lucky) + len(needless)
    fleet.figures.append(
        f"{placed} placed, all bound; {refused} refused, of which kube-scheduler binds {binds} "
        f"({binds / refused:.1%}): {len(lucky)} as it happens to have arranged the other pods, {len(needless)} "
        f"({len(needless) / refused:.1%}) however it arranges them"
    )
    assert len(needless) / refused <= PRICE, needless


def _make_cluster(fleet: Fleet, trial: TrialCluster) -> str:
    """Make the trial's cluster, and return its name."""
    site = ("east", "west")[trial.number % 2]
    return fleet.begin_cluster(site, nodes=trial.nodes, gpus=trial.gpus, suffix=f"-{trial.number}")


def _ask(fleet: Fleet, trial: TrialCluster, cluster: str) -> None:
    """Make the trial's deployments once its cluster takes replicas."""
    fleet.wait_cluster(cluster)
    for name, demand in trial.demands.items():
        selector = {"matchLabels": {"name": cluster}}
        fleet.deploy(name, clusterSelector=selector, engines=[engine(demand.gpus, demand.copies, demand.workers)])


def _settle(fleet: Fleet, some: list[TrialCluster]) -> list[str]:
    """Return which deployments are placed once that changes no more: what was refused is tried again after a yield."""
    before: list[str] | None = None
    for _ in range(ROUNDS):
        now = eventually(lambda: _placed(fleet, some), within=2 * SOON)
        if now == before:
            return now
        before = now
        time.sleep(TRIED_AGAIN)
    raise AssertionError(f"after {ROUNDS} rounds it still changes what is placed, now {before}")


def _placed(fleet: Fleet, some: list[TrialCluster]) -> list[str]:
    """Return which deployments are placed, once each serves or is refused."""
    for name in (name for trial in some for name in trial.demands):
        found = fleet.deployment(name)
        refused = condition(found, "ReplicasScheduled").get("reason") == "InsufficientCapacity"
        assert fleet.counts(name) == (1, 1) or (refused and fleet.counts(name) == (0, 0)), found.get("status")
    return [name for trial in some for name in trial.demands if fleet.counts(name) == (1, 1)]


def _wait_bound(fleet: Fleet, cluster: str, demands: list[Demand]) -> None:
    """Wait until the cluster has the pods of these demands, all bound, and no others: what has yielded is leaving.

    Nor may a pod hold devices that is gone: the scheduler would refuse for their sake what it then binds.
    """

    def bound() -> None:
        pods = fleet.pods(cluster)
        alive = {pod["metadata"]["uid"] for pod in fleet.clusters[cluster].pods(tenant_namespace(fleet.tag))}
        holders = {owner["uid"] for claim in fleet.claims(cluster) for owner in claim["metadata"]["ownerReferences"]}
        assert holders <= alive
        assert len(pods) == sum(demand.pods for demand in demands)
        assert all(pod["spec"].get("nodeName") for pod in pods)

    eventually(bound, within=SOON)


def _kubernetes_binds(fleet: Fleet, unplaced: dict[str, list[Demand]]) -> list[tuple[str, Demand]]:
    """Return which demands of clusters kube-scheduler binds, each alone beside what Modelplane has placed there."""
    bound = []
    for turn in range(max(map(len, unplaced.values()))):
        tried = {cluster: demands[turn] for cluster, demands in unplaced.items() if turn < len(demands)}
        for cluster, demand in tried.items():
            api, where = fleet.clusters[cluster].cluster.api, _aside(cluster)
            api.apply(namespace(where))
            for manifest in demand.manifests(where, cluster):
                api.apply(manifest)
        bound += [(cluster, demand) for cluster, demand in tried.items() if _is_bound(fleet, cluster, demand)]
        for cluster in tried:
            _clear(fleet, cluster)
    return bound


def _aside(cluster: str) -> str:
    """Return the namespace in which a cluster is tried."""
    return f"try-{cluster}"


def _is_bound(fleet: Fleet, cluster: str, demand: Demand) -> bool:
    """Return whether all pods that were tried are bound, once the scheduler has decided on each."""

    def decided() -> bool:
        pods = fleet.clusters[cluster].cluster.api.list(POD, _aside(cluster))
        scheduled = [condition(pod, "PodScheduled").get("status") for pod in pods]
        assert len(pods) == demand.pods
        assert None not in scheduled
        return set(scheduled) == {"True"}

    return eventually(decided, within=SOON)


def _clear(fleet: Fleet, cluster: str) -> None:
    """Take away what was tried, and wait until its devices are free."""
    api, where = fleet.clusters[cluster].cluster.api, _aside(cluster)
    for pod in api.list(POD, where):
        api.delete(POD, pod["metadata"]["name"], where)

    def gone() -> None:
        assert not api.list(POD, where)
        assert not api.list(CLAIM, where)

    eventually(gone, within=SOON)
