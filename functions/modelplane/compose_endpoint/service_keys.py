"""The keys of a service's callers, from the Secrets in `spec.keys`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from modelplane.api.modelservice import ModelServiceSpec
from modelplane.compose_endpoint.secret_value import lacking, read_value
from modelplane.composing import requirements as require
from modelplane.step import AWAITING, SETTLED, Request, Requirement
from modelplane.step.sealed import Sealed

#: A valid key in a header: a trailing line break is a common mistake.
_USABLE: Final = re.compile(rb"[!-~]{1,4096}")
#: Bytes of Secrets that are read every 10 seconds: 64 of the largest size take a quarter of a second each time.
MOST_READ: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class CallerKeys:
    """The usable keys of callers, by name; for each other key, what is missing or wrong."""

    usable: Mapping[str, Sealed]
    missing: tuple[str, ...]
    invalid: tuple[str, ...]


def requirements(spec: ModelServiceSpec, namespace: str) -> tuple[Requirement, ...]:
    """Return the requirements of the Secrets with keys; one that holds several is required once."""
    names = sorted({key.secretRef.name for key in spec.keys or ()})
    return tuple(require.source("Secret", name, namespace) for name in names)


def ttl(request: Request, spec: ModelServiceSpec) -> timedelta:
    """Return how soon a service is reconciled again: after 10 s, or after a minute if its Secrets are large.

    Neither its endpoints nor its Secrets are watched.
    """
    needs = requirements(spec, request.composite.namespace)
    read = sum(found.size for each in needs for found in request.required.get(each.name, ()))
    return AWAITING if read <= MOST_READ else SETTLED


def read_keys(request: Request, spec: ModelServiceSpec) -> CallerKeys:
    """Return the keys of a service once their Secrets are fetched. Of equal keys the first is used."""
    usable: dict[str, Sealed] = {}
    missing, invalid = [], []
    for number, key in enumerate(spec.keys or ()):
        where = f"spec.keys[{number}] {key.name}"
        found = read_value(request, key.secretRef.name, key.secretRef.key)
        secret = f"Secret {request.composite.namespace}/{key.secretRef.name}"
        if found is None:
            wrong = lacking(request, key.secretRef.name, key.secretRef.key)
            missing.append(f"{where}: {secret} {wrong}. Create it")
        elif not found.matches(_USABLE):
            wrong = "is not 1 to 4096 visible ASCII characters, without spaces and line breaks"
            invalid.append(f"{where}: what {secret} has under key {key.secretRef.key} {wrong}. Replace it")
        elif found in usable.values():
            first = next(name for name, value in usable.items() if value == found)
            invalid.append(f"{where}: the key equals that of {first}. Give each caller a key of its own")
        else:
            usable[key.name] = found
    return CallerKeys(usable, tuple(missing), tuple(invalid))
