"""Nodes of a pool with what is wrong with each, and how that comes and goes, as test inputs."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from unit.inventory.clusters import claim, devices, gpu, node, pod

#: What can be wrong with a node of two GPUs.
FAULTS = ("whole", "gone", "unlabelled", "not Ready", "cordoned", "fewer", "unhealthy", "used", "ours", "shared slice")
#: Those with which pods can be bound there.
WHOLE = ("whole", "ours")


@dataclass(frozen=True)
class Reading:
    """What the API server lists."""

    nodes: list[dict[str, Any]]
    slices: list[dict[str, Any]]
    claims: list[dict[str, Any]]
    pods: list[dict[str, Any]]


def reading(faults: list[str]) -> Reading:
    """Return the objects of a cluster whose nodes have these faults."""
    found = Reading([], [], [], [])
    for index, fault in enumerate(faults):
        name = f"n{index}"
        if fault == "gone":
            continue
        cordon = {"unschedulable": True} if fault == "cordoned" else {}
        found.nodes.append(node(name, None if fault == "unlabelled" else "h100", ready=fault != "not Ready", **cordon))
        taints: dict[str, Any] = {"taints": [{"key": "xid", "effect": "NoSchedule"}]} if fault == "unhealthy" else {}
        gpus = [gpu("gpu-0")] if fault == "fewer" else [gpu("gpu-0"), gpu("gpu-1", **taints)]
        found.slices.append(devices(name, *gpus, slices=2 if fault == "shared slice" else 1))
        if fault in ("used", "ours"):
            found.claims.append(claim(f"c{index}", name, pod=f"{fault}-{index}"))
        if fault == "ours":
            found.pods.append(pod(f"{fault}-{index}"))
    return found


#: The faults of up to five nodes.
faulty = st.lists(st.sampled_from(FAULTS), max_size=5)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[int, list[str]]]:
    """Return readings of four nodes: seconds since the last one, and the faults of each."""
    count = draw(st.integers(1, 4))
    of_all = st.lists(st.sampled_from(FAULTS), min_size=count, max_size=count)
    return draw(st.lists(st.tuples(st.integers(1, 200), of_all), min_size=1, max_size=25))
