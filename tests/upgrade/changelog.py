"""What CHANGELOG.md says of restarts."""

import re
from pathlib import Path

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"
#: `- Templates 2 (0a1b2c3d4e5f) restart: deployment, picker.`, or `... restart: nothing.`
_ENTRY = re.compile(r"^- Templates (\d+) \(([0-9a-f]{12})\) restart: ([a-z, ]+)\.", re.MULTILINE)


def restarts(text: str) -> dict[tuple[int, str], frozenset[str]]:
    """Return the workloads that each revision of the templates restarts, by its number and digest."""
    sections = re.findall(r"^### Restarts\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    return {
        (int(number), digest): frozenset(name for name in re.split(r",\s*", names) if name != "nothing")
        for number, digest, names in _ENTRY.findall("\n".join(sections))
    }


def announced() -> dict[tuple[int, str], frozenset[str]]:
    """Return what the changelog of this repository says."""
    return restarts(CHANGELOG.read_text())
