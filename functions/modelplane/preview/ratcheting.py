"""Validation ratcheting of CustomResourceDefinitions: a stored value that is unchanged is not refused again.

A schema may have become stricter since an object was written. In an update, a fault counts only if its value and all
values that contain it have changed; a value is compared with the one that it replaces.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

Schema = dict[str, Any]

#: Stands for a missing stored value.
ABSENT: Final = object()
#: Keywords that a later version of a definition may make stricter.
NARROWED: Final = frozenset({"enum", "maxItems", "maxLength", "maxProperties"})


@dataclass(frozen=True, slots=True)
class Correlation:
    """A value of an update, and the stored value that it replaces, `ABSENT` where there is none.

    Where there is nothing to compare with (a new field, an entry of a list without keys), the nearest containing value
    that has a stored version is compared instead: it is `nearest`, and `found` is False.
    """

    new: Any
    old: Any
    schema: Schema
    found: bool = True

    @classmethod
    def of_new(cls, new: Any) -> "Correlation":
        """Return the correlation of an object that is not stored yet."""
        return cls(new, ABSENT, {}, found=False)

    def child(self, step: str | int) -> "Correlation":
        """Return the correlation of a field or of an entry of a list."""
        if not self.found:
            return self
        schema, old = self._field(step) if isinstance(step, str) else self._entry(step)
        if schema is None or old is ABSENT:
            return Correlation(self.new, self.old, self.schema, found=False)
        return Correlation(self.new[step], old, schema)

    def is_unchanged(self) -> bool:
        """Tell whether the value, or the nearest containing value that can be compared, equals the stored one."""
        if self.old is ABSENT:
            return False
        if isinstance(self.new, dict) and isinstance(self.old, dict):
            return self.new.keys() == self.old.keys() and all(map(self._is_unchanged_at, self.new))
        if isinstance(self.new, list) and isinstance(self.old, list) and _keys_of(self.schema):
            return len(self.new) == len(self.old) and all(map(self._is_unchanged_at, range(len(self.new))))
        return _equal(self.new, self.old)

    def _is_unchanged_at(self, step: str | int) -> bool:
        child = Correlation(self.new, self.old, self.schema).child(step)
        return child.found and child.is_unchanged()

    def _field(self, name: str) -> tuple[Schema | None, Any]:
        if not isinstance(self.new, dict) or not isinstance(self.old, dict):
            return None, ABSENT
        others = self.schema.get("additionalProperties")
        schema = self.schema.get("properties", {}).get(name, others if isinstance(others, dict) else None)
        return schema, self.old.get(name, ABSENT)

    def _entry(self, index: int) -> tuple[Schema | None, Any]:
        """Return the schema and the stored version of an entry of a list, found by its keys."""
        keys = _keys_of(self.schema)
        if not keys or not isinstance(self.new, list) or not isinstance(self.old, list):
            return None, ABSENT
        wanted = _identity(self.new[index], keys)
        # Mostly the entry has not moved.
        likely = [*self.old[index : index + 1], *self.old]
        return self.schema.get("items"), next((entry for entry in likely if _identity(entry, keys) == wanted), ABSENT)


def is_forgiven(path: Iterable[str | int], correlation: Correlation) -> bool:
    """Tell whether an update may keep a fault at a path, because a value that contains it is unchanged."""
    if correlation.is_unchanged():
        return True
    for step in path:
        correlation = correlation.child(step)
        if not correlation.found:
            return False
        if correlation.is_unchanged():
            return True
    return False


def _keys_of(schema: Schema) -> list[str]:
    """Return the keys that identify the entries of a list, none for a list that is compared as a whole."""
    found: list[str] = schema.get("x-kubernetes-list-map-keys", [])
    return found if schema.get("x-kubernetes-list-type") == "map" else []


def _identity(entry: Any, keys: list[str]) -> list[Any] | None:
    return [entry.get(key) for key in keys] if isinstance(entry, dict) else None


def _equal(one: Any, other: Any) -> bool:
    """Tell whether two JSON values are the same; unlike in Python, true is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
