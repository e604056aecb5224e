"""Where the tools keep what they build and fetch: outside the tree, for all clones of a user."""

import os
from pathlib import Path


def folder(name: str) -> Path:
    """Return the cache folder of a name, which exists afterwards."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    found = base / "modelplane" / name
    found.mkdir(parents=True, exist_ok=True)
    return found
