"""Selectors and verdicts are remembered by content, across threads, within bounds."""

import gc
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from types import FrameType, TracebackType

import pytest

from modelplane import cel
from modelplane.cel import memory
from modelplane.lru import Lru, weigh
from modelplane.model.fleet import Attribute, Device

DRIVER = Attribute("driverVersion", "version", "580.95.5")
DEVICE = Device(name="gpu", driver="gpu.nvidia.com", attributes=(Attribute("i", "int", 3),))


def test_a_verdict_is_computed_once_for_devices_that_are_alike_in_what_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluated: list[cel.Subject] = []
    real = cel.Selector.measure

    def measure(selector: cel.Selector, subject: cel.Subject) -> tuple[cel.Verdict, int]:
        evaluated.append(subject)
        return real(selector, subject)

    monkeypatch.setattr(cel.Selector, "measure", measure)
    text = 'device.attributes["gpu.nvidia.com"].i == 3 // once'
    twin, unread = replace(DEVICE), replace(DEVICE, name="other", count=4, attributes=(*DEVICE.attributes, DRIVER))
    verdicts = [cel.verdict(text, device) for device in (DEVICE, twin, unread, DEVICE, twin, unread)]
    assert {verdict.outcome for verdict in verdicts} == {cel.Outcome.MATCH}
    assert len(evaluated) == 1


def test_a_device_at_the_address_of_a_dead_one_is_not_taken_for_it() -> None:
    text = 'device.attributes["gpu.nvidia.com"].i == 3 // address'
    for i in range(2000):
        device = Device(name="gpu", driver="gpu.nvidia.com", attributes=(Attribute("i", "int", i),))
        expected = cel.Outcome.MATCH if i == 3 else cel.Outcome.NO_MATCH
        assert cel.verdict(text, device).outcome is expected
        del device


def test_a_selector_that_does_not_compile_is_remembered_and_is_an_error() -> None:
    first, second = cel.compiled("device.memory"), cel.compiled("device.memory")
    assert isinstance(first, cel.SelectorError)
    assert first is second
    assert (first.line, first.column) == (1, 8)
    verdict = cel.verdict("device.memory", DEVICE)
    assert verdict.outcome is cel.Outcome.ERROR
    assert verdict.why == "selector does not compile: 1:8: undefined field 'memory'"


def _reached_from(value: object) -> Iterator[object]:
    """Yield everything that a value of plain data keeps alive."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        each = stack.pop()
        if id(each) not in seen and not isinstance(each, type):
            seen.add(id(each))
            stack += gc.get_referents(each)
            yield each


@pytest.mark.parametrize("text", ["device.memory", "1 +", "(" * 200, "x" * 11_000, "'\\ud800'", "quantity(1)"])
def test_an_error_that_is_kept_holds_no_frames(text: str) -> None:
    kept = cel.compiled(text)
    assert isinstance(kept, cel.SelectorError)
    assert (kept.__traceback__, kept.__cause__, kept.__context__) == (None, None, None)
    assert not [each for each in _reached_from(kept) if isinstance(each, FrameType | TracebackType)]


def test_compiled_selectors_weigh_no_more_than_they_are_counted_with() -> None:
    texts = [f"device.attributes['x'].a{i} == {i} && [1, {i}].exists(e, e > {i})" for i in range(100)]
    cel.compile(texts[0])
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = [cel.compile(text) for text in texts]
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert len(kept) == 100
    assert taken <= memory._CODE * sum(map(len, texts))


@pytest.mark.parametrize("size", [0, 1, 64])
@pytest.mark.parametrize("value", ["x" * 64, "\u00e9" * 64, 2**62, True])
def test_a_device_is_weighed_with_everything_that_it_declares(size: int, value: str | int) -> None:
    kind = {str: "string", int: "int", bool: "bool"}[type(value)]
    attributes = tuple(Attribute(f"{at}.example.com/{'n' * 30}", kind, value) for at in range(size))
    capacity = tuple((f"{at}.example.com/{'c' * 30}", f"{at}Gi") for at in range(size))
    device = Device("d" * 60, "gpu.nvidia.com", "class" * 10, 4096, attributes=attributes, capacity=capacity)
    assert weigh(device) <= cel.weigh_device(device) <= 3 * weigh(device) + 1000


def test_the_memory_by_identity_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Lru[cel.Verdict](64 * 1024)
    monkeypatch.setattr(memory, "_SEEN", seen)
    for i in range(200):
        assert cel.verdict("true", replace(DEVICE, count=i + 1)).outcome is cel.Outcome.MATCH
        assert weigh(list(seen._kept)) <= 64 * 1024


def test_threads_get_the_verdicts_that_one_gets() -> None:
    texts = [f'device.attributes["gpu.nvidia.com"].i == {i} || [1, 2].exists(x, x == {i})' for i in range(40)]
    expected = [cel.Outcome.MATCH if i in {1, 2, 3} else cel.Outcome.NO_MATCH for i in range(40)]
    got: list[list[cel.Outcome]] = []

    def work() -> None:
        got.append([cel.compile(text).evaluate(replace(DEVICE)).outcome for text in texts])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [expected] * 8


def loaded_after(code: str) -> set[str]:
    """Return which heavy modules a new process has loaded after running some code."""
    heavy = ("lark", "celpy", "re2", "pydantic", "yaml")
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print(*(name for name in {heavy} if name in sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    return set(done.stdout.split())


def test_importing_loads_neither_the_parser_nor_regular_expressions() -> None:
    assert loaded_after("import modelplane.cel") == set()


def test_compiling_never_loads_the_evaluator_of_cel_python() -> None:
    assert loaded_after("from modelplane import cel; cel.compile('true')") == {"lark"}
