"""What the pages refer to exists: files, headings, tests and packages."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from modelplane.model.refusal import PRECEDENCE
from modelplane_dev.pages import RULE

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "tests" / "upgrade" / "README.md"]
PACKAGES = ROOT / "functions" / "modelplane"
#: Folders that a path in backticks begins with; what a build makes is not among them.
TOP = ("apis", "compositions", "docs", "examples", "functions", "install", "package", "tests", "tools")
#: A path in backticks, with the name of a test where one is meant.
_CODE = re.compile(rf"`((?:{'|'.join(TOP)})/[\w./-]*)(?:::(\w+))?`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
#: What GitHub leaves out of the anchor that it makes of a heading.
_NOT_IN_ANCHORS = re.compile(r"[^\w\s-]")


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return _FENCE.sub("", page.read_text())


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {_NOT_IN_ANCHORS.sub("", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> Iterator[str]:
    """Yield the links of a page to files or headings that do not exist."""
    for target in _LINK.findall(prose(page)):
        path, _, anchor = target.partition("#")
        if "://" in target:
            continue
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
            yield target


def broken_paths(page: Path) -> Iterator[str]:
    """Yield the paths in backticks that do not exist, and the tests that are not in their file."""
    for path, test in _CODE.findall(prose(page)):
        file = ROOT / path
        if not file.exists():
            yield path
        elif test and not re.search(rf"^def {test}\(", file.read_text(), re.MULTILINE):
            yield f"{path}::{test}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_a_page_refers_to_exists(page: Path) -> None:
    assert [*broken_links(page), *broken_paths(page)] == []


def test_every_promise_has_its_test() -> None:
    promises = section(ROOT / "docs" / "promises.md", "The promises, and their tests")
    rows = [line for line in promises.splitlines() if line.startswith("| ") and not line.startswith("| promise |")]
    assert rows
    assert [row for row in rows if not RULE.search(row)] == []


def section(page: Path, heading: str) -> str:
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", page.read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{page.name} has no section {heading}"
    return found[1]


def test_every_worked_case_has_its_test() -> None:
    cases = re.split(r"^\d+\. ", section(ROOT / "docs" / "scheduling.md", "Worked cases"), flags=re.MULTILINE)[1:]
    assert len(cases) == 35
    assert [case for case in cases if not RULE.search(case)] == []


def test_every_reason_why_a_cluster_takes_no_replica_stands_on_the_page_about_pending_objects() -> None:
    rows = re.findall(r"^\| ([A-Z]\w+(?:, [A-Z]\w+)*) \|", (ROOT / "docs" / "pending.md").read_text(), re.MULTILINE)
    named = [reason for row in rows for reason in row.split(", ")]
    assert sorted(named) == sorted(kind.__name__ for kind in PRECEDENCE)


RULED = ["Matching", "What may end a replica", "Rollout", "Upgrades of Modelplane", "What a deployment says"]


@pytest.mark.parametrize("heading", RULED)
def test_every_rule_of_scheduling_has_its_test(heading: str) -> None:
    rules = re.split(r"^(?:\d+\.|-) ", section(ROOT / "docs" / "scheduling.md", heading), flags=re.MULTILINE)[1:]
    assert [rule for rule in rules if not RULE.search(rule)] == []


def test_ten_questions_have_one_path_each() -> None:
    rows = re.findall(r"^\| ([^|]+\?) \| (.+) \|$", section(ROOT / "CONTRIBUTING.md", "Ten questions"), re.MULTILINE)
    assert len(rows) == 10
    answers = [re.findall(r"`([\w./-]+\.\w+)`", answer) for _, answer in rows]
    assert [row for row, found in zip(rows, answers, strict=True) if len(found) != 1] == []
    assert [path for found in answers for path in found if not (ROOT / path).is_file()] == []


def test_the_architecture_page_names_every_package_and_no_other() -> None:
    table = section(ROOT / "docs" / "architecture.md", "The packages")
    named = {name for row in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    there = {path.parent.name for path in PACKAGES.glob("*/__init__.py")}
    there |= {path.stem for path in PACKAGES.glob("*.py")} - {"__init__"}
    assert named == there
