"""The states on disk: fleets as a version of Modelplane left them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from upgrade.manifests import Manifest

STATES = Path(__file__).with_name("states")
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
#: What is written once and referred to afterwards: values whose JSON has at least this many characters.
_SHARED = 60


class _Dumper(yaml.SafeDumper):
    """Anchors long texts too, which YAML allows and PyYAML does not do by itself."""

    def ignore_aliases(self, data: Any) -> bool:
        return len(data) < _SHARED if isinstance(data, str) else bool(super().ignore_aliases(data))


def paths() -> list[Path]:
    """Return every state, the oldest version first."""
    return sorted(STATES.glob("*/*.yaml"))


def read_state(path: Path) -> list[Manifest]:
    """Return the objects of a state; none shares a part with another."""
    objects: list[Manifest] = json.loads(json.dumps(yaml.load(path.read_text(), _LOADER)))  # noqa: S506 - a safe loader
    return objects


def write_state(path: Path, objects: Iterable[Manifest]) -> None:
    """Write objects as one list, in which a value that was written before is an alias of it."""
    seen: dict[str, Any] = {}
    path.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.dump([_shared(obj, seen) for obj in objects], Dumper=_Dumper, width=120, sort_keys=True)
    path.write_text(text)


def _shared(value: Any, seen: dict[str, Any]) -> Any:
    """Return an equal value whose equal parts are one object."""
    text = json.dumps(value, sort_keys=True)
    if len(text) < _SHARED:
        return json.loads(text)
    if text not in seen:
        if isinstance(value, dict):
            seen[text] = {key: _shared(item, seen) for key, item in value.items()}
        elif isinstance(value, list):
            seen[text] = [_shared(item, seen) for item in value]
        else:
            seen[text] = value
    return seen[text]
