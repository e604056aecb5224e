"""The folders of the development tools: the source tree, and a cache outside it that all clones of a user share."""

import os
from pathlib import Path

#: The tree.
ROOT = Path(__file__).resolve().parents[2]
#: The folder of the Go modules, with one folder for each set of components.
TOOLS = ROOT / "tools"


def cache_folder(name: str) -> Path:
    """Return the cache folder of a name; it is created if necessary."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    found = base / "modelplane" / name
    found.mkdir(parents=True, exist_ok=True)
    return found
