"""How Argo CD tells the health of an object of ours: it runs the Lua of install/argocd/health.yaml.

That is Lua 5.1 with the basic functions and the library `table`, and a part of `os` that is not used here.
"""

from functools import cache
from importlib import import_module
from typing import Any

import yaml

from modelplane.model.names import GROUP
from modelplane_dev.folders import ROOT

#: Key of a kind in the ConfigMap, without the kind.
KEY = f"resource.customizations.health.{GROUP}_"
_WITHHELD = ("string", "math", "io", "os", "debug", "coroutine", "package", "require", "module")


@cache
def scripts() -> dict[str, str]:
    """Return the script of each kind."""
    data = yaml.safe_load((ROOT / "install/argocd/health.yaml").read_text())["data"]
    return {key.removeprefix(KEY): script for key, script in data.items()}


def health(obj: dict[str, Any]) -> tuple[str, str]:
    """Return the health of an object of ours, and the message."""
    lua = import_module("lupa.lua51").LuaRuntime(register_eval=False, register_builtins=False)
    names = lua.globals()
    for name in (*_WITHHELD, "python"):
        names[name] = None
    names.obj = lua.table_from(obj, recursive=True)
    found = lua.execute(scripts()[obj["kind"]])
    return found["status"], found["message"] or ""
