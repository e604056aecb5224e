"""Least-recently-used caches that are bounded by the weight of their content."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
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


#: How often a cache has to be filled anew until the entries of an owner that uses none of them are no longer in use.
IDLE: Final = 4

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

    @property
    def weight(self) -> int:
        """Return what all entries weigh."""
        return self._weight

    def put(self, key: Hashable, value: V, weight: int) -> None:
        """Store a value of this weight under `key`, replacing the present one; see `admit` for a new one."""
        self.store(key, value, weight)

    def store(self, key: Hashable, value: V, weight: int) -> list[Hashable]:
        """Do as `put`, and return the keys of the entries that had to go."""
        weight += ENTRY
        evicted: list[Hashable] = []
        with self._lock:
            if key not in self._kept and self._weight + weight > self.limit and not self._admitted():
                return evicted
            replaced = self._kept.pop(key, None)
            self._kept[key] = value, weight
            self._weight += weight - replaced[1] if replaced else weight + self._hold(key)
            while self._weight > self.limit:
                evicted.append(self._evict())
        return evicted

    def evict(self) -> Hashable:
        """Remove the least recently used entry, and return its key."""
        with self._lock:
            return self._evict()

    def _evict(self) -> Hashable:
        evicted, (_, freed) = self._kept.popitem(last=False)
        self._weight -= freed + self._release(evicted)
        return evicted

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


#: On whose behalf this thread computes: the namespace of the composite, None outside of a server.
_OWNER: Final[ContextVar[Hashable]] = ContextVar("owner", default=None)


@contextmanager
def owned_by(owner: Hashable) -> Iterator[None]:
    """Let what runs in the `with` statement store entries on behalf of an owner."""
    token = _OWNER.set(owner)
    try:
        yield
    finally:
        _OWNER.reset(token)


class FairLru(Generic[V]):
    """Values by key, at most `limit` in weight, which the owners of entries share fairly; threads may use it.

    When it is full, the least recently used entry goes of the owner whose entries weigh most; before that, those of
    owners whose entries are no longer in use (`IDLE`). So as long as an owner in use has no more than the limit
    divided by their number, nothing that others store evicts its entries. An entry belongs to whoever stored it, and is
    found by all. `share` is as for `Lru`, counted once for each owner.
    """

    def __init__(self, limit: int, share: Callable[[Any], tuple[Hashable, int]] | None = None) -> None:
        self.limit: Final = limit
        self._share = share
        self._lock = threading.Lock()
        self._owner_of: dict[Hashable, Hashable] = {}
        #: The weight of everything that was ever stored.
        self._stored = 0
        #: The entries of each owner with what had been stored when they were last used, the longest ago first.
        self._parts: OrderedDict[Hashable, tuple[Lru[V], int]] = OrderedDict()

    def find(self, key: Hashable) -> V | None:
        """Return the value under `key`, None when there is none."""
        with self._lock:
            if key not in self._owner_of:
                return None
            return self._part(self._owner_of[key]).find(key)

    def get(self, key: Hashable, make: Callable[[], tuple[V, int]]) -> V:
        """Return the value under `key`; when there is none, `make` gives it and its weight. As for `Lru`."""
        found = self.find(key)
        if found is None:
            found, weight = make()
            self.put(key, found, weight)
        return found

    def put(self, key: Hashable, value: V, weight: int) -> None:
        """Store a value of this weight under `key`, replacing the present one."""
        with self._lock:
            owner = self._owner_of.setdefault(key, _OWNER.get())
            self._stored += weight + ENTRY
            for evicted in self._part(owner).store(key, value, weight):
                del self._owner_of[evicted]
            while sum([part.weight for part, _ in self._parts.values()]) > self.limit:
                self._evict()

    def _part(self, owner: Hashable) -> Lru[V]:
        """Return the entries of an owner, which are used now."""
        part, _ = self._parts.get(owner) or (Lru[V](self.limit, self._share), 0)
        self._parts[owner] = part, self._stored
        self._parts.move_to_end(owner)
        return part

    def _evict(self) -> None:
        owner, (part, used) = next(iter(self._parts.items()))
        if self._stored - used < IDLE * self.limit:
            owner, (part, _) = max(self._parts.items(), key=lambda each: each[1][0].weight)
        if part.weight:
            del self._owner_of[part.evict()]
        if not part.weight:
            del self._parts[owner]


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
