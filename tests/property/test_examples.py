"""The examples of a property depend on the property alone."""

import importlib.util
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st


def drawn() -> list[int]:
    found: list[int] = []

    @settings(max_examples=200, derandomize=True)
    @given(st.integers())
    def collect(number: int) -> None:
        found.append(number)

    collect()
    return found


def test_they_are_the_same_whatever_else_is_loaded(tmp_path: Path) -> None:
    before = drawn()
    file = tmp_path / "with_numbers.py"
    file.write_text(f"NUMBERS = {[12345678 + number for number in range(1000)]}\n")
    spec = importlib.util.spec_from_file_location("with_numbers", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["with_numbers"] = module
    try:
        spec.loader.exec_module(module)
        assert drawn() == before
    finally:
        del sys.modules["with_numbers"]
