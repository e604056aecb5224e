"""Caches what was read from an object by the object's version."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

from modelplane.lru import Lru, weigh
from modelplane.step import Object

T = TypeVar("T")

#: Bytes of all readers' caches together: enough for a fleet of ten thousand clusters. For a fleet that does not fit the
#: cache has no hits, because it is read in the same order every time.
_LIMIT: Final = 52 * 1024 * 1024
_KEPT: Final = Lru[Any](_LIMIT)


def once_per_pair(kind: str, one: Object, two: Object, read: Callable[[], T]) -> T:
    """Return the result of `read` for the versions of two objects; `kind` distinguishes different results."""

    def make() -> tuple[T, int]:
        value = read()
        return value, weigh(value)

    found: T = _KEPT.get((kind, one.key, two.key), make)
    return found


def once_per_version(read: Callable[[Object], T]) -> Callable[[Object], T]:
    """Return `read` with a cache by object version. The values are frozen, so callers may share them.

    A value is weighed with everything that it refers to, because it may hold parts of the object's body.
    `functools.lru_cache` was rejected: it would hash and keep the whole object, not its version.
    """
    return kept_by_weight(weigh)(read)


def kept_by_weight(weigh_value: Callable[[T], int]) -> Callable[[Callable[[Object], T]], Callable[[Object], T]]:
    """Return a decorator like `once_per_version` with another function for the weight in bytes."""

    def decorate(read: Callable[[Object], T]) -> Callable[[Object], T]:
        return _kept(read, weigh_value)

    return decorate


def _kept(read: Callable[[Object], T], weigh_value: Callable[[T], int]) -> Callable[[Object], T]:
    def make(obj: Object) -> tuple[T, int]:
        value = read(obj)
        return value, weigh_value(value)

    @wraps(read)
    def cached(obj: Object) -> T:
        found: T = _KEPT.get((read, obj.key), lambda: make(obj))
        return found

    return cached
