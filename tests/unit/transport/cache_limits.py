"""Prints the limits of all caches that a function has, in bytes: `python cache_limits.py FUNCTION`."""

import pkgutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "functions"))

from modelplane.cli.serve import FUNCTIONS
from modelplane.lru import Lru
from modelplane.scheduling.search_budget import Searches


def _import(package: str) -> None:
    """Import a package with its modules, those too that it only imports when it needs them."""
    for found in pkgutil.walk_packages(import_module(package).__path__, f"{package}."):
        import_module(found.name)


def _caches() -> dict[int, Lru[Any]]:
    """Return every cache of the modules that are imported, each once."""
    names = [name for name in sys.modules if name.startswith("modelplane.") and "preview" not in name]
    values = [value for name in names for value in vars(sys.modules[name]).values()]
    values = [value._remembered if isinstance(value, Searches) else value for value in values]
    return {id(value): value for value in values if isinstance(value, Lru)}


if __name__ == "__main__":
    for name in (FUNCTIONS[sys.argv[1]], "modelplane.transport", "modelplane.step"):
        _import(name)
    sys.stdout.write(str(sum(cache.limit for cache in _caches().values())))
