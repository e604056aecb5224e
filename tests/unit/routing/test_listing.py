"""Which endpoints take requests, and how the Backends of a service share them: the rules one by one."""

import pytest

from modelplane.model.routing import Address, Copies, Endpoint, ServiceEntry
from modelplane.routing.backends import plan_backends
from modelplane.routing.listing import list_endpoints

READY, NOT_READY, LEAVING, UNREACHABLE = "ready", "not ready", "leaving", "unreachable"
MOST, FEW = "most of its copies", "few of its copies"


def endpoint(name: str, state: str) -> Endpoint:
    reached = None if state == UNREACHABLE else Address(name, "gw.example.org", 443)
    copies = {MOST: Copies.MOST, FEW: Copies.FEW}.get(state, Copies.ALL)
    return Endpoint(name, {}, reached, ready=state != NOT_READY, leaving=state == LEAVING, copies=copies)


#: The states of endpoints a, b and c, those that are listed now, and those that are listed from now on.
CASES = {
    "all are ready": ((READY, READY, READY), "", "abc"),
    "one that is not ready leaves": ((READY, NOT_READY, READY), "abc", "ac"),
    "the last that is ready stays alone": ((NOT_READY, NOT_READY, READY), "abc", "c"),
    "a leaving one goes beside another": ((READY, LEAVING, NOT_READY), "abc", "a"),
    "a leaving one stays where there is no other": ((NOT_READY, LEAVING, NOT_READY), "abc", "b"),
    "none is ready: the last known set stays": ((NOT_READY, NOT_READY, NOT_READY), "bc", "bc"),
    "none has ever been ready": ((NOT_READY, NOT_READY, NOT_READY), "", ""),
    "what cannot be reached is never listed": ((UNREACHABLE, NOT_READY, NOT_READY), "a", ""),
    "one with few copies leaves beside one with all": ((READY, FEW, MOST), "abc", "ac"),
    "one with few copies stays where none has all": ((NOT_READY, FEW, MOST), "abc", "bc"),
    "one with few copies comes back before a leaving one takes requests": ((NOT_READY, FEW, LEAVING), "abc", "b"),
    "one with few copies stays beside a leaving one that has all": ((LEAVING, FEW, UNREACHABLE), "a", "b"),
}


@pytest.mark.parametrize(("states", "listed", "expected"), CASES.values(), ids=CASES)
def test_an_endpoint_is_listed_by_its_state_and_that_of_the_others(
    states: tuple[str, str, str], listed: str, expected: str
) -> None:
    endpoints = [endpoint(name, state) for name, state in zip("abc", states, strict=True)]
    assert {each.hostname for each in list_endpoints([endpoints], set(listed))} == set(expected)


def test_an_endpoint_with_few_copies_is_left_out_for_one_of_its_own_entry_and_never_for_the_fallback() -> None:
    primary, fallback = [endpoint("a", FEW)], [endpoint("b", READY)]
    listed = list_endpoints([primary, fallback], set())
    assert {each.hostname for each in listed} == {"a", "b"}


def addresses(count: int) -> tuple[Address, ...]:
    return tuple(Address(f"e-{number}", "gw.example.org", 443) for number in range(count))


#: Weight, priority and endpoints of entries; key, size, weight and tier of their Backends; what is left out.
BACKENDS = {
    "90 to 10": ([(90, 0, 1), (10, 0, 7)], [("0-0", 1, 90, False), ("1-0", 7, 10, False)], {}),
    "an entry without endpoints": ([(90, 0, 0), (10, 0, 1)], [("1-0", 1, 10, False)], {}),
    "a fallback beside a primary": ([(1, 0, 1), (1, 1, 1)], [("0-0", 1, 1, False), ("fallback-1-0", 1, 1, True)], {}),
    "a fallback alone": ([(1, 0, 0), (1, 1, 1)], [("1-0", 1, 1, False)], {}),
    "257 endpoints": (
        [(3, 0, 257), (1, 0, 1)],
        [("0-0", 129, 387, False), ("0-1", 128, 384, False), ("1-0", 1, 257, False)],
        {},
    ),
    "a weight over the limit": (
        [(1_000_000, 0, 512), (500_000, 0, 1)],
        [("0-0", 256, 500_000, False), ("0-1", 256, 500_000, False), ("1-0", 1, 500_000, False)],
        {},
    ),
    "a share over the limit": (
        [(1_000_000, 0, 257), (1, 0, 1)],
        [("0-0", 129, 1_000_000, False), ("0-1", 128, 992_248, False), ("1-0", 1, 2, False)],
        {},
    ),
    "more than 16 Backends": (
        [(1, 0, 1), (15, 0, 16 * 256)],
        [("0-0", 1, 1, False), *((f"1-{part}", 256, 1, False) for part in range(15))],
        {"1": 256},
    ),
}


@pytest.mark.parametrize(("entries", "planned", "left_out"), BACKENDS.values(), ids=BACKENDS)
def test_the_backends_of_entries(
    entries: list[tuple[int, int, int]], planned: list[tuple[str, int, int, bool]], left_out: dict[str, int]
) -> None:
    given = [ServiceEntry(str(n), {}, weight, priority) for n, (weight, priority, _) in enumerate(entries)]
    result = plan_backends(given, [addresses(count) for *_, count in entries])
    assert [(plan.key, len(plan.endpoints), plan.weight, plan.fallback) for plan in result.plans] == planned
    assert result.left_out == left_out


def test_entries_with_the_same_selector_leave_none_of_their_endpoints_out() -> None:
    given = [ServiceEntry("same", {}), ServiceEntry("same", {}, weight=3)]
    result = plan_backends(given, [addresses(3), ()])
    assert [(plan.key, len(plan.endpoints)) for plan in result.plans] == [("same-0", 3)]
    assert result.left_out == {}
