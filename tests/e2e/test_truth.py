"""Placements are true: on random fleets everything that is placed is bound, and little is refused that would be.

The product's own functions decide, in the preview, on clusters whose nodes exist: what they compose is applied there as
provider-kubernetes would, and the real kube-scheduler has the word. That the control plane delivers it is shown by all
other scenarios; without it far more fleets are tried in the same time.
"""

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import pytest

from e2e.fleet import SOON, Fleet
from e2e.scenes import Demand, cluster, deployment, engine, gpu_class
from modelplane.model.fleet import Device, Pool
from modelplane.model.names import LABEL_POOL, tenant_namespace
from modelplane.model.replica import Claim
from modelplane.preview import ControlPlane as Preview
from modelplane_dev.plane.api import Kind, Manifest, condition
from modelplane_dev.plane.cluster import namespace
from modelplane_dev.plane.control_plane import DEPLOYMENT, ControlPlane
from modelplane_dev.plane.devices import node_status
from modelplane_dev.plane.inference import CLAIM, NODE, POD, InferenceSite
from modelplane_dev.plane.waiting import eventually
from property.oracles.amounts import can_be_stranded
from property.oracles.arrangements import stranded

#: Fleets of each kind; `make soak` tries three times as many of those that only devices limit.
FLEETS, FLEETS_OF_MEMORY, FLEETS_OF_PODS = 60 if "MODELPLANE_SOAK" in os.environ else 20, 20, 20
#: Fleets whose pods are there at the same time.
AT_ONCE = 20
#: Of what is refused, kube-scheduler may bind at most this share although no arrangement of the pods leaves one without
#: a node. That it binds more is its luck: it happens to have put the other pods where they are not in the way.
PRICE = 0.05
TEAM = "truth"
#: What of all that is composed makes pods.
MAKES_PODS = ("Namespace", "ResourceClaimTemplate", "Deployment", "LeaderWorkerSet")


def asked_of(demand: Demand) -> Manifest:
    """Return the engine that takes so much."""
    return engine(demand.gpus, demand.copies, demand.workers, demand.gib, idle=demand.idle)


@dataclass(frozen=True)
class Trial:
    """One cluster on a site, with a pool of its name, and what is asked of it, by the name of the deployment.

    Its nodes declare `gib` GiB of memory and run so many pods, nothing of that where it is 0.
    """

    site: InferenceSite
    number: int
    nodes: int
    gpus: int
    demands: dict[str, Demand]
    gib: int = 0
    pods_each: int = 0

    @property
    def name(self) -> str:
        """Return the name of the cluster and of its pool."""
        return f"truth-{self.number}"

    @property
    def team(self) -> str:
        """Return the namespace of the deployments."""
        return f"{TEAM}-{self.number}"

    @property
    def hardware(self) -> Manifest:
        """Return the InferenceClass of the pool."""
        return gpu_class("gpus", count=self.gpus)

    @property
    def cluster(self) -> Manifest:
        """Return the InferenceCluster."""
        node: Manifest = {"memory": f"{self.gib}Gi"} if self.gib else {}
        node |= {"pods": self.pods_each} if self.pods_each else {}
        pool = {"name": self.name, "className": "gpus", "nodeCount": self.nodes}
        return cluster(self.name, {}, [pool | ({"node": node} if node else {})])

    @cached_property
    def decided(self) -> Preview:
        """Return the control plane with the cluster and all deployments, settled."""
        asked = [deployment(name, self.team, engines=[asked_of(demand)]) for name, demand in self.demands.items()]
        preview = Preview([self.hardware, self.cluster, *asked])
        assert preview.settle()
        return preview

    @cached_property
    def placed(self) -> dict[str, Demand]:
        """Return what was placed; all else was refused for want of room."""
        total: dict[str, int] = {}
        for found in self.decided.list(DEPLOYMENT.kind):
            name = found["metadata"]["name"]
            total[name] = found["status"]["replicas"]["total"]
            if not total[name]:
                assert condition(found, "ReplicasScheduled").get("reason") == "InsufficientCapacity", found["status"]
        return {name: demand for name, demand in self.demands.items() if total[name]}

    @property
    def refused(self) -> list[Demand]:
        """Return what was refused."""
        return [demand for name, demand in self.demands.items() if name not in self.placed]

    def apply(self) -> None:
        """Make the cluster's nodes and all that makes pods, as the provider would."""
        self.site.create_nodes(self.cluster, [self.hardware])
        composed = [found["spec"]["forProvider"]["manifest"] for found in self.decided.list("Object")]
        for manifest in sorted(composed, key=lambda each: each["kind"] != "Namespace"):
            if manifest["kind"] in MAKES_PODS and manifest["metadata"]["name"] != "kube-system":
                self.site.cluster.api.apply(manifest)

    def pods(self) -> list[Manifest]:
        """Return the pods of what is placed."""
        return self.site.pods(tenant_namespace(self.team))

    def wait_bound(self) -> None:
        """Wait until all pods of what is placed are bound, to nodes of the pool."""

        def bound() -> None:
            pods = self.pods()
            assert len(pods) == sum(demand.pods for demand in self.placed.values())
            assert all(pod["spec"]["nodeSelector"] == {LABEL_POOL: self.name} for pod in pods)
            assert all(pod["spec"].get("nodeName") for pod in pods)

        eventually(bound, within=SOON)

    def assert_room(self) -> None:
        """Assert that the nodes still have the room that the pool declares: nothing has made up another one."""
        (pool,) = self.cluster["spec"]["nodePools"]
        declared = {name: str(size) for name, size in node_status(pool)["status"]["allocatable"].items()}
        nodes = self.site.cluster.api.list(NODE, **{LABEL_POOL: self.name})
        assert [node["status"]["allocatable"] for node in nodes] == [declared] * self.nodes

    def strands(self, demand: Demand) -> bool:
        """Return whether kube-scheduler can arrange the pods of what is placed and of this so that one has no node."""
        everything = (*self.placed.values(), demand)
        if self.pods_each:
            claiming = [((d.gpus, 1),) * d.claiming for d in everything]
            idle = [((0, 1),) for d in everything for _ in range(d.pods - d.claiming)]
            return can_be_stranded(self.nodes, (self.gpus, self.pods_each), [*claiming, *idle])
        if self.gib:
            return can_be_stranded(self.nodes, (self.gpus, self.gib), [((d.gpus, d.gib),) * d.pods for d in everything])
        device = Device("gpu", "gpu.nvidia.com", "gpu.nvidia.com", self.gpus)
        groups = [((Claim("gpu", "gpu.nvidia.com", each.gpus),),) * each.pods for each in everything]
        return stranded(Pool("pool", self.nodes, (device,)), groups) is not None

    @property
    def aside(self) -> str:
        """Return the namespace in which what was refused is tried."""
        return f"try-{self.name}"

    def begin_trying(self, demand: Demand) -> None:
        """Make the pods of a demand that was refused, as they would be without Modelplane."""
        api = self.site.cluster.api
        api.apply(namespace(self.aside))
        for manifest in demand.manifests(self.aside, self.name):
            api.apply(manifest)

    def is_bound(self, demand: Demand) -> bool:
        """Return whether all pods that are tried are bound, once the scheduler has decided on each."""

        def decided() -> bool:
            pods = self.site.cluster.api.list(POD, self.aside)
            scheduled = [condition(pod, "PodScheduled").get("status") for pod in pods]
            assert len(pods) == demand.pods
            assert None not in scheduled
            return set(scheduled) == {"True"}

        return eventually(decided, within=SOON)

    def clear(self) -> None:
        """Take away what was tried, and wait until its devices are free."""
        api = self.site.cluster.api
        for pod in api.list(POD, self.aside):
            api.delete(POD, pod["metadata"]["name"], self.aside)

        def gone() -> None:
            assert not api.list(POD, self.aside)
            assert not api.list(CLAIM, self.aside)

        eventually(gone, within=SOON)

    def close(self) -> None:
        """Take away the pods; the cluster's nodes stay, which no other test uses."""
        for name in (tenant_namespace(self.team), self.aside):
            self.site.cluster.api.delete(Kind("v1", "Namespace"), name)


def trials(plane: ControlPlane, seed: int) -> Iterator[Trial]:
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
            demands[f"d{place}"] = demand
        yield Trial(plane.sites[("east", "west")[number % 2]], number, nodes, gpus, demands)


def trials_of_memory(plane: ControlPlane, seed: int) -> Iterator[Trial]:
    """Return random fleets whose pods ask for memory of their nodes too: mostly that is what they lack."""
    chance = random.Random(seed)  # noqa: S311 - a fixed seed is the point
    for number in range(FLEETS_OF_MEMORY):
        nodes, gib = chance.randint(1, 3), chance.choice((64, 100, 1007))
        demands = {}
        for place in range(chance.randint(3, 5)):
            part = chance.choice((0, 2, 3, 3, 5))
            asked = gib // part + chance.choice((0, 0, 1)) if part else 0
            demands[f"d{place}"] = Demand(chance.choice((1, 1, 2)), chance.choice((1, 1, 2)), gib=asked)
        yield Trial(plane.sites[("east", "west")[number % 2]], FLEETS + number, nodes, 8, demands, gib)


def trials_of_pods(plane: ControlPlane, seed: int) -> Iterator[Trial]:
    """Return random fleets of gangs whose workers claim nothing, on nodes that run few pods: mostly they lack slots."""
    chance = random.Random(seed)  # noqa: S311 - a fixed seed is the point
    for number in range(FLEETS_OF_PODS):
        nodes, pods = chance.randint(1, 2), chance.randint(3, 5)
        demands = {
            f"d{place}": Demand(chance.choice((1, 1, 2)), idle=chance.choice((0, 1, 2, 3)))
            for place in range(chance.randint(3, 4))
        }
        site = plane.sites[("east", "west")[number % 2]]
        yield Trial(site, FLEETS + FLEETS_OF_MEMORY + number, nodes, 2, demands, pods_each=pods)


@pytest.mark.proves("P59")
@pytest.mark.long
def test_everything_placed_is_bound_and_few_refusals_were_needless(fleet: Fleet) -> None:
    _play(fleet, list(trials(fleet.plane, seed=1)), "devices")


@pytest.mark.long
def test_everything_placed_is_bound_where_pods_request_memory(fleet: Fleet) -> None:
    _play(fleet, list(trials_of_memory(fleet.plane, seed=2)), "memory")


@pytest.mark.proves("P60")
@pytest.mark.long
def test_everything_placed_is_bound_where_the_number_of_pods_fills_nodes(fleet: Fleet) -> None:
    _play(fleet, list(trials_of_pods(fleet.plane, seed=3)), "pods")


def _play(fleet: Fleet, everything: list[Trial], what: str) -> None:
    bound: list[tuple[Trial, Demand]] = []
    for start in range(0, len(everything), AT_ONCE):
        some = everything[start : start + AT_ONCE]
        for trial in some:
            trial.apply()
        for trial in some:
            trial.wait_bound()
        bound += _kubernetes_binds(some)
        for trial in some:
            trial.assert_room()
        for trial in some:
            trial.close()
    placed = sum(len(trial.placed) for trial in everything)
    refused = sum(len(trial.refused) for trial in everything)
    needless = [(trial, demand) for trial, demand in bound if not trial.strands(demand)]
    fleet.figures.append(
        f"{what}: {placed} placed, all bound; {refused} refused, of which kube-scheduler binds {len(bound)} "
        f"({len(bound) / refused:.1%}): {len(bound) - len(needless)} as it happens to have arranged the other pods, "
        f"{len(needless)} ({len(needless) / refused:.1%}) however it arranges them"
    )
    assert placed >= len(everything)
    assert refused >= len(everything) // 2
    assert len(needless) / refused <= PRICE, needless


def _kubernetes_binds(some: list[Trial]) -> Iterator[tuple[Trial, Demand]]:
    """Yield which demands that were refused kube-scheduler binds, each alone beside what Modelplane has placed."""
    for turn in range(max(len(trial.refused) for trial in some)):
        tried = [(trial, trial.refused[turn]) for trial in some if turn < len(trial.refused)]
        for trial, demand in tried:
            trial.begin_trying(demand)
        yield from [(trial, demand) for trial, demand in tried if trial.is_bound(demand)]
        for trial, _ in tried:
            trial.clear()
