"""The cache keeps what was used last, up to a weight."""

import gc
import threading
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

import pytest

from modelplane.lru import ENTRY, IDLE, FairLru, Lru, owned_by, weigh


def _fill(cache: Lru[str], *keys: str) -> list[str]:
    """Ask for keys of weight 1 in this order, and return those that had to be made."""
    made: list[str] = []

    def make(key: str) -> tuple[str, int]:
        made.append(key)
        return key, 1

    for key in keys:
        assert cache.get(key, partial(make, key)) == key
    return made


def test_what_was_used_longest_ago_is_forgotten_first() -> None:
    assert _fill(Lru[str](2 * (ENTRY + 1)), "a", "b", "a", "c", "a", "b") == ["a", "b", "c", "b"]


def test_a_value_that_is_put_takes_the_place_and_the_weight_of_the_one_before() -> None:
    cache = Lru[str](2 * (ENTRY + 2))
    cache.put("a", "first", 2)
    cache.put("b", "other", 2)
    cache.put("a", "second", 1)
    assert [cache.get(key, lambda: ("made", 1)) for key in ("a", "b", "c", "a", "b")] == [
        "second",
        "other",
        "made",
        "made",
        "made",
    ]


def test_a_value_that_is_found_is_used_and_one_that_is_not_there_is_none() -> None:
    cache = Lru[str](2 * (ENTRY + 1))
    _fill(cache, "a", "b")
    assert (cache.find("a"), cache.find("c")) == ("a", None)
    assert _fill(cache, "c", "a", "b") == ["c", "b"]


def test_a_value_heavier_than_the_limit_is_returned_and_not_kept() -> None:
    cache = Lru[str](ENTRY + 10)
    assert cache.get("big", lambda: ("first", 11)) == "first"
    assert cache.get("big", lambda: ("second", 1)) == "second"


def test_a_failure_to_make_a_value_is_not_kept() -> None:
    cache = Lru[str](ENTRY + 10)
    try:
        cache.get("a", lambda: (_ for _ in ()).throw(KeyError("a")))
    except KeyError:
        assert cache.get("a", lambda: ("made", 1)) == "made"


def _weighed(key: int) -> tuple[int, int]:
    return key, 1


def test_threads_may_share_it() -> None:
    cache = Lru[int](50 * (ENTRY + 1))
    wrong: list[int] = []

    def use() -> None:
        for number in range(2000):
            key = number * 7 % 100
            if cache.get(key, partial(_weighed, key)) != key:
                wrong.append(key)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@dataclass(frozen=True, slots=True)
class _Slotted:
    one: Any
    other: Any


class _Kind(Enum):
    ONE = "a text of some length that is there anyhow"


#: Each makes a value that nothing else refers to.
_MAKERS: dict[str, Callable[[], Any]] = {
    "text": lambda: bytes(10_000).decode(),
    "bytes": lambda: bytes(10_000),
    "list": lambda: [str(number) * 3 for number in range(1000, 1100)],
    "mapping": lambda: {f"key {number}": {"value": [number + 1000]} for number in range(30)},
    "dataclass": lambda: tuple(_Slotted(f"a {number}", frozenset({f"b {number}"})) for number in range(30)),
    "nothing": lambda: None,
}


@pytest.mark.parametrize("make", _MAKERS.values(), ids=_MAKERS)
def test_a_value_weighs_what_it_keeps_alive(make: Callable[[], Any]) -> None:
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    values = [make() for _ in range(20)]
    gc.collect()
    taken = (tracemalloc.get_traced_memory()[0] - before) / 20
    tracemalloc.stop()
    assert 0.75 * taken - 64 <= weigh(values[0]) <= 1.25 * taken + 64


def test_what_is_referred_to_twice_weighs_once_and_enums_weigh_nothing() -> None:
    text = "x" * 10_000
    assert weigh([text, text]) < weigh([text]) + 100
    assert weigh([_Kind.ONE]) == weigh([]) + 8


def test_what_many_results_share_takes_room_in_a_cache_once_and_none_when_the_last_is_evicted() -> None:
    cached: Lru[int] = Lru(10 * ENTRY + 1_000, lambda key: (key[0], 1_000))
    for number in range(9):
        cached.put(("shared", number), number, 0)
    assert [cached.find(("shared", number)) for number in range(9)] == list(range(9))
    cached.put(("other", 0), 0, 0)  # for its shared part two entries go
    assert [cached.find(("shared", number)) for number in range(9)] == [None, None, *range(2, 9)]
    for number in range(10):
        cached.put(("other", number), number, 0)
    assert [cached.find(("other", number)) for number in range(10)] == list(range(10))


def _cycle(cache: Lru[int], keys: range) -> float:
    """Use keys in turn, storing those that are not there, and return the share that was there."""
    found = 0
    for key in keys:
        if cache.find(key) is not None:
            found += 1
        else:
            cache.put(key, key, 0)
    return found / len(keys)


@pytest.mark.parametrize(
    ("keys", "at_least", "at_most"), [(100, 1.0, 1.0), (110, 0.85, 0.91), (200, 0.40, 0.5), (400, 0.12, 0.25)]
)
def test_of_more_than_fits_that_is_used_in_turn_about_as_much_is_found_as_fits(
    keys: int, at_least: float, at_most: float
) -> None:
    cache = Lru[int](100 * ENTRY, admit=8)
    assert _cycle(cache, range(keys)) == 0
    shares = [_cycle(cache, range(keys)) for _ in range(30)]
    assert all(at_least <= share <= at_most for share in shares[10:]), shares


def test_what_is_no_longer_used_makes_room_for_what_is() -> None:
    cache = Lru[int](100 * ENTRY, admit=8)
    _cycle(cache, range(100))
    found = [_cycle(cache, range(1000, 1100)) for _ in range(30)]
    assert found[8] > 0.5
    assert found[-1] > 0.9


def test_a_new_value_of_a_key_is_stored_where_new_keys_are_not() -> None:
    cache = Lru[str](2 * ENTRY, admit=8)
    for key in ("a", "b", "c"):
        cache.put(key, "first", 0)
    cache.put("b", "second", 0)
    assert [cache.find(key) for key in ("a", "b", "c")] == ["first", "second", None]


def _of(owner: str, cache: FairLru[str], *keys: str) -> list[str | None]:
    """Store values of weight 1 for an owner, and return which of them are there in the end."""
    with owned_by(owner):
        for key in keys:
            cache.put(key, key, 1)
    return [cache.find(key) for key in keys]


def test_nothing_that_others_store_evicts_the_fair_share_of_an_owner() -> None:
    cache = FairLru[str](4 * (ENTRY + 1))
    assert _of("a", cache, "a1", "a2") == ["a1", "a2"]
    assert _of("b", cache, *(f"b{at}" for at in range(9)))[-2:] == ["b7", "b8"]
    assert [cache.find(key) for key in ("a1", "a2", "b6")] == ["a1", "a2", None]


def test_of_the_owner_with_most_the_entry_that_was_used_longest_ago_goes() -> None:
    cache = FairLru[str](4 * (ENTRY + 1))
    _of("a", cache, "a1", "a2", "a3")
    _of("b", cache, "b1")
    cache.find("a1")
    _of("b", cache, "b2")
    assert [cache.find(key) for key in ("a1", "a2", "a3", "b1", "b2")] == ["a1", None, "a3", "b1", "b2"]


def test_an_entry_is_found_by_all_owners_and_counts_for_the_first() -> None:
    cache = FairLru[str](4 * (ENTRY + 1))
    _of("a", cache, "both", "a1", "a2")
    _of("b", cache, "both", "b1", "b2")
    assert [cache.find(key) for key in ("both", "a1", "a2", "b1", "b2")] == ["both", None, "a2", "b1", "b2"]


def test_what_an_owner_no_longer_uses_makes_room_once_the_cache_was_filled_several_times() -> None:
    cache = FairLru[str](4 * (ENTRY + 1))
    _of("idle", cache, "old")
    for at in range(IDLE * 4 - 1):
        assert _of("a", cache, f"a{at}") == [f"a{at}"]
    assert _of("a", cache, "a1", "a2", "a3", "a4") == ["a1", "a2", "a3", "a4"]
    assert cache.find("old") is None


def test_a_value_too_heavy_for_all_owners_is_not_kept_and_evicts_nothing_of_others() -> None:
    cache = FairLru[str](4 * (ENTRY + 1))
    _of("a", cache, "a1")
    with owned_by("b"):
        cache.put("heavy", "x", 5 * ENTRY)
    assert (cache.find("a1"), cache.find("heavy")) == ("a1", None)
