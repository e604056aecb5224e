"""What a preview costs as its fleet grows, each size beside a smaller one."""

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from bench.figures import Figure
from given.manifests import cluster, deployment, hardware
from modelplane.preview import ControlPlane

T = TypeVar("T")

#: Growth of time over growth of the fleet that still counts as linear: larger fleets miss the processor's caches.
LINEAR = 1.4
#: Sizes, and how often reading back and deleting is measured at each: the shorter an act is, the more a moment counts.
SIZES = {40: 3, 80: 2, 400: 1}


def previewing() -> Iterator[Figure]:
    """Yield what placing, reading back and deleting every replica of a fleet takes, at each size."""
    small, double, tenfold = SIZES
    _measured(small, 1)  # what is built once (grammars, models) is no growth
    taken = {size: _measured(size, times) for size, times in SIZES.items()}
    for act in taken[small]:
        for size in (double, tenfold):
            times = size // small
            value, before = taken[size][act], taken[small][act]
            growth = value / before / times
            name = f"preview: {act} {size} replicas; growth from {small}, over linear"
            yield Figure(name, value, "s", before, compared=growth, limit=LINEAR)


def _measured(size: int, times: int) -> dict[str, float]:
    fleet = [hardware(), *(cluster(f"c{number:03}", nodes=4) for number in range(size // 4))]
    placed = ControlPlane([*fleet, deployment(replicas=size)])
    placing, _ = _timed(placed.settle)
    objects = placed.everything()
    reading, deleting = [], []
    for _ in range(times):
        seconds, control = _timed(lambda: _read_back(objects))
        reading.append(seconds)
        control.apply(deployment(replicas=0))
        deleting.append(_timed(control.settle)[0])
    return {"placing": placing, "reading back": min(reading), "deleting": min(deleting)}


def _read_back(objects: list[dict[str, Any]]) -> ControlPlane:
    control = ControlPlane(objects)
    control.settle()
    return control


def _timed(act: Callable[[], T]) -> tuple[float, T]:
    """Return the processor time of an act, the garbage collector's turns left out, and its result."""
    gc.collect()
    gc.disable()
    try:
        began = time.process_time()
        result = act()
        return time.process_time() - began, result
    finally:
        gc.enable()
