"""Fleets of three teams that have settled, what teams export of them, and a deployment that comes after."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from given.manifests import cluster, deployment, hardware

TEAMS = ("blue", "green", "red")
Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Teams:
    """The manifests of a fleet, the deployment that comes after, and the namespaces of the partial export."""

    fleet: tuple[Manifest, ...]
    newcomer: Manifest
    exported: frozenset[str]


def twins(name: str) -> Manifest:
    """Return an InferenceClass of two entries of four GPUs each that every selector of `deployment` takes for one."""
    found = hardware(name, count=4)
    (gpu,) = found["spec"]["devices"]
    found["spec"]["devices"] = [gpu, {**gpu, "name": "other"}]
    return found


@st.composite
def _deployments(draw: st.DrawFn, name: str, teams: st.SearchStrategy[str], most: int) -> Manifest:
    found = deployment(name, replicas=draw(st.integers(1, most)), gpus=draw(st.sampled_from([1, 2, 4, 8])))
    found["metadata"]["namespace"] = draw(teams)
    return found


@st.composite
def teams(draw: st.DrawFn) -> Teams:
    """Return a fleet of two or three clusters with up to five deployments."""
    clusters = [
        cluster(name, nodes=draw(st.integers(1, 2)), pool=f"{name}-pool")
        for name in draw(st.sampled_from([("east", "west"), ("east", "north", "west")]))
    ]
    for each in clusters:
        each["spec"]["nodePools"] += [{"name": "twins", "className": "twins", "nodeCount": draw(st.integers(1, 2))}]
    names = [f"d{number}" for number in range(draw(st.integers(1, 5)))]
    placed = [draw(_deployments(name, st.sampled_from(TEAMS), 3)) for name in names]
    exported = draw(st.frozensets(st.sampled_from(TEAMS)))
    newcomer = draw(_deployments("newcomer", st.sampled_from([*sorted(exported), "new"]), 4))
    return Teams((hardware(), twins("twins"), *clusters, *placed), newcomer, exported)
