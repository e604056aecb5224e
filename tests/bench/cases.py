"""What is measured, and how fast it has to be."""

import time
from collections.abc import Iterator

from bench.figures import Figure, at_most, compared
from bench.fleet import Manifest, cluster, deployment, others
from bench.measure import STEPS, Timed, served, timed
from bench.passes import Scene, Store, run_pass, settle
from modelplane.cli.serve import FUNCTIONS

#: Resident memory of a function that has not answered a call yet, in MiB: half of it the SDK's server, 1.4 the client
#: of Prometheus, and half a MiB more or less from start to start.
IDLE = 74.0
#: Growth of time over growth of the fleet that still counts as linear: a tenth for noise.
LINEAR = 1.1
#: How much a settled pass may differ between a small and a large fleet.
SAME = 1.2
#: A settled pass over a bare function that returns the same messages, of 5 and of 500 replicas: as in version 0.1.0.
BARE, BARE_MANY = 1.73, 1.59
#: Clusters, replicas of other deployments.
HUGE = (10_000, 50_000)
LARGE = (1000, 5000)
MEDIUM = (100, 500)
SMALL = (10, 50)


def _store(clusters: int, replicas: int) -> Store:
    each = replicas // clusters
    return Store([*(cluster(number, replicas=each) for number in range(clusters)), *others(clusters, replicas)])


def idle() -> Iterator[Figure]:
    """Yield the memory of each function that was just started."""
    with served(*FUNCTIONS) as on:
        time.sleep(1)
        for name in FUNCTIONS:
            yield at_most(f"idle {name}", on.resident(name), IDLE, "MiB")


def _first(scene: Scene) -> float:
    """Return the seconds of a pass in a process that has seen nothing yet."""
    with served("schedule") as on:
        return run_pass(scene, on.steps("schedule")).seconds()


def placing() -> Iterator[Figure]:
    """Yield what it takes to place ten replicas, in a fresh process and in one that has seen the fleet."""
    large = Scene(deployment("placed", 10), {}, _store(*LARGE))
    first = min(_first(large) for _ in range(5))
    yield at_most("place 10 of 1,000 clusters, 5,000 replicas: first", first, 0.6, "s")
    with served("schedule") as on:
        medium = Scene(deployment("placed", 10), {}, _store(*MEDIUM))
        half = Scene(deployment("placed", 10), {}, _store(LARGE[0] // 2, LARGE[1] // 2))
        on_medium, on_half, on_large = timed([medium, half, large], on, "schedule", times=9)
        yield at_most("... warm", on_large.total, 0.06, "s", on_large.yardstick)
        yield at_most("... sent to schedule in all calls", on_large.sent / 1e6, 5.0, "MB")
        (on_some,) = timed([Scene(_narrowed("placed", 10), {}, large.store)], on, "schedule", times=9)
        yield at_most("... of the 250 that its selector names, warm", on_some.total, 0.03, "s", on_some.yardstick)
        yield at_most("... sent to schedule in all calls", on_some.sent / 1e6, 2.0, "MB")
        yield at_most("... 100 clusters, 500 replicas, warm", on_medium.total, 0.04, "s", on_medium.yardstick)
        growth = on_large.total / on_half.total / 2
        yield Figure(
            "... 500 clusters, 2,500 replicas; growth to the double, over linear",
            on_half.total,
            "s",
            on_half.yardstick,
            compared=growth,
            limit=LINEAR,
        )
        growth = on_large.total / on_medium.total / 10
        yield Figure("... growth to the tenfold, over linear", growth, "x", compared=growth, limit=LINEAR)
        yield Figure("resident after the largest case: schedule", on.resident("schedule"), "MiB")


def _narrowed(name: str, replicas: int) -> Manifest:
    """Return a deployment for the clusters of one region in four."""
    found = deployment(name, replicas)
    return {**found, "spec": {**found["spec"], "clusterSelector": {"matchLabels": {"region": "region-1"}}}}


def placing_on_many() -> Iterator[Figure]:
    """Yield what it takes to place ten replicas on a fleet of ten thousand clusters."""
    huge = Scene(deployment("placed", 10), {}, _store(*HUGE))
    large = Scene(deployment("placed", 10), {}, _store(*LARGE))
    with served("schedule") as on:
        on_large, on_huge = timed([large, huge], on, "schedule", times=5)
        # Half a second on a quiet machine, and a fifth for a busy one.
        yield at_most("place 10 of 10,000 clusters, 50,000 replicas: warm", on_huge.total, 0.6, "s", on_huge.yardstick)
        yield at_most("... resident at most", on.peak("schedule"), 250.0, "MiB")
        growth = on_huge.total / on_large.total / 10
        yield Figure("... growth from a tenth of it, over linear", growth, "x", compared=growth, limit=LINEAR)


def settled() -> Iterator[Figure]:
    """Yield what a pass costs that changes nothing: whatever the fleet, and little more than its messages."""
    with served() as on:
        small, large = (settle(Scene(deployment("five", 5), {}, _store(*size)), on.steps()) for size in (SMALL, LARGE))
        of_small, of_large = timed([small, large], on, times=200)
        yield compared(
            "settled, 5 replicas: fetched in 1,000 clusters, over 10", of_large.fetched, of_small.fetched, SAME, "B"
        )
        yield compared(
            "settled, 5 replicas: pass in 1,000 clusters, over 10",
            of_large.total * 1e3,
            of_small.total * 1e3,
            SAME,
            "ms",
        )
        yield from _over_bare("settled, 5 replicas", of_large, BARE)
        many = settle(Scene(deployment("many", 500), {}, _store(250, 250)), on.steps())
        (of_many,) = timed([many], on, times=30)
        yield from _over_bare("settled, 500 replicas", of_many, BARE_MANY)
        for name in STEPS:
            yield Figure(f"resident after 500 replicas: {name}", on.resident(name), "MiB")


def _over_bare(name: str, of: Timed, limit: float) -> Iterator[Figure]:
    yield compared(f"{name}: pass", of.total * 1e3, of.yardstick * 1e3, limit, "ms")
    for step in STEPS:
        yield Figure(f"{name}: {step}", of.steps[step] * 1e3, "ms", of.yardsticks[step] * 1e3)
