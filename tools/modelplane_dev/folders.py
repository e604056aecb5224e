"""The folders that the development tools work in: the tree, and a cache outside it for all clones of a user."""

import os
from pathlib import Path

#: The tree.
ROOT = Path(__file__).resolve().parents[2]
#: The folder of the Go modules, one folder a set of components.
TOOLS = ROOT / "tools"


def cache_folder(name: str) -> Path:
    """Return the cache folder of a name, which exists afterwards."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    found = base / "modelplane" / name
    found.mkdir(parents=True, exist_ok=True)
    return found
