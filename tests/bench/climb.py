"""`make climb`: looks for the spec that costs a scheduling pass most, by random search and then hill climbing.

Every candidate is decided in a process of its own, which has seen the fleet and nothing of the spec. Seeded, so that a
run can be repeated; what it finds worse than the specs in `tenants/worst.py` belongs there.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

import click

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(_ROOT / folder) for folder in ("functions", "tests", "tools")]

from bench.fleet import others  # noqa: E402 - the path comes first
from bench.specs import EngineSpec, Spec, changed, drawn, wanted, with_nics  # noqa: E402
from modelplane.model.deployment import Deployment  # noqa: E402
from modelplane.observed.cluster import read_cluster  # noqa: E402
from modelplane.observed.deployment import read_deployment  # noqa: E402
from modelplane.observed.replica import read_replica  # noqa: E402
from modelplane.scheduling.allowance import Allowance, allowed  # noqa: E402
from modelplane.step import Object  # noqa: E402
from modelplane.transport.server import collect_rarely  # noqa: E402
from property.fleet import Snapshot, decide  # noqa: E402

#: No spec is measured for longer, in seconds.
_MOST = 60
#: How many passes are measured of a spec, where it is not their number that is looked for.
_FIRST: Final = 6
#: What the climb can look for the most of, by the name of the option's value.
_GOALS: Final = {"pass": 0, "passes": 1, "memory": 2}


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
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(out)
        resource.setrlimit(resource.RLIMIT_CPU, (_MOST, _MOST))
        deployment, held = read_spec(spec), _resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")
        spent = [*islice(_spent(deployment, on), most)]
        os.write(into, json.dumps([1e3 * max(spent), len(spent), _resident("VmHWM") - held]).encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as answers:
        said = answers.read()
    os.waitpid(child, 0)
    return Cost(*json.loads(said)) if said else Cost(_MOST * 1e3, 0, 0.0)


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


@click.command()
@click.option("--seed", default=1, show_default=True)
@click.option("--minutes", default=4.0, show_default=True, help="Half of them for each search.")
@click.option("--clusters", default=100, show_default=True)
@click.option("--goal", type=click.Choice(list(_GOALS)), default="pass", show_default=True)
def main(*, seed: int, minutes: float, clusters: int, goal: str) -> None:
    """Print each spec that costs more than all before it."""
    random, on = Random(seed), fleet(clusters)  # noqa: S311 - nothing here is a secret
    decide(read_spec((EngineSpec(1, 0, ((1, 0),)),)), on)  # loads the grammar of selectors, and reads the fleet
    collect_rarely()
    began, worst, most = time.monotonic(), drawn(random), 0.0
    tried = 0
    while (spent := time.monotonic() - began) < 60 * minutes:
        spec = drawn(random) if spent < 30 * minutes else changed(random, worst)
        cost, tried = measure(spec, on, None if goal == "passes" else _FIRST), tried + 1
        if cost[_GOALS[goal]] > most:
            worst, most = spec, cost[_GOALS[goal]]
            size = len(json.dumps(wanted(spec)["spec"]))
            plain = json.dumps(spec).replace(" ", "")
            figures = f"{cost.milliseconds:8,.0f} ms {cost.passes:4} passes {cost.mebibytes:6,.0f} MiB"
            click.echo(f"{figures} {size:7,} B after {tried}: {plain}")
    click.echo(f"tried {tried} specs in {minutes} minutes, seed {seed}")


if __name__ == "__main__":
    main()
