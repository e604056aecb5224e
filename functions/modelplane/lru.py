"""A cache that forgets what was used longest ago once its content outweighs a limit."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class Lru(Generic[V]):
    """Values by key, at most `limit` in weight; threads may share it.

    Weighed, not counted, because objects differ in size by a factor of a hundred.
    """

    def __init__(self, limit: int) -> None:
        self._kept: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._limit = limit
        self._weight = 0

    def get(self, key: Hashable, make: Callable[[], tuple[V, int]]) -> V:
        """Return the value under `key`; when there is none, `make` gives it and its weight.

        Threads that miss at the same time all make it: making is pure, and nobody waits for somebody else's work.
        """
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found[0]
        made = make()
        with self._lock:
            replaced = self._kept.pop(key, None)
            self._kept[key] = made
            self._weight += made[1] - (replaced[1] if replaced else 0)
            while self._weight > self._limit:
                self._weight -= self._kept.popitem(last=False)[1][1]
        return made[0]
