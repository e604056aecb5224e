"""`make climb`: looks for what costs a pass of each function most, by random search and then hill climbing.

Every candidate is decided in a process of its own, which has seen the fleet and nothing of the spec. Seeded, so that a
run can be repeated; what it finds worse than the specs in `tenants/worst.py` and `tenants/largest.py` belongs there.
"""

import json
import logging
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from itertools import islice
from math import prod
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple, TypeVar

import click
import structlog

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(_ROOT / folder) for folder in ("functions", "tests", "tools")]

from bench.composites import COMPOSITES, Composite, Sizes  # noqa: E402 - the path comes first
from bench.fleet import others  # noqa: E402
from bench.passes import NotSettledError, Scene, applied, run_pass  # noqa: E402
from bench.specs import EngineSpec, Spec, changed, drawn, wanted, with_nics  # noqa: E402
from modelplane.cli.serve import FUNCTIONS  # noqa: E402
from modelplane.model.deployment import Deployment  # noqa: E402
from modelplane.model.fleet import Cluster  # noqa: E402
from modelplane.model.refusal import SearchBound  # noqa: E402
from modelplane.observed.cluster import read_cluster  # noqa: E402
from modelplane.observed.deployment import read_deployment  # noqa: E402
from modelplane.observed.replica import read_replica  # noqa: E402
from modelplane.scheduling.matching.options import EngineMatch, Options  # noqa: E402
from modelplane.scheduling.pools.hardware import hardware  # noqa: E402
from modelplane.scheduling.search_budget import MOST_OPTIONS, Allowance, SearchBudget, allowed  # noqa: E402
from modelplane.step import Object  # noqa: E402
from modelplane.step.call import dispatch  # noqa: E402
from modelplane.transport.admission import LARGEST, Received  # noqa: E402
from modelplane.transport.exchange import answer  # noqa: E402
from modelplane.transport.server import collect_rarely  # noqa: E402
from property.fleet import Snapshot, decide  # noqa: E402

#: No spec is measured for longer, in seconds.
_MOST = 60
#: How many passes are measured of a spec, where it is not their number that is looked for.
_FIRST: Final = 6
#: What the climb can look for the most of, by the name of the option's value.
_GOALS: Final = {"pass": 0, "passes": 1, "memory": 2}


#: Passes of a composite that are measured: of nothing, of what is composed, and once more.
_PASSES: Final = 3
_SCHEDULE: Final = "schedule"
_T = TypeVar("_T")


class Cost(NamedTuple):
    """What it takes to decide a spec: processor time of the costliest pass in milliseconds, passes, and memory in MiB.

    Memory is the peak above what the process had before.
    """

    milliseconds: float
    passes: int
    mebibytes: float


def read(manifest: Mapping[str, object]) -> Object:
    """Return a manifest as a function reads it."""
    metadata = manifest["metadata"]
    assert isinstance(metadata, dict)
    return Object(dict(manifest), (metadata["uid"], json.dumps(manifest["spec"])))


def read_spec(spec: Spec, replicas: int = 10) -> Deployment:
    """Return the deployment with a spec as a function reads it."""
    found = read_deployment(read(wanted(spec, replicas=replicas)))
    assert isinstance(found, Deployment), found
    assert found.over_bound is None, found.over_bound
    return found


def fleet(clusters: int) -> Snapshot:
    """Return the fleet that specs are decided on, with five replicas of others on each cluster."""
    there = (read_cluster(read(with_nics(number))) for number in range(clusters))
    running = tuple(read_replica(read(each)) for each in others(clusters, 5 * clusters))
    return Snapshot({cluster.name: cluster for cluster in there}, running)


def measure(spec: Spec, on: Snapshot, most: int | None = None) -> Cost:
    """Return the cost of the passes until a spec is decided, as a server makes them, in a fork of this process.

    `most` is the number of passes to measure, None for all.
    """
    return _forked(lambda: read_spec(spec), lambda deployment: islice(_spent(deployment, on), most))


def measure_passes(composite: Composite, sizes: Sizes) -> Cost:
    """Return the cost of the passes of a composite of these sizes until all exists, in a fork of this process.

    Its memory has that of the requests too, which a server receives. Nothing where an API server holds no such object,
    and where the function refuses the pass.
    """
    return _forked(lambda: composite.scene(sizes), partial(_spent_passes, composite.step))


def _forked(build: Callable[[], _T], passes: Callable[[_T], Iterator[float]]) -> Cost:
    """Return the cost of passes, of which each yields its processor time in seconds, over what is built before them."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(out)
        resource.setrlimit(resource.RLIMIT_CPU, (_MOST, _MOST))
        try:
            built, held = build(), _resident("VmRSS")
            Path("/proc/self/clear_refs").write_text("5")
            spent = [*passes(built)]
            os.write(into, json.dumps([1e3 * max(spent, default=0), len(spent), _resident("VmHWM") - held]).encode())
        except BaseException:  # noqa: BLE001 - this process has nobody to tell
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out) as answers:
        said = answers.read()
    os.waitpid(child, 0)
    return Cost(*json.loads(said)) if said else Cost(_MOST * 1e3, 0, 0.0)


def _spent_passes(name: str, scene: Scene | None) -> Iterator[float]:
    """Yield the processor time of each pass in seconds: of nothing, then of what the pass before has composed."""
    step, total = dispatch(name, import_module(FUNCTIONS[name]).STEPS), 0.0

    def call(wire: bytes) -> bytes:
        nonlocal total
        if len(wire) > LARGEST * 1024 * 1024:
            raise NotSettledError("the request is larger than a server receives")
        began = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        found = answer(step, Received(wire))
        total += resource.getrusage(resource.RUSAGE_SELF).ru_utime - began
        return found

    for number in range(_PASSES):
        if scene is None:
            return
        total = 0.0
        try:
            last = run_pass(scene, [(name, call)]).exchanges[-1].response
        except NotSettledError:
            return
        yield total
        scene = applied(scene, last, 1_000_000 * (1 + number))


def _spent(deployment: Deployment, on: Snapshot) -> Iterator[float]:
    """Yield the processor time of each pass in seconds, up to the one that decides everything.

    Without that of the system, which copies a page of the forked process as soon as it is written to.
    """
    postponed = True
    while postponed:
        began = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        with allowed(Allowance()):
            postponed = decide(deployment, on).schedule.postponed
        yield resource.getrusage(resource.RUSAGE_SELF).ru_utime - began


def _resident(field: str) -> float:
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith(field))
    return int(line.split()[1]) / 1024


class _Search(NamedTuple):
    """What is looked for: how a candidate is drawn, changed, measured, and written down."""

    drawn: Callable[[Random], Any]
    changed: Callable[[Random, Any], Any]
    measure: Callable[[Any], Cost]
    written: Callable[[Any], str]


def count_ways(deployment: Deployment, on: Cluster) -> int:
    """Return how many ways there are to put a deployment's engines on the pools of a cluster, each with its devices."""
    profile, pools = deployment.profiles[0], on.pools or ()
    options = Options(profile, SearchBudget())
    kinds = [hardware(pool.devices) for pool in pools]
    found = ([options.match(at, kind) for kind in kinds] for at in range(len(profile.engines)))
    return prod(sum(MOST_OPTIONS if _is_undecided(each) else len(each.options) for each in of) or 1 for of in found)


def _is_undecided(match: EngineMatch) -> bool:
    return isinstance(match.refusal, SearchBound)


def _schedule(clusters: int, goal: str, ways: int | None) -> _Search:
    on = fleet(clusters)
    decide(read_spec((EngineSpec(1, 0, ((1, 0),)),)), on)  # loads the grammar of selectors, and reads the fleet

    def written(spec: Spec) -> str:
        return f"{len(json.dumps(wanted(spec)['spec'])):7,} B: {json.dumps(spec).replace(' ', '')}"

    cluster = next(iter(on.clusters.values()))

    def measured(spec: Spec) -> Cost:
        if ways is not None and count_ways(read_spec(spec), cluster) >= ways:
            return Cost(0, 0, 0)
        return measure(spec, on, None if goal == "passes" else _FIRST)

    return _Search(drawn, changed, measured, written)


def _composed(composite: Composite) -> _Search:
    least = composite.scene({name: min(values) for name, values in composite.values.items()})
    [*_spent_passes(composite.step, least)]  # imports what a server has imported before its first call
    return _Search(composite.drawn, composite.changed, partial(measure_passes, composite), json.dumps)


def _climb(search: _Search, random: Random, minutes: float, goal: str) -> int:
    """Print each candidate that costs more than all before it; return how many were measured."""
    began, worst, most, tried = time.monotonic(), search.drawn(random), 0.0, 0
    while (spent := time.monotonic() - began) < 60 * minutes:
        candidate = search.drawn(random) if spent < 30 * minutes else search.changed(random, worst)
        cost, tried = search.measure(candidate), tried + 1
        if cost[_GOALS[goal]] > most:
            worst, most = candidate, cost[_GOALS[goal]]
            figures = f"{cost.milliseconds:8,.0f} ms {cost.passes:4} passes {cost.mebibytes:6,.0f} MiB"
            click.echo(f"{figures} after {tried}: {search.written(candidate)}")
    return tried


@click.command()
@click.option("--seed", default=1, show_default=True)
@click.option("--minutes", default=4.0, show_default=True, help="For each function, half of them for each search.")
@click.option("--clusters", default=100, show_default=True, help="Of the fleet that schedule decides on.")
@click.option("--goal", type=click.Choice(list(_GOALS)), default="pass", show_default=True)
@click.option("--ways", type=int, help="Only specs with fewer ways on a cluster, for schedule.")
@click.option("--only", type=click.Choice([_SCHEDULE, *COMPOSITES]), help="One function alone.")
def main(*, seed: int, minutes: float, clusters: int, goal: str, ways: int | None, only: str | None) -> None:
    """Print what costs each function more than all before it."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    collect_rarely()
    for name in (only,) if only else (_SCHEDULE, *COMPOSITES):
        search = _schedule(clusters, goal, ways) if name == _SCHEDULE else _composed(COMPOSITES[name])
        click.echo(f"{name}:")
        tried = _climb(search, Random(seed), minutes, goal)  # noqa: S311 - nothing here is a secret
        click.echo(f"tried {tried} in {minutes} minutes, seed {seed}")


if __name__ == "__main__":
    main()
