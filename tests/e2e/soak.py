"""`make soak`: a settled fleet on the real control plane for minutes on end, and what each minute of it costs.

Exit code 1 when the first deployments are placed too late, a replica moves, a circuit breaker opens, a deployment is
not Ready at the end or costs more requests than it may, or a process grows.
"""

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(_ROOT / folder) for folder in ("functions", "tests", "tools")]

from e2e.breakers import judged  # noqa: E402 - the path comes first
from e2e.fleet import Fleet  # noqa: E402
from modelplane_dev.plane.control_plane import DEPLOYMENT, ControlPlane, control_plane  # noqa: E402
from modelplane_dev.plane.requests import RequestKind, now, requests, table  # noqa: E402
from modelplane_dev.plane.waiting import eventually  # noqa: E402
from modelplane_dev.processes.usage import Usage, usage  # noqa: E402

#: Clusters, GPUs of a node, deployments of one GPU that are made at once, and those of each batch after them.
CLUSTERS, GPUS, AT_ONCE, BATCH = 4, 8, 100, 20
#: Seconds within which those that are made at once are placed, that one batch may take until it is Ready, and until all
#: looks after the start are over.
PLACED, PATIENCE, CALM = 60.0, 600.0, 120.0
#: Most requests a minute of a settled deployment, and by how much a process may grow after the first minute, in MiB and
#: as a share: caches fill slowly.
COST, GROWTH, SHARE = 20.0, 64.0, 1.25


@dataclass(frozen=True)
class Minute:
    """What one minute has cost: requests to the control cluster, and processor seconds and memory of each process."""

    requests: int
    cpu: Mapping[str, float]
    memory: Mapping[str, float]
    lines: list[str]

    def __str__(self) -> str:
        """Return one line: requests, then of each process its share of one core and its MiB."""
        each = (f"{name} {self.cpu[name] / 60:.1%} {self.memory[name]:.0f} MiB" for name in self.cpu)
        return f"{self.requests:5d} requests; {', '.join(each)}"


def _fill(fleet: Fleet, deployments: int) -> tuple[list[str], float]:
    """Make deployments, the first of them at once, and wait until all are Ready.

    Return their names, and the seconds after which the first were placed.
    """
    nodes = -(-deployments // (GPUS * CLUSTERS))
    for cluster in [fleet.begin_cluster("east", nodes=nodes, suffix=f"-{number}") for number in range(CLUSTERS)]:
        fleet.wait_cluster(cluster)
    names = [f"d{number}" for number in range(deployments)]
    batches = [names[:AT_ONCE], *(names[first : first + BATCH] for first in range(AT_ONCE, deployments, BATCH))]
    until_placed: list[float] = []
    for batch in batches:
        started = time.monotonic()
        for name in batch:
            fleet.deploy(name)
        eventually(partial(_all_placed, fleet, batch), within=PATIENCE, every=1)
        until_placed.append(time.monotonic() - started)
        eventually(partial(_all_ready, fleet, batch), within=PATIENCE, every=1)
        ready = time.monotonic() - started
        click.echo(f"{len(batch)} at once: all placed after {until_placed[-1]:.0f} s, all Ready after {ready:.0f} s")
    return names, until_placed[0]


def _counts(fleet: Fleet) -> dict[str, tuple[int, int]]:
    """Return how many replicas of each deployment are placed, and how many are ready, by one request."""
    listed = {one["metadata"]["name"]: one.get("status", {}) for one in fleet.plane.hub.api.list(DEPLOYMENT, fleet.tag)}
    counted = {name: status.get("replicas", {}) for name, status in listed.items()}
    return {name: (found.get("total", 0), found.get("ready", 0)) for name, found in counted.items()}


def _all_placed(fleet: Fleet, names: list[str]) -> None:
    counts = _counts(fleet)
    assert {counts[name][0] for name in names} == {1}


def _all_ready(fleet: Fleet, names: list[str]) -> None:
    counts = _counts(fleet)
    assert {counts[name] for name in names} == {(1, 1)}


def _measure(plane: ControlPlane) -> Minute:
    """Return what the next minute costs."""
    began, before = now(), _usage(plane)
    time.sleep(60)
    after, found = _usage(plane), requests(plane.hub.audit_log, began, now())
    cpu = {name: after[name].cpu - before[name].cpu for name in after}
    return Minute(found.total(), cpu, {name: after[name].memory for name in after}, table(found, rows=15, minutes=1))


def _usage(plane: ControlPlane) -> dict[str, Usage]:
    return {name: usage(process.pid) for name, process in plane.processes.items()}


def _moved(found: Counter[RequestKind]) -> int:
    """Return how many ModelReplicas were deleted: as many as were placed elsewhere."""
    return sum(count for asked, count in found.items() if asked[1:3] == ("delete", "modelreplicas"))


def _faults(fleet: Fleet, names: list[str], watched: list[Minute]) -> list[str]:
    """Return what is not as it should be after the last minute."""
    counts = _counts(fleet)
    opened, ready = judged(fleet.plane, "opens"), [counts[name] == (1, 1) for name in names]
    cost = sum(minute.requests for minute in watched) / len(watched) / len(names)
    first, last = watched[0].memory, watched[-1].memory
    grown = [
        f"{name} has grown from {first[name]:.0f} to {last[name]:.0f} MiB"
        for name in first
        if last[name] > max(first[name] + GROWTH, first[name] * SHARE)
    ]
    return [
        *([f"breakers have opened: {opened}"] if opened else []),
        *([f"{ready.count(False)} of {len(ready)} deployments are not Ready"] if not all(ready) else []),
        *([f"a deployment costs {cost:.1f} requests a minute, {COST:.0f} at most"] if cost > COST else []),
        *grown,
    ]


@click.command()
@click.option("--deployments", default=200, show_default=True, help="Settled deployments of one replica.")
@click.option("--minutes", default=10, show_default=True, help="Minutes for which they are watched.")
def main(deployments: int, minutes: int) -> None:
    """Run a settled fleet on a control plane of its own, and print what each minute of it costs."""
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    click.echo(f"The logs are in {folder}.")
    with control_plane(folder, sites=["east"], queue=0) as plane:
        fleet, started = Fleet(plane, tag="soak"), time.monotonic()
        fleet.open()
        began = now()
        names, placed = _fill(fleet, deployments)
        filling = requests(plane.hub.audit_log, began, now())
        seconds = time.monotonic() - started
        click.echo(f"{deployments} deployments are Ready after {seconds:.0f} s and {filling.total()} requests")
        time.sleep(CALM)
        watched: list[Minute] = []
        for number in range(1, minutes + 1):
            watched.append(_measure(plane))
            click.echo(f"minute {number}: {watched[-1]}")
        click.echo("\n".join(["In the last minute:", *watched[-1].lines]))
        faults = _faults(fleet, names, watched)
        moved = _moved(requests(plane.hub.audit_log, began, now()))
    faults += [f"the first were placed after {placed:.0f} s, {PLACED:.0f} at most"] if placed > PLACED else []
    faults += [f"{moved} replicas have moved"] if moved else []
    click.echo("\n".join(faults) or "Held.")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
