"""Placements are true: on random fleets everything that is placed is bound, and little is refused that would be."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import click
import pytest

from e2e.fleet import SOON, Fleet
from e2e.harness.api import Kind, condition
from e2e.harness.cluster import namespace
from e2e.harness.control_plane import DEPLOYMENT
from e2e.harness.inference import POD
from e2e.harness.process import eventually
from e2e.scenes import Demand, engine

FLEETS = 50
#: Fleets whose deployments are there at the same time.
AT_ONCE = 10
#: Of what is refused, kube-scheduler may have bound at most this share: the price of being safe.
PRICE = 0.05
NAMESPACE = Kind("v1", "Namespace")


@dataclass(frozen=True)
class Plan:
    """One cluster and what is asked of it, by the name of the deployment."""

    number: int
    nodes: int
    gpus: int
    demands: dict[str, Demand]


def plans(seed: int) -> Iterator[Plan]:
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
        yield Plan(number, nodes, gpus, demands)


def test_everything_placed_is_bound_and_few_refusals_were_needless(
    fleet: Fleet, capsys: pytest.CaptureFixture[str]
) -> None:
    everything = list(plans(seed=1))
    placed = refused = needless = 0
    for start in range(0, FLEETS, AT_ONCE):
        some = everything[start : start + AT_ONCE]
        clusters = {plan.number: _ask(fleet, plan) for plan in some}
        eventually(lambda some=some: _assert_settled(fleet, some), within=2 * SOON)
        for plan in some:
            cluster = clusters[plan.number]
            unplaced = [name for name in plan.demands if fleet.counts(name) == (0, 0)]
            _assert_bound(fleet, cluster, [plan.demands[name] for name in plan.demands if name not in unplaced])
            placed += len(plan.demands) - len(unplaced)
            refused += len(unplaced)
            needless += sum(_kubernetes_binds(fleet, cluster, plan.demands[name]) for name in unplaced)
            for name in plan.demands:
                fleet.plane.hub.api.delete(DEPLOYMENT, name, fleet.tag)
    share = needless / refused
    with capsys.disabled():
        click.echo(
            f"\n{placed} placed and bound; {refused} refused, kube-scheduler binds {needless} of them ({share:.1%})"
        )
    assert share <= PRICE


def _ask(fleet: Fleet, plan: Plan) -> str:
    """Make the plan's cluster and deployments; return the cluster's name."""
    site = ("east", "west")[plan.number % 2]
    cluster = fleet.add_cluster(site, nodes=plan.nodes, gpus=plan.gpus, suffix=f"-{plan.number}")
    for name, demand in plan.demands.items():
        selector = {"matchLabels": {"name": cluster}}
        fleet.deploy(name, clusterSelector=selector, engines=[engine(demand.gpus, demand.copies, demand.workers)])
    return cluster


def _assert_settled(fleet: Fleet, some: list[Plan]) -> None:
    for name in (name for plan in some for name in plan.demands):
        found = fleet.deployment(name)
        refused = condition(found, "ReplicasScheduled").get("reason") == "InsufficientCapacity"
        assert fleet.counts(name) == (1, 1) or (refused and fleet.counts(name) == (0, 0)), found.get("status")


def _assert_bound(fleet: Fleet, cluster: str, demands: list[Demand]) -> None:
    pods = fleet.pods(cluster)
    assert len(pods) == sum(demand.pods for demand in demands)
    assert all(pod["spec"].get("nodeName") for pod in pods)


def _kubernetes_binds(fleet: Fleet, cluster: str, demand: Demand) -> bool:
    """Return whether kube-scheduler binds all pods of a demand beside what runs; they are taken away again."""
    api, tried = fleet.clusters[cluster].cluster.api, f"try-{fleet.tag}"
    api.apply(namespace(tried))
    for manifest in demand.manifests(tried, cluster):
        api.apply(manifest)

    def decided() -> bool:
        pods = api.list(POD, tried)
        scheduled = [condition(pod, "PodScheduled").get("status") for pod in pods]
        assert len(pods) == demand.pods
        assert None not in scheduled
        return set(scheduled) == {"True"}

    bound = eventually(decided, within=SOON)
    for pod in api.list(POD, tried):
        api.delete(POD, pod["metadata"]["name"], tried)

    def gone() -> None:
        assert not api.list(POD, tried)

    eventually(gone, within=SOON)
    return bound
