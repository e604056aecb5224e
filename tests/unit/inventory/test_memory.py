"""What counts of a node: a loss after five minutes, a gain at once, whatever happens to the process meanwhile."""

from dataclasses import replace

import pytest

from modelplane.inventory import NodeKey, Remembered, encode, inventory_of, recall, settle
from modelplane.model.inventory import LARGEST, NodeState, PublishedDevices
from modelplane.model.resources import Resources
from modelplane.observed.inventory import read_inventory
from unit.inventory.clusters import UID

TWO = PublishedDevices("gpu.nvidia.com", 2, (("gpu.nvidia.com/productName", "string", "H100"),))
WHOLE = NodeState(allocatable=Resources(8000, 2**36), pods=110, devices=(TWO,))
A: NodeKey = ("h100", "a")

#: States with less than WHOLE.
LESS: dict[str, NodeState | None] = {
    "gone": None,
    "not Ready": replace(WHOLE, ready=False),
    "a device fewer": replace(WHOLE, devices=(replace(TWO, count=1),)),
    "an unhealthy device": replace(WHOLE, devices=(replace(TWO, unhealthy=1),)),
    "another product": replace(WHOLE, devices=(replace(TWO, attributes=()),)),
    "used by others": replace(WHOLE, used_by="lab/c"),
    "less memory": replace(WHOLE, allocatable=Resources(8000, 2**35)),
    "fewer pods": replace(WHOLE, pods=29),
    "a taint": replace(WHOLE, taints=("team=x:NoSchedule",)),
}


def seen(state: NodeState | None) -> dict[NodeKey, NodeState]:
    return {A: state} if state else {}


@pytest.mark.parametrize("less", LESS.values(), ids=LESS)
def test_a_loss_counts_after_five_minutes(less: NodeState | None) -> None:
    found = settle(None, seen(WHOLE), 1000)
    for now in (1100, 1200, 1399):
        found = settle(found, seen(less), now)
        assert found.counted == seen(WHOLE)
    assert settle(found, seen(less), 1400).counted == seen(less)


@pytest.mark.parametrize("less", [less for name, less in LESS.items() if name != "another product"])
def test_a_gain_counts_at_once(less: NodeState | None) -> None:
    found = settle(settle(None, seen(less), 1000), seen(WHOLE), 1001)
    assert found.counted == seen(WHOLE)
    assert not found.losses


@pytest.mark.parametrize("less", LESS.values(), ids=LESS)
def test_a_node_that_is_whole_again_begins_anew(less: NodeState | None) -> None:
    found = settle(None, seen(WHOLE), 1000)
    for now in range(1010, 5000, 10):
        found = settle(found, seen(WHOLE if now % 290 == 0 else less), now)
        assert found.counted == seen(WHOLE)


def test_a_process_that_starts_anew_goes_on_where_the_last_one_ended() -> None:
    before = settle(settle(None, seen(WHOLE), 1000), {}, 1400)
    document = encode(before, UID, 1400)
    after = recall(document, UID)
    assert after == before
    assert settle(after, {}, 1699).counted == seen(WHOLE)
    assert settle(after, {}, 1700).counted == {}


def test_one_that_knows_nothing_waits_before_what_is_missing_counts() -> None:
    first = settle(None, {}, 1000)
    assert not inventory_of(first, UID, 1000).settled
    assert not inventory_of(settle(first, {}, 1299), UID, 1299).settled
    assert inventory_of(settle(first, {}, 1300), UID, 1300).settled


@pytest.mark.parametrize("document", ["", "{", "[]", '{"version":2}', encode(Remembered(1), "another", 1)])
def test_what_another_process_has_left_is_not_remembered_unless_it_is_understood(document: str) -> None:
    assert recall(document, UID) is None


def test_what_is_written_is_what_is_read() -> None:
    states = [state for state in LESS.values() if state] + [WHOLE]
    remembered = Remembered(0, {("h100", str(index)): state for index, state in enumerate(states)})
    found = read_inventory({"data": {"inventory": encode(remembered, UID, 600)}}, UID)
    assert not isinstance(found, str)
    assert (found.uid, found.at, found.settled) == (UID, 600, True)
    assert dict(found.nodes("h100")) == dict.fromkeys(states, 1)


def test_a_document_without_room_for_names_says_what_nodes_have_and_is_not_remembered() -> None:
    remembered = Remembered(0, {("h100", f"{index:060}"): WHOLE for index in range(3000)})
    document = encode(remembered, UID, 600)
    assert len(document) <= LARGEST
    assert recall(document, UID) is None
    found = read_inventory({"data": {"inventory": document}}, UID)
    assert not isinstance(found, str)
    assert found.nodes("h100") == ((WHOLE, 3000),)


def test_one_without_room_for_all_states_says_so() -> None:
    states = {("h100", str(index)): replace(WHOLE, taints=(f"{'k' * 60}={index}:NoSchedule",)) for index in range(2000)}
    document = encode(Remembered(0, states), UID, 600)
    assert len(document) <= LARGEST
    assert read_inventory({"data": {"inventory": document}}, UID) == (
        "ConfigMap modelplane-inventory/modelplane-inventory, key inventory: 2000 different states of nodes in 1 pools "
        "are more than a document holds"
    )
