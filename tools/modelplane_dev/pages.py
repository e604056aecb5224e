"""Write what the pages take from the code: which tests prove which rule, and the steps of a scheduling pass."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from modelplane.scheduling.steps import STEPS
from modelplane_dev.folders import ROOT

#: The pages whose rules have names.
RULED = ("scheduling", "promises")
PROOFS = "proofs"
#: The name of a rule where its page states it.
RULE = re.compile(rf"\[([RP]\d+)\]\({PROOFS}\.md\)")
#: The marker with which a test says which rules it proves.
MARKER = "pytest.mark.proves"
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_STEPS = re.compile(r"(?<=<!-- steps: written by `make generate` -->\n).*?(?=<!-- end of steps -->)", re.DOTALL)


def _page(name: str) -> Path:
    return ROOT / "docs" / f"{name}.md"


def _rules(text: str) -> Iterator[tuple[str, str]]:
    """Yield each rule of a page, in its order, with the heading that it is under."""
    parts = _HEADING.split(text)
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        for name in RULE.findall(body):
            yield name, heading


def _names(node: ast.expr) -> Iterator[str]:
    """Yield the rules of a marker."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == MARKER:
        yield from (str(each.value) for each in node.args if isinstance(each, ast.Constant))


def _marked(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (rule, test) for each marker in a file; that of the whole file stands for all of its tests."""
    file = str(path.relative_to(ROOT))
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            yield from ((name, f"{file}::{node.name}") for each in node.decorator_list for name in _names(each))
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            yield from ((name, file) for name in _names(node.value))


def read_proofs() -> Mapping[str, list[str]]:
    """Return the tests that prove each rule, by its name."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(ROOT.glob("tests/**/test_*.py")):
        if MARKER in path.read_text():
            for name, test in _marked(path):
                found[name].append(test)
    return found


def read_rules() -> list[str]:
    """Return the names of the rules on all pages, as often as they stand there."""
    return [name for page in RULED for name, _ in _rules(_page(page).read_text())]


def proofs() -> str:
    """Return the page with the tests of each rule."""
    tests = read_proofs()
    lines = ["# The tests of the rules", "", "Written by `make generate` from the marker `proves` of the tests."]
    for page in RULED:
        text = _page(page).read_text()
        title = text.partition("\n")[0].removeprefix("# ")
        lines += ["", f"## {title}", "", "| rule | where | tests that fail when it is broken |", "|---|---|---|"]
        for name, heading in _rules(text):
            anchor = re.sub(r"[^\w\s-]", "", heading.lower()).replace(" ", "-")
            listed = ", ".join(f"`{test}`" for test in tests.get(name, ()))
            lines.append(f"| {name} | [{heading}]({page}.md#{anchor}) | {listed} |")
    return "\n".join([*lines, ""])


def with_steps(text: str) -> str:
    """Return the page about scheduling with the steps of a pass as the code has them."""
    rows = []
    for number, step in enumerate(STEPS, 1):
        says = " ".join((step.__doc__ or "").partition("\n\n")[0].split())
        rows.append(f"{number}. `{step.__name__}` (`{step.__module__.rpartition('.')[2]}.py`): {says}\n")
    return _STEPS.sub(lambda _: "".join(rows), text)


def main() -> None:
    """Write the page of the tests, and the steps on the page about scheduling."""
    page = _page("scheduling")
    page.write_text(with_steps(page.read_text()))
    _page(PROOFS).write_text(proofs())


if __name__ == "__main__":
    main()
