"""The fenced blocks of a page: files that a reader writes, commands with what they print, scripts for a cluster."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"^# ([\w./-]+\.yaml)\n")
_TIMEOUT = re.compile(r"--timeout=\d+m\b")
_RETRIES = re.compile(r"--retry \d+\b")
#: Minutes that the tests let `kubectl wait` wait, and how often they let curl ask again: for up to nine minutes.
BUSY, TRIES = 10, 9
#: A line of expected output that stands for any number of lines.
ANY = "..."
#: Pages whose scripts need a whole control plane (tests/e2e); of the others, an API server (tests/apiserver).
ON_A_PLANE = (
    "call-with-keys",
    "install",
    "drain-a-cluster",
    "remove-a-cluster",
    "secure-requests",
    "serve-a-model",
    "try",
    "use-a-provider",
    "use-one-url",
)


@dataclass(frozen=True, slots=True)
class File:
    """A `yaml` block whose first line is a comment with a file's name: the reader saves it under that name."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """A line `$ COMMAND` of a `console` block, and the lines that it prints; `text` is both as they stand there."""

    line: str
    expected: tuple[str, ...]
    text: str


def blocks(page: Path) -> Iterator[File | Command]:
    """Yield the files and `console` commands of a page in its order; blocks of other languages are passed over."""
    for language, text in _FENCE.findall(page.read_text()):
        named = _FILE.match(text)
        if language == "yaml" and named:
            yield File(named[1], text)
        if language == "console":
            yield from _commands(text)


def scripts(page: Path) -> list[str]:
    """Return the `sh` blocks of a page, in its order."""
    return [text for language, text in _FENCE.findall(page.read_text()) if language == "sh"]


def patient_scripts(page: Path) -> list[str]:
    """Return the `sh` blocks of a page that give a control plane longer than a reader's takes, on a busy machine."""
    patient = (_TIMEOUT.sub(f"--timeout={BUSY}m", script) for script in scripts(page))
    return [_RETRIES.sub(f"--retry {TRIES}", script) for script in patient]


def _commands(text: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, *output = part.rstrip().splitlines()
        yield Command(line, tuple(output), f"$ {part.rstrip()}")


def matches(expected: tuple[str, ...], printed: tuple[str, ...]) -> bool:
    """Tell whether what was printed is what a page says; trailing blanks do not count."""
    if not expected:
        return not printed
    if expected[0] == ANY:
        return any(matches(expected[1:], printed[start:]) for start in range(len(printed) + 1))
    same = bool(printed) and expected[0].rstrip() == printed[0].rstrip()
    return same and matches(expected[1:], printed[1:])
