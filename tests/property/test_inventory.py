"""The bound of a pool, against the outcome for each single node: whether a pod of the whole node can be bound there."""

from typing import Any

from hypothesis import given

from modelplane.compose_cluster.pool_bounds import find_bound
from modelplane.inventory import Remembered, encode, read_nodes, recall, settle
from modelplane.model.inventory import Inventory
from modelplane.observed.inventory import read_inventory
from property.inventories import WHOLE, faulty, histories, reading

ENTRY: dict[str, Any] = {
    "name": "h100",
    "nodes": 5,
    "devices": [{"name": "gpu", "driver": "gpu.nvidia.com", "count": 2}],
}


def seen(faults: list[str]) -> Any:
    found = reading(faults)
    return read_nodes(found.nodes, found.slices, found.claims, found.pods)


def published(remembered: Remembered, now: int) -> Inventory:
    """Return what the control cluster reads of it."""
    found = read_inventory({"data": {"inventory": encode(remembered, "u", now)}}, "u")
    assert isinstance(found, Inventory), found
    return found


def counted(remembered: Remembered, now: int, declared: int = 5) -> int:
    bound = find_bound({**ENTRY, "nodes": declared}, published(remembered, now), grows=False)
    return declared if bound is None else bound.nodes


@given(faulty)
def test_a_pool_has_the_nodes_on_which_pods_can_be_bound(faults: list[str]) -> None:
    assert counted(settle(None, seen(faults), 0), 0) == sum(fault in WHOLE for fault in faults)


@given(histories())
def test_a_loss_counts_once_it_has_lasted_and_a_gain_at_once(history: list[tuple[int, list[str]]]) -> None:
    count = len(history[0][1])
    remembered, now = settle(None, seen(["whole"] * count), 0), 0
    last_whole = [0] * count
    for seconds, faults in history:
        now += seconds
        # A process that starts anew in between changes nothing.
        remembered = settle(recall(encode(remembered, "u", now), "u"), seen(faults), now)
        last_whole = [now if fault in WHOLE else at for fault, at in zip(faults, last_whole, strict=True)]
        found = counted(remembered, now, count)
        assert found >= sum(fault in WHOLE for fault in faults)
        if all(now - at < 300 for at in last_whole):
            assert found == count
    for _ in range(2):
        now += 300
        remembered = settle(remembered, seen(history[-1][1]), now)
    assert counted(remembered, now, count) == sum(fault in WHOLE for fault in history[-1][1])
