"""What stamped replicas are charged with, and the room per pool that is left beside them."""

from dataclasses import replace

import pytest

from modelplane.model.deployment import Profile, Role
from modelplane.model.fleet import Device
from modelplane.model.replica import Claim, StampedEngine, StampedMember
from modelplane.scheduling import DeviceRoom, PoolRoom, capacity
from modelplane.scheduling.matching.options import Options
from modelplane.scheduling.pools.hardware import MOST_DEVICES, hardware
from modelplane.scheduling.room.charge import demand, engine_group
from modelplane.scheduling.search_budget import SearchBudget
from unit.scheduling.scene import ANY, GPU, cluster, gpu, memory, nic, pool, replica, request, stamped, standalone

BIG, SMALL = gpu(2, 141, "big"), gpu(4, 24, "small")


def claim(count: int, *selectors: str, device_class: str = GPU) -> Claim:
    return Claim("gpu", device_class, count, selectors)


def charged(devices: tuple[Device, ...], *claims: Claim) -> tuple[tuple[int, int], ...]:
    return demand(claims, hardware(devices))


def test_a_claim_that_one_entry_satisfies_surely_takes_its_count_there() -> None:
    assert charged((BIG, SMALL, nic()), claim(2, memory("141Gi"))) == ((2, 2), (0, 0), (0, 0))


@pytest.mark.proves("R29")
def test_a_claim_that_several_entries_satisfy_charges_each_of_them() -> None:
    assert charged((BIG, SMALL), claim(2, ANY)) == ((0, 2), (0, 2))
    assert charged((BIG, SMALL), claim(2)) == ((0, 2), (0, 2))


def test_a_pod_takes_no_more_of_an_entry_than_a_node_has() -> None:
    assert charged((BIG, SMALL), claim(2, memory("141Gi")), claim(2, ANY)) == ((2, 2), (0, 2))


def test_a_claim_of_another_class_takes_nothing() -> None:
    assert charged((BIG,), claim(1, ANY, device_class="other")) == ((0, 0),)


def test_a_claim_that_no_entry_of_its_class_satisfies_any_more_still_holds_what_it_was_given() -> None:
    assert charged((BIG, SMALL), claim(2, memory("999Gi"))) == ((0, 2), (0, 2))


#: Takes more states than are looked at when a pod is charged.
NUMBERS = list(range(1, 31))
LONG = f"{NUMBERS}.all(a, {NUMBERS}.all(b, a * b > 0)) && {memory('141Gi')}"


@pytest.mark.proves("R29")
def test_a_claim_whose_selectors_take_long_is_charged_with_every_entry_of_its_class_and_so_is_what_is_matched() -> None:
    other = gpu(3, 141, "other", device_class="other")
    assert charged((BIG, SMALL, other), claim(2, memory("141Gi"))) == ((2, 2), (0, 0), (0, 0))
    assert charged((BIG, SMALL, other), claim(2, LONG)) == ((0, 2), (0, 2), (0, 0))
    options = (
        Options(Profile((standalone(request(2, LONG)),)), SearchBudget())
        .match(0, hardware((BIG, SMALL, other)))
        .options
    )
    assert [each.group for each in options] == [((((0, 2), (0, 2), (0, 0)), 1),), ((((0, 0), (0, 0), (2, 2)), 1),)]


def test_the_pods_of_all_copies_are_one_group_in_which_those_without_devices_are_counted() -> None:
    leader = StampedMember(Role.LEADER, "x", 1)
    worker = StampedMember(Role.WORKER, "x", 3, (claim(1, ANY),))
    engine = StampedEngine("main", (leader, worker), copies=2)
    assert engine_group(engine, "x", hardware((gpu(8),))) == (((), 2), (((1, 1),), 6))
    assert engine_group(engine, "y", hardware((gpu(8),))) == ()


def test_an_absurd_count_of_devices_costs_no_memory() -> None:
    assert hardware((gpu(10**12),)).counts == (MOST_DEVICES,)


def test_capacity_tells_the_nodes_that_are_surely_free_and_the_devices_that_no_replica_was_promised() -> None:
    there = cluster("a", pool(3, gpu(8), nic(), name="x"), pool(1, gpu(4), name="y"))
    held = [replica(None, f"a/{index}", stamped(count=4)) for index in range(2)]
    gone = replace(replica(None, "a/2"), cluster="elsewhere")
    assert capacity([there], [*held, gone]) == (
        PoolRoom("a", "x", nodes=3, free_nodes=1, devices=(DeviceRoom("gpu", total=24, free=16),)),
        PoolRoom("a", "y", nodes=1, free_nodes=1, devices=(DeviceRoom("gpu", total=4, free=4),)),
    )
    assert capacity([replace(there, pools=None)], held) == ()
