"""Matching a member to the device entries of a node, and the reason where it does not match."""

from dataclasses import dataclass

import pytest

from modelplane.model.deployment import Member, Role
from modelplane.model.fleet import ClaimKind, Device
from modelplane.model.refusal import Closest, NoDevice, Refusal, SelectorError, TooFewDevices
from modelplane.scheduling.matching import choices
from modelplane.scheduling.pools.hardware import hardware
from modelplane.scheduling.search_budget import OutOfStatesError
from unit.scheduling.scene import ANY, GPU, NIC, gpu, match, memory, model, nic, request


def ways(devices: tuple[Device, ...], *requests: tuple[int, tuple[str, ...]]) -> list[list[str]] | Refusal:
    """Return the classes that each way claims, or the refusal."""
    wanted = tuple(request(count, *selectors, name=f"r{at}") for at, (count, selectors) in enumerate(requests))
    found = match(Member(Role.STANDALONE, 1, wanted), hardware(devices))
    return found if isinstance(found, Refusal) else [[claim.device_class for claim in each.claims] for each in found]


@dataclass(frozen=True)
class Case:
    """Entries of a node, requests (count, selectors), and the ways to claim or the refusal."""

    rule: str
    devices: tuple[Device, ...]
    requests: tuple[tuple[int, tuple[str, ...]], ...]
    then: list[list[str]] | Refusal


RED, BLUE = gpu(2, name="red", device_class="red", model="red"), gpu(2, name="blue", device_class="blue", model="blue")
BARE = gpu(2, name="bare", device_class="red", model="")
OTHER_BARE = gpu(2, name="bare", device_class="bare", model="")
MISSING = f"no such key: model (no attributes of {GPU} here)"

CASES = [
    Case("a member without requests matches anything", (), (), [[]]),
    Case("every class that a request can be claimed from is a way", (RED, BLUE), ((1, (ANY,)),), [["red"], ["blue"]]),
    Case("entries of one class are one way", (gpu(1, 80, "a"), gpu(1, 24, "b")), ((1, (ANY,)),), [[GPU]]),
    Case("requests share an entry while it lasts", (RED,), ((1, (ANY,)), (1, (ANY,))), [["red", "red"]]),
    Case(
        "the request that can go elsewhere makes way",
        (RED, BLUE),
        ((2, (ANY,)), (2, (model("red"),))),
        [["blue", "red"]],
    ),
    Case("nothing fits on its own", (RED,), ((3, (ANY,)),), TooFewDevices("main", "r0", 2, 3)),
    Case("nothing fits together", (RED,), ((1, (ANY,)), (2, (ANY,))), TooFewDevices("main", "r1", 1, 2)),
    Case(
        "enough in all, but in no one entry",
        (RED, BLUE),
        ((1, (ANY,)), (1, (ANY,)), (2, (ANY,))),
        [["red", "red", "blue"]],
    ),
    Case("a synthetic entry is matched and claims nothing", (nic(), RED), ((1, (NIC,)), (1, (ANY,))), [["red"]]),
    Case(
        "no entry satisfies all selectors: the closest device",
        (gpu(1, 24), gpu(1, 40, "b")),
        ((1, (ANY, memory("80Gi"))),),
        NoDevice("main", "r0", 1, Closest("memory >= 80Gi", f"{GPU}, b", "40Gi")),
    ),
    Case(
        "the selector that came furthest is named",
        (RED, nic(1, ClaimKind.DRA)),
        ((1, (ANY, model("green"))),),
        NoDevice("main", "r0", 1, Closest('model == "green"', f"{GPU}, red", "red")),
    ),
    Case("no devices at all", (), ((1, (ANY,)),), NoDevice("main", "r0", 0)),
    Case("an error on a device means not this device", (OTHER_BARE, RED), ((1, (model("red"),)),), [["red"]]),
    Case(
        "an error within the class that would be claimed rules the pool out",
        (RED, BARE),
        ((1, (model("red"),)),),
        SelectorError(model("red"), "bare", MISSING),
    ),
    Case(
        "a guard before it avoids the error",
        (RED, BARE),
        ((1, (memory("999Gi"), model("red"))),),
        NoDevice("main", "r0", 0, Closest("memory >= 999Gi", f"{GPU}, red", "80Gi")),
    ),
    Case(
        "a class without an error is claimed instead",
        (RED, BARE, BLUE),
        ((1, ('device.attributes["gpu.nvidia.com"].model != "x"',)),),
        [["blue"]],
    ),
    Case(
        "an error on a synthetic entry rules nothing out",
        (RED, Device("bare", GPU, None, 1, ClaimKind.SYNTHETIC)),
        ((1, (model("red"),)),),
        [["red"]],
    ),
    Case(
        "errors on every device are said",
        (OTHER_BARE,),
        ((1, (model("red"),)),),
        NoDevice("main", "r0", 0, Closest('model == "red"', f"{GPU}, bare", error=MISSING)),
    ),
]


@pytest.mark.proves("R14")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.rule)
def test_requests_are_matched_exactly(case: Case) -> None:
    assert ways(case.devices, *case.requests) == case.then


def test_too_many_distinct_demands_are_not_decided() -> None:
    classes = tuple(gpu(16, name=f"d{at}", device_class=f"c{at}") for at in range(12))
    with pytest.raises(OutOfStatesError):
        ways(classes, *((1, (ANY,)) for _ in range(12)))


def test_every_choice_of_classes_that_takes_the_same_is_one_the_first_in_declared_order() -> None:
    classes = tuple(gpu(1, name=f"d{at}", device_class=f"c{at}") for at in range(12))
    assert ways(classes, *((1, (ANY,)) for _ in range(12))) == [[f"c{at}" for at in range(12)]]
    red, blue = (gpu(16, name=name, device_class=name) for name in ("red", "blue"))
    found = ways((red, blue), *((1, (ANY,)) for _ in range(16)))
    assert found == [["red"] * (16 - blues) + ["blue"] * blues for blues in range(17)]


def test_what_the_search_in_order_does_not_finish_is_found_class_by_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "IN_ORDER", 20)
    red, blue = (gpu(16, name=name, device_class=name) for name in ("red", "blue"))
    found = ways((red, blue), *((1, (ANY,)) for _ in range(16)))
    assert not isinstance(found, Refusal)
    assert sorted(each.count("blue") for each in found) == list(range(17))


def test_alike_entries_are_not_distinguished_however_many_there_are() -> None:
    alike = tuple(gpu(1, name=f"d{at}") for at in range(16))
    assert ways(alike, *((1, (ANY,)) for _ in range(16))) == [[GPU] * 16]
    assert ways(alike, *((1, (ANY,)) for _ in range(15)), (2, (ANY,))) == TooFewDevices("main", "r15", 1, 2)


@pytest.mark.proves("R13")
def test_the_order_of_entries_does_not_decide_whether_requests_fit() -> None:
    small, big = gpu(1, 24, "small"), gpu(1, 80, "big")
    requests = (1, (ANY,)), (1, (memory("80Gi"),))
    assert ways((small, big), *requests) == ways((big, small), *requests) == [[GPU, GPU]]
