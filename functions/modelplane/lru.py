"""A least-recently-used cache that is bounded by the weight of its content."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from enum import Enum
from functools import wraps
from gc import get_referents
from sys import getsizeof
from typing import Any, Final, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")


#: Bytes of an entry besides its value: the key, a tuple of short texts, and its places in the table.
ENTRY: Final = 512


#: Types that values refer to without keeping them alive.
_SHARED: Final = (type, Enum)


class Lru(Generic[V]):
    """Values by key, at most `limit` in weight, each entry at least `ENTRY`; threads may share it.

    Weighed, not counted, because objects differ in size by a factor of a hundred. `share` returns, by key, a part that
    entries have in common, and its weight, which is counted once.

    Keys that are used in turn, and do not all fit, would evict each other just before they are used again. With
    `admit`, one of so many new entries for which others would have to go is stored and the rest are not, so that most
    of what is there is found again.
    """

    def __init__(self, limit: int, share: Callable[[Any], tuple[Hashable, int]] | None = None, admit: int = 1) -> None:
        self._share = share
        self._admit = admit
        self._without_room = 0
        self._shared: dict[Hashable, int] = {}
        self._kept: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()
        self.limit: Final = limit
        self._weight = 0

    def get(self, key: Hashable, make: Callable[[], tuple[V, int]]) -> V:
        """Return the value under `key`; when there is none, `make` gives it and its weight.

        Threads that miss at the same time all call `make`, which is pure; no thread waits for another.
        """
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found[0]
        value, weight = make()
        self.put(key, value, weight)
        return value

    def find(self, key: Hashable) -> V | None:
        """Return the value under `key`, None when there is none."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: V, weight: int) -> None:
        """Store a value of this weight under `key`, replacing the present one; see `admit` for a new one."""
        weight += ENTRY
        with self._lock:
            if key not in self._kept and self._weight + weight > self.limit and not self._admitted():
                return
            replaced = self._kept.pop(key, None)
            self._kept[key] = value, weight
            self._weight += weight - replaced[1] if replaced else weight + self._hold(key)
            while self._weight > self.limit:
                evicted, (_, freed) = self._kept.popitem(last=False)
                self._weight -= freed + self._release(evicted)

    def _admitted(self) -> bool:
        """Tell whether a new entry is stored although others have to go for it."""
        self._without_room += 1
        return self._without_room % self._admit == 0

    def _hold(self, key: Hashable) -> int:
        """Return what the shared part of a new entry weighs, 0 if another entry has it."""
        part, weight = self._share(key) if self._share else (None, 0)
        if weight:
            self._shared[part] = self._shared.get(part, 0) + 1
        return weight if self._shared.get(part) == 1 else 0

    def _release(self, key: Hashable) -> int:
        """Return what the shared part of an evicted entry weighs, 0 if another entry has it."""
        part, weight = self._share(key) if self._share else (None, 0)
        if weight:
            self._shared[part] -= 1
        if self._shared.get(part) != 0:
            return 0
        del self._shared[part]
        return weight


class Identity:
    """A part of a key that identifies one object and keeps it alive; it is compared by identity."""

    __slots__ = ("of",)

    def __init__(self, of: object) -> None:
        self.of: Final = of

    def __hash__(self) -> int:
        return id(self.of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.of is other.of


def remembered(cache: Lru[Any], weigh_entry: Callable[..., int]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator for a pure function: a value for the same arguments is taken from the cache.

    `weigh_entry` returns the bytes that arguments and value keep alive. `functools.lru_cache` counts entries instead,
    so it is suitable only where no entry can be large.
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def find(*args: P.args, **kwargs: P.kwargs) -> T:
            def make() -> tuple[T, int]:
                return function(*args, **kwargs), weigh_entry(*args, **kwargs)

            found: T = cache.get((function, *args, *kwargs.items()), make)
            return found

        return find

    return decorate


def weigh(value: Any) -> int:
    """Return the bytes that a value of plain data keeps alive: everything that it refers to, each object once.

    Classes and members of enums are not counted, because they exist in any case. An object that several values share is
    counted for each of them.
    """
    seen: set[int] = set()
    level, total = [value], 0
    while level:
        fresh = []
        for each in level:
            identity = id(each)
            if identity not in seen:
                seen.add(identity)
                if not isinstance(each, _SHARED):
                    fresh.append(each)
        total += sum(map(getsizeof, fresh))
        level = get_referents(*fresh)
    return total
