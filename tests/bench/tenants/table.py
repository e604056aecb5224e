"""One tenant against everybody: what may be asked for within the API's bounds, and the most that it may cost.

Each case is a pass in a process of its own that has seen the fleet of 100 clusters before and nothing of the case: the
tenant's own pass, or that of a stranger to whom the tenant's objects are sent too. Its cost is processor time, which
a busy machine changes least, and the peak of resident memory.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace

from bench.figures import Figure, at_most
from bench.fleet import Manifest, deployment, others, varied
from bench.measure import Served, served
from bench.passes import NotSettledError, Scene, Store, run_pass

#: The most that a pass may cost, in milliseconds of processor time.
MILLISECONDS = 250.0
#: The most that a function may hold at its peak, in MiB.
MEBIBYTES = 300.0
CLUSTERS, REPLICAS = 100, 500


def fleet(*added: Manifest) -> Store:
    """Return the fleet of 100 clusters, no two alike, with the serving replicas of other teams, and what was added."""
    return Store([*map(varied, range(CLUSTERS)), *others(CLUSTERS, REPLICAS), *added])


@dataclass(frozen=True, slots=True)
class Case:
    """What a tenant does, in words, the pass that pays for it, and the functions that make that pass.

    `refused`: the pass must end in a fatal result, whose text holds this. `seen`: the fleet that the process has read
    before.
    `milliseconds`: the most that it may cost.
    """

    name: str
    scene: Callable[[], Scene]
    steps: tuple[str, ...] = ("schedule",)
    refused: str = ""
    seen: Callable[[], Store] = fleet
    milliseconds: float = MILLISECONDS


def measured(cases: Iterable[Case]) -> Iterator[Figure]:
    """Yield two figures a case: processor time of its first pass, and peak memory after two.

    While a case is measured, the processes of the next one start: a pass keeps one of two processors busy.
    """
    todo = deque(cases)
    with ExitStack() as every, ThreadPoolExecutor(1) as beside:
        ready = beside.submit(_begin, todo[0], every)
        while todo:
            case = todo.popleft()
            scene, on, processes = ready.result()
            with processes:
                if todo:
                    ready = beside.submit(_begin, todo[0], every)
                spent = [_spent(case, scene, on) for _ in range(2)]
                first = at_most(f"{case.name}: first pass", spent[0] * 1e3, case.milliseconds, "ms")
                yield replace(first, processor=True)
                peak = max(on.peak(name) for name in case.steps)
                yield at_most(f"... peak memory; again in {spent[1] * 1e3:,.0f} ms", peak, MEBIBYTES, "MiB")


def _begin(case: Case, every: ExitStack) -> tuple[Scene, Served, ExitStack]:
    """Return a case's scene, its functions that have seen the fleet, and what ends their processes, as `every` does."""
    scene = case.scene()
    processes = every.enter_context(ExitStack())
    on = processes.enter_context(served(*dict.fromkeys(("schedule", *case.steps))))
    run_pass(Scene(deployment("ordinary", 1), {}, case.seen()), on.steps("schedule"))
    return scene, on, processes


def _spent(case: Case, scene: Scene, on: Served) -> float:
    """Return the processor time of a pass in seconds; raises NotSettledError where it does not end as the case says."""
    before = sum(on.processor_time(name) for name in case.steps)
    try:
        run_pass(scene, on.steps(*case.steps))
        refused = ""
    except NotSettledError as error:
        refused = str(error)
    if (case.refused not in refused) or bool(case.refused) != bool(refused):
        raise NotSettledError(f"{case.name}: expected {case.refused or 'a result'!r}, not {refused or 'a result'!r}")
    return sum(on.processor_time(name) for name in case.steps) - before
