"""What costs a pass of the functions that compose most, as far as `climb` has found it.

Of compose-replica and compose-cache it has found nothing beyond what `composing` has.
"""

from collections.abc import Mapping
from functools import partial
from typing import Final

from bench.composites import COMPOSITES
from bench.passes import Scene
from bench.tenants.table import MILLISECONDS, Case

_REPLICAS: Final = {
    "engines": 8,
    "copies": 64,
    "workers": 63,
    "variables": 0,
    "references": 0,
    "words": 256,
    "word": 0,
    "shell": 1,
    "requests": 2,
    "selectors": 0,
    "tolerations": 16,
    "annotations": 8,
    "pulled": 0,
    "sources": 0,
    "bytes": 16,
    "keys": 1,
    "replicas": 100,
}
_SERVICE: Final = {
    "label": 20,
    "callers": 8,
    "origins": 64,
    "note": 1000,
    "sources": 1,
    "bytes": 400_000,
    "keys": 10_000,
}
_ENDPOINTS: Final = {**_SERVICE, "entries": 8, "labels": 2, "endpoints": 2000, "headers": 16}
_SERVICES: Final = {**_SERVICE, "callers": 0, "entries": 16, "labels": 4, "services": 1000}

#: The most that a pass may cost that receives more than 20 MB, in milliseconds: half of it is reading them, once.
_RECEIVED: Final = 375.0


def _scene(name: str, sizes: Mapping[str, int]) -> Scene:
    found = COMPOSITES[name].scene(sizes)
    assert found is not None
    return found


def _case(text: str, name: str, sizes: Mapping[str, int], milliseconds: float = MILLISECONDS) -> Case:
    return Case(text, partial(_scene, name, sizes), (COMPOSITES[name].step,), milliseconds=milliseconds)


CASES = (
    _case("2,000 endpoints of a service, each with 8 kB of headers", "compose-endpoint", _ENDPOINTS, _RECEIVED),
    _case(
        "an InferenceCluster with 100 hand-written ModelReplicas of 290 kB",
        "compose-cluster, replicas",
        _REPLICAS,
        _RECEIVED,
    ),
    _case("an InferenceGateway beside 1,000 ModelServices of 13 kB", "compose-cluster, services", _SERVICES),
)
