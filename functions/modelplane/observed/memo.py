"""Caches what was read from an object under the object's version."""

from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar

from modelplane.lru import Lru
from modelplane.step import Object

T = TypeVar("T")

#: Objects each reader keeps: a fleet of a thousand clusters and ten thousand replicas, with slack.
_KEPT: Final = 16_384


def once_per_version(read: Callable[[Object], T]) -> Callable[[Object], T]:
    """Return `read`, called once per object version. The values are frozen, so callers may share them.

    `functools.lru_cache` was rejected: it would hash and keep the whole object, not its version.
    """
    kept: Lru[T] = Lru(_KEPT)

    @wraps(read)
    def cached(obj: Object) -> T:
        return kept.get(obj.key, lambda: (read(obj), 1))

    return cached
