"""What is waited for."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from modelplane_dev.plane.waiting import eventually

#: What an observed object lacks at first, and the check that looks for it.
CHECKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "something is not so yet": lambda found: _assert(bool(found)),
    "a field is not written yet": lambda found: found["names"][0],
    "a list has no entry yet": lambda found: next(iter(found.get("names", []))),
    "there is none yet of what there is one": lambda found: _only(*found.get("names", [])),
    "two lists are not equally long yet": lambda found: [*zip(found.get("names", []), ["one"], strict=True)],
}


def _assert(holds: bool) -> None:
    assert holds


def _only(*names: str) -> str:
    (name,) = names
    return name


@pytest.mark.parametrize("name", CHECKS)
def test_what_is_not_there_yet_is_waited_for(name: str) -> None:
    observed: list[dict[str, Any]] = [{}, {}, {"names": ["one"]}]
    left = iter(observed)

    eventually(lambda: CHECKS[name](next(left)), within=60, every=0)

    assert not [*left]


def test_after_its_time_the_last_reason_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    reasons, times = iter(["first", "second", "third"]), iter([0.0, 1.0, 11.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(times))
    monkeypatch.setattr(time, "sleep", lambda _: None)

    def never() -> None:
        raise AssertionError(next(reasons))

    with pytest.raises(AssertionError, match="second"):
        eventually(never, within=10)


def test_what_must_never_be_so_ends_the_waiting_at_once() -> None:
    asked: list[str] = []

    def broken() -> None:
        asked.append("once")
        raise RuntimeError("nothing serves")

    with pytest.raises(RuntimeError, match="nothing serves"):
        eventually(broken, within=60)
    assert len(asked) == 1
