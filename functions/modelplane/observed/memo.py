"""Caches what was read from an object under the object's version, in a bounded LRU that threads share."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import TypeVar

from modelplane.observed.fields import CACHE_SIZE
from modelplane.runtime.step import Object

T = TypeVar("T")


def once_per_version(read: Callable[[Object], T]) -> Callable[[Object], T]:
    """Return `read`, called once per object version. The values are frozen, so callers may share them.

    `functools.lru_cache` was rejected: it would hash and keep the whole object, not its version.
    """
    kept: OrderedDict[Hashable, T] = OrderedDict()
    lock = threading.Lock()

    @wraps(read)
    def cached(obj: Object) -> T:
        with lock:
            if obj.key in kept:
                kept.move_to_end(obj.key)
                return kept[obj.key]
        value = read(obj)
        with lock:
            kept[obj.key] = value
            if len(kept) > CACHE_SIZE:
                kept.popitem(last=False)
        return value

    return cached
