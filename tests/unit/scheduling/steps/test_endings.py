"""That one module says what may end a replica, and few may let one leave."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import modelplane.scheduling

MODULES = sorted(Path(str(modelplane.scheduling.__file__)).parent.rglob("*.py"))


def _targets(source: str) -> Iterator[ast.expr]:
    """Yield what a module assigns to, however it does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign):
            yield from (each for target in node.targets for each in ast.walk(target) if isinstance(each, ast.expr))
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            yield node.target


def _assigns(attribute: str) -> Callable[[str], bool]:
    """Return whether a module assigns this attribute of anything, also by name."""

    def found(source: str) -> bool:
        assigned = any(isinstance(each, ast.Attribute) and each.attr == attribute for each in _targets(source))
        return assigned or any(isinstance(call.func, ast.Name) and call.func.id == "setattr" for call in _calls(source))

    return found


def _calls(source: str) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))


def _lets_leave(source: str) -> bool:
    """Tell whether a module lets a replica leave: it ends once others serve."""
    return any(isinstance(call.func, ast.Attribute) and call.func.attr == "leave" for call in _calls(source))


@pytest.mark.proves("R30")
@pytest.mark.parametrize(
    ("does", "modules"),
    [
        (_assigns("ending"), ["endings"]),
        # `retain` by what `endings.must_leave` says and by its pools, `replacement` for a surge.
        (_lets_leave, ["endings", "replacement", "retain"]),
        # `replacement` takes it back where a surge finds no place.
        (_assigns("leaving"), ["replacement", "roster"]),
    ],
    ids=["ends one", "lets one leave", "writes that one leaves"],
)
def test_only_the_module_of_what_may_end_a_replica_ends_one(does: Callable[[str], bool], modules: list[str]) -> None:
    assert [module.stem for module in MODULES if does(module.read_text())] == modules
