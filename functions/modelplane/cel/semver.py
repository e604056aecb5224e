"""Semantic versions as in Kubernetes' CEL library: strict parsing, a normalizing variant, the order of semver 2.0.

The rules are those of the semver library Kubernetes uses; `tests/data/semvers.json` holds its verdicts.
"""

import re
from dataclasses import dataclass, field

_UINT64_MAX = 2**64 - 1
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_DIGITS = re.compile(r"[0-9]+")
_IDENTIFIER = re.compile(r"[0-9A-Za-z-]+")


class SemverError(ValueError):
    """A text that is not a semantic version."""


@dataclass(frozen=True, slots=True)
class Semver:
    """A version; numeric parts of `prerelease` are int. Build metadata is ignored, even by `==`."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[int | str, ...] = ()
    #: What versions are ordered by.
    rank: tuple[object, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        order = tuple((0, part, "") if isinstance(part, int) else (1, 0, part) for part in self.prerelease)
        object.__setattr__(self, "rank", (self.major, self.minor, self.patch, not self.prerelease, order))


def parse(text: str) -> Semver:
    """Return the version of a text, parsed strictly. Raises SemverError."""
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise SemverError(f"{text[:64]!r} does not have three parts")
    last, plus, build = parts[2].partition("+")
    patch, dash, prerelease = last.partition("-")
    if plus and not all(_IDENTIFIER.fullmatch(part) for part in build.split(".")):
        raise SemverError(f"{text[:64]!r} has invalid build metadata")
    return Semver(
        _number(text, parts[0]),
        _number(text, parts[1]),
        _number(text, patch),
        tuple(_prerelease(text, part) for part in prerelease.split(".")) if dash else (),
    )


def normalize(text: str) -> str:
    """Return the text with one leading `v` dropped, missing parts padded and leading zeros of the parts dropped.

    Raises SemverError for a short version with a prerelease or build.
    """
    parts = text.removeprefix("v").split(".", 2)
    for i, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            parts[i] = stripped if stripped and stripped[0] in "0123456789" else "0" + stripped
    if len(parts) < 3 and any(mark in parts[-1] for mark in "+-"):
        raise SemverError(f"{text[:64]!r} is short and has a prerelease or build")
    return ".".join(parts + ["0"] * (3 - len(parts)))


def compare(left: Semver, right: Semver) -> int:
    """Return -1, 0 or 1 by precedence: a release above its prereleases, numbers below words, longer above shorter."""
    return (left.rank > right.rank) - (left.rank < right.rank)


def _number(text: str, part: str) -> int:
    # 20 digits hold every uint64; Python refuses to convert thousands of digits.
    if not _NUMBER.fullmatch(part) or len(part) > 20 or int(part) > _UINT64_MAX:
        raise SemverError(f"{text[:64]!r}: {part[:32]!r} is no valid number")
    return int(part)


def _prerelease(text: str, part: str) -> int | str:
    if _DIGITS.fullmatch(part):
        return _number(text, part)
    if not _IDENTIFIER.fullmatch(part):
        raise SemverError(f"{text[:64]!r} has an invalid prerelease")
    return part
