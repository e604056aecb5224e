"""The oracles themselves, against the worked cases of the rules and against one another."""

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from modelplane.model.deployment import Deployment, DeviceRequest, Engine, Member, Profile, Role
from modelplane.model.fleet import Attribute, ClaimKind, Cluster, Device, Pool
from modelplane.model.replica import Claim, Replica
from property.oracles.arrangements import stranded
from property.oracles.ending import faults_of_scale_down
from property.oracles.placing import admissible, how_many_more, pools_of
from property.oracles.room import Group, has_room
from property.oracles.selectors import ANY_GPU, GPU, MEMORY_80, MODEL_A, NIC
from property.strategies import examples


def gpu(name: str = "gpu", count: int = 8, model: str = "a", memory: str = "80Gi") -> Device:
    return Device(
        name,
        GPU,
        "gpu",
        count,
        attributes=(Attribute("model", "string", model),),
        capacity=(("memory", memory),),
    )


def claims(count: int, *selectors: str) -> tuple[Claim, ...]:
    return (Claim("gpu", "gpu", count, selectors or (ANY_GPU,)),)


def alone(count: int, pods: int = 1) -> Group:
    return (claims(count),) * pods


ROOM: dict[str, tuple[int, int, list[Group], bool]] = {
    "eight of one GPU fill a node of eight": (1, 8, [alone(1)] * 8, True),
    "the ninth does not fit": (1, 8, [alone(1)] * 9, False),
    "one GPU in use leaves no whole node of one": (1, 8, [alone(1), alone(8)], False),
    "one GPU in use leaves a whole node of two": (2, 8, [alone(1), alone(8)], True),
    "four halves fill two nodes": (2, 8, [alone(4)] * 4, True),
    "a fifth half does not fit": (2, 8, [alone(4)] * 5, False),
    "two halves can block two of three nodes": (3, 8, [alone(4)] * 2 + [alone(8)], True),
    "and then a second whole one has no node": (3, 8, [alone(4)] * 2 + [alone(8)] * 2, False),
    "three copies need three nodes": (2, 8, [alone(1, 3)], False),
    "three nodes take three copies": (3, 8, [alone(1, 3)], True),
    "two pairs of copies share two nodes": (2, 2, [alone(1, 2)] * 2, True),
    "no nodes host nothing": (0, 8, [alone(1)], False),
}


@pytest.mark.parametrize("case", ROOM)
def test_the_rule_of_room_gives_the_worked_results(case: str) -> None:
    nodes, count, groups, expected = ROOM[case]
    pool = Pool("x", nodes, (gpu(count=count),))
    assert has_room(pool, groups) is expected
    if expected:
        assert stranded(pool, groups) is None


def test_a_request_charges_every_entry_that_it_matches() -> None:
    groups: list[Group] = [(claims(1),), (claims(1, MEMORY_80),)]
    for nodes, safe in ((1, False), (2, True)):
        pool = Pool("x", nodes, (gpu("big", 1, memory="80Gi"), gpu("small", 1, memory="40Gi")))
        assert has_room(pool, groups) is safe
        assert (stranded(pool, groups) is None) is safe


def test_a_request_may_be_split_over_the_entries_of_its_class_that_it_matches() -> None:
    pool = Pool("x", 3, (gpu("big", 3), gpu("small", 1, model="b")))
    others: list[Group] = [(claims(2),), (claims(2),)]
    for copies, safe in ((2, True), (3, False)):
        groups = [*others, (claims(1, MODEL_A),) * copies]
        assert (stranded(pool, groups) is None) is safe
        assert has_room(pool, groups) is safe


def _claim(kind: str, count: int) -> Claim:
    return Claim(kind, kind, count)


@given(st.data())
@examples(60)
def test_the_rule_strands_nothing_where_entries_do_not_overlap(data: st.DataObject) -> None:
    pool = Pool(
        "x",
        data.draw(st.integers(1, 4)),
        tuple(Device(kind, kind, kind, data.draw(st.integers(1, 4))) for kind in ("k0", "k1", "k2")),
    )
    taken = [st.integers(0, device.count).map(partial(_claim, device.name)) for device in pool.devices]
    pods = st.tuples(*taken).map(lambda all_: tuple(c for c in all_ if c.count)).filter(bool)
    groups = data.draw(st.lists(st.lists(pods, min_size=1, max_size=2).map(tuple), min_size=1, max_size=5))
    assume(has_room(pool, groups))
    assert stranded(pool, groups) is None


def deployment(*engines: Engine) -> Deployment:
    return Deployment("team", "model", "owner", (Profile(engines),))


def engine(name: str, *selectors: str, count: int = 8) -> Engine:
    return Engine(name, (Member(Role.STANDALONE, 1, (DeviceRequest("gpu", count, selectors or (ANY_GPU,)),)),))


@pytest.mark.parametrize("names", [("p", "q"), ("q", "p")])
def test_the_search_is_exact_in_either_order_of_engines(names: tuple[str, ...]) -> None:
    both = {"p": engine("p"), "q": engine("q", MEMORY_80)}
    cluster = Cluster("c", pools=(Pool("x", 1, (gpu(),)), Pool("y", 1, (gpu(memory="40Gi"),))))
    way = next(admissible(cluster, deployment(*(both[name] for name in names)), ()))
    assert {e.name: e.pool for e in way} == {"p": "y", "q": "x"}


def test_pools_are_tried_in_declared_order() -> None:
    cluster = Cluster("c", pools=(Pool("l4", 1, (gpu(),)), Pool("h100", 1, (gpu(),))))
    first = next(admissible(cluster, deployment(engine("e")), ()))
    assert pools_of(first) == ("l4",)
    held = [Replica("team", "r", "r", "c", first)]
    assert pools_of(next(admissible(cluster, deployment(engine("e")), held))) == ("h100",)
    assert how_many_more(cluster, deployment(engine("e")), held, 9) == 1


def test_two_requests_share_an_entry_while_it_lasts() -> None:
    cluster = Cluster("c", pools=(Pool("x", 1, (gpu(),)),))
    for count, found in ((4, 1), (5, 0)):
        asked = tuple(DeviceRequest(name, count, (ANY_GPU,)) for name in ("left", "right"))
        wanted = deployment(Engine("e", (Member(Role.STANDALONE, 1, asked),)))
        assert len(list(admissible(cluster, wanted, ()))) == found


def test_what_matches_only_synthetic_devices_is_not_placed() -> None:
    nic = Device("nic", NIC, None, 1, ClaimKind.SYNTHETIC)
    cluster = Cluster("c", pools=(Pool("x", 1, (gpu(), nic)),))
    request = DeviceRequest("nic", 1, (f'device.driver == "{NIC}"',))
    alone_ = deployment(Engine("e", (Member(Role.STANDALONE, 1, (request,)),)))
    assert list(admissible(cluster, alone_, ())) == []
    both = Member(Role.STANDALONE, 1, (request, DeviceRequest("gpu", 1, (ANY_GPU,))))
    (way,) = admissible(cluster, deployment(Engine("e", (both,))), ())
    assert [claim.name for claim in way[0].members[0].claims] == ["gpu"]


#: Of four replicas, one of which has crashed and one of which never served: which two are kept, and what is wrong.
KEPT = {
    "the two that serve": (("a-0", "b-3"), []),
    "two of one cluster": (("a-0", "a-1"), ["a-0 is kept for b-3", "a-1 is kept for b-3"]),
    "the higher index": (("a-1", "b-3"), ["a-1 is kept for a-0"]),
    "one that has crashed": (("a-0", "b-4"), ["(1, 2, 1, 1) are left, and (2, 2, 2, 2) could be"]),
    "one that never served": (("a-0", "b-5"), ["(1, 1, 1, 1) are left, and (2, 2, 2, 2) could be"]),
    "too few": (("a-0",), ["1 of 2 are kept"]),
}


@pytest.mark.parametrize(("kept", "faults"), KEPT.values(), ids=KEPT)
def test_scale_down_has_a_fault_if_fewer_serve_than_could_or_clusters_are_uneven(
    kept: tuple[str, ...], faults: list[str]
) -> None:
    places = (("a", 0), ("a", 1), ("b", 3), ("b", 4), ("b", 5))
    own = [
        Replica("team", f"{at}-{index}", f"{at}-{index}", at, (), index=index, has_served=True) for at, index in places
    ]
    own[3] = replace(own[3], ready=False)
    own[:3] = [replace(each, ready=True) for each in own[:3]]
    own[4] = replace(own[4], has_served=False)
    assert faults_of_scale_down(2, own, [each for each in own if each.name in kept], {}) == faults
