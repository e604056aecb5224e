"""Suggests the valid spelling of a value that is not a quantity or version in Kubernetes."""

import re
from typing import Final

from modelplane.cel import quantity, semver

#: A number with a unit as people write it, such as 80GB, 80 GiB and 80gi.
_AMOUNT: Final = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgtpe])(i?)b?\s*", re.IGNORECASE)


def spell_quantity(text: str) -> str:
    """Return the valid quantity for an invalid text, "" if it is not clear what was meant."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return ""
    number, unit, binary = found[1], found[2].upper(), found[3]
    written = f"{number}{unit}i"
    if not binary:
        written = f"{number}{'k' if unit == 'K' else unit}, or {written} for powers of 1024"
    try:
        quantity.parse(f"{number}{unit}i")
    except quantity.QuantityError:
        return ""
    return f"; write {written}"


def spell_version(text: str) -> str:
    """Return the valid version for an invalid text, "" if it is not clear what was meant."""
    try:
        written = semver.normalize(text)
        semver.parse(written)
    except semver.SemverError:
        return ""
    return f"; write {written}"
