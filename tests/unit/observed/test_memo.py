"""What was read from an object is cached under the object's version, within a bound of what it keeps alive."""

import gc
import weakref
from collections.abc import Mapping
from typing import Any

import pytest

from modelplane.lru import Lru
from modelplane.observed import memo
from modelplane.observed.memo import once_per_version
from modelplane.step import Object


class _Part(dict[str, Any]):
    """A part of a body to which a test can refer weakly."""


def _object(version: int) -> Object:
    return Object({"part": _Part(text="x" * 10_000 + str(version))}, ("ConfigMap", "uid", version))


def test_an_object_is_read_once_a_version() -> None:
    read: list[Object] = []

    @once_per_version
    def number(obj: Object) -> int:
        read.append(obj)
        return len(read)

    assert [number(_object(version)) for version in (1, 1, 2, 1)] == [1, 1, 2, 1]


def test_two_readers_of_one_object_do_not_get_each_other_s_value() -> None:
    one, other = once_per_version(lambda _: "one"), once_per_version(lambda _: "other")
    assert [one(_object(7)), other(_object(7)), one(_object(7))] == ["one", "other", "one"]


def test_parts_of_bodies_that_values_hold_on_to_are_let_go_beyond_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo, "_KEPT", Lru[Any](100_000))

    @once_per_version
    def part(obj: Object) -> Mapping[str, Any]:
        found: Mapping[str, Any] = obj.body["part"]
        return found

    alive = [weakref.ref(part(_object(version))) for version in range(50)]
    gc.collect()
    assert 5 <= sum(each() is not None for each in alive) <= 10
