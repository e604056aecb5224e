"""The cache keeps what was used last, up to a weight."""

import threading
from functools import partial

from modelplane.lru import Lru


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
    assert _fill(Lru[str](2), "a", "b", "a", "c", "a", "b") == ["a", "b", "c", "b"]


def test_a_value_heavier_than_the_limit_is_returned_and_not_kept() -> None:
    cache = Lru[str](10)
    assert cache.get("big", lambda: ("first", 11)) == "first"
    assert cache.get("big", lambda: ("second", 1)) == "second"


def test_a_failure_to_make_a_value_is_not_kept() -> None:
    cache = Lru[str](10)
    try:
        cache.get("a", lambda: (_ for _ in ()).throw(KeyError("a")))
    except KeyError:
        assert cache.get("a", lambda: ("made", 1)) == "made"


def _weighed(key: int) -> tuple[int, int]:
    return key, 1


def test_threads_may_share_it() -> None:
    cache = Lru[int](50)
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
