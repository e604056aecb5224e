"""How capable devices are is their declared memory, where it is known."""

from dataclasses import replace

import pytest

from modelplane.model.fleet import Device
from modelplane.scheduling.pools.hardware import layout
from modelplane.scheduling.steps.rank import capability
from unit.scheduling.scene import cluster, gpu, pool, stamped

GIB = 2**30


def declaring(*memories: str) -> tuple[Device, ...]:
    """Return an entry of GPUs, all of one class, for each of these declared memories; "" declares none."""
    return tuple(
        replace(gpu(name=f"gpu-{at}"), capacity=(("memory", memory),) if memory else ())
        for at, memory in enumerate(memories)
    )


@pytest.mark.parametrize(
    ("memories", "count", "copies", "expected"),
    [
        (("80Gi",), 1, 1, 80 * GIB),
        (("80Gi",), 4, 3, 960 * GIB),
        (("80Gi", "81920Mi"), 2, 1, 160 * GIB),
        (("80Gi", "40Gi"), 2, 1, None),
        (("80Gi", ""), 2, 1, None),
        (("",), 2, 1, None),
        (("80 gigabytes",), 2, 1, None),
        (("80 gigabytes", "much"), 2, 1, None),
    ],
)
def test_the_memory_of_all_devices_that_are_taken_is_added_up_where_it_is_known(
    memories: tuple[str, ...], count: int, copies: int, expected: int | None
) -> None:
    where = layout(cluster("a", pool(2, *declaring(*memories))))
    assert capability((stamped(count=count, copies=copies),), where) == expected


def test_engines_on_a_pool_that_does_not_exist_take_nothing_that_is_known() -> None:
    assert capability((stamped("gone"),), layout(cluster("a", pool(2)))) is None
