"""No decision reads a message that the program itself has written: a value stands beside each text."""

import ast
from collections.abc import Iterator
from pathlib import Path

import modelplane

ROOT = Path(modelplane.__file__).parent
#: Names of texts for people, and the methods that search one.
TEXTS = {"message", "why"}
SEARCHES = {"startswith", "endswith", "find", "index", "partition", "rpartition", "split", "removeprefix"}
#: The packages that decide what is composed, and what is reported.
DECIDING = ("model", "scheduling", "routing", "catalogue", "observed", "composing", "schedule", "compose_*")
#: Providers say only in a message that an object does not exist; texts by profile are no text.
OTHERS = {"observed/remote.py: _ABSENT in why", "scheduling/words/report.py: profile in schedule.why"}


def _is_text(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in TEXTS


def searches(source: str) -> Iterator[str]:
    """Yield each place of a module that decides by the content of a message."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in SEARCHES and _is_text(node.func.value):
                yield ast.unparse(node)
        elif (
            isinstance(node, ast.Compare)
            and isinstance(node.ops[0], ast.In | ast.NotIn)
            and _is_text(node.comparators[0])
        ):
            yield ast.unparse(node)


def test_no_module_decides_by_the_content_of_a_message() -> None:
    modules = [path for package in DECIDING for folder in ROOT.glob(package) for path in folder.rglob("*.py")]
    found = {f"{path.relative_to(ROOT)}: {each}" for path in modules for each in searches(path.read_text("utf-8"))}
    assert found == OTHERS


def test_the_ways_to_search_a_message_are_recognized() -> None:
    asked = ("message.startswith('workers')", "entry.message.startswith('pool')", "' could run on ' not in why")
    assert [list(searches(f"x = {each}")) for each in asked] == [[each] for each in asked]
