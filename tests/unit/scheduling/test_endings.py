"""That one module says what may end a replica."""

import ast
from pathlib import Path

import modelplane.scheduling
from modelplane.scheduling import endings


def _ends(source: str) -> bool:
    """Tell whether a module assigns `ending` of anything."""
    targets = [
        target for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assign) for target in node.targets
    ]
    return any(isinstance(each, ast.Attribute) and each.attr == "ending" for each in targets)


def test_only_the_module_of_what_may_end_a_replica_ends_one() -> None:
    modules = sorted(Path(str(modelplane.scheduling.__file__)).parent.glob("*.py"))
    assert [module.stem for module in modules if _ends(module.read_text())] == [endings.__name__.rpartition(".")[2]]
