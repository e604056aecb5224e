"""Golden files are compared as they are, and rewritten where that is asked for and only if they differ."""

from pathlib import Path

import pytest

from golden import Golden, inputs

READING, WRITING = Golden(rewriting=False), Golden(rewriting=True)


def test_another_text_fails_and_is_written_where_golden_files_are_rewritten(tmp_path: Path) -> None:
    file = tmp_path / "new" / "one.yaml"
    WRITING.compare_text(file, "a: 1\n")
    READING.compare_text(file, "a: 1\n")
    with pytest.raises(AssertionError, match="make golden"):
        READING.compare_text(file, "a: 2\n")
    assert file.read_text() == "a: 1\n"


def test_equal_documents_keep_the_way_they_are_written_down(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("# why\na: {b: 1}\n")
    WRITING.compare_documents(file, [{"a": {"b": 1}}])
    assert file.read_text() == "# why\na: {b: 1}\n"
    with pytest.raises(AssertionError, match="make golden"):
        READING.compare_documents(file, [{"a": {"b": 2}}])
    WRITING.compare_documents(file, [{"a": {"b": 2}}])
    READING.compare_documents(file, [{"a": {"b": 2}}])


def test_the_inputs_of_a_kind_are_found_by_the_name_of_their_case(tmp_path: Path) -> None:
    for name in ("b.cache.yaml", "a.cache.yaml", "a.cluster.yaml"):
        (tmp_path / name).touch()
    assert list(inputs(tmp_path, "cache").items()) == [
        ("a", tmp_path / "a.cache.yaml"),
        ("b", tmp_path / "b.cache.yaml"),
    ]


def test_a_test_that_compares_with_golden_files_is_one_that_make_golden_runs(
    golden: Golden, request: pytest.FixtureRequest
) -> None:
    assert request.node.get_closest_marker("golden")
    assert isinstance(golden, Golden)
