"""`make bench`: how fast and how large the functions are, over gRPC, and what the gateway adds to a request.

Exit code 1 when a limit is missed twice: what misses one is measured again, because something else may have had the
machine. The yardstick is a bare function that returns the same messages; limits in seconds are those of a quiet
machine, and a slower one is allowed as much longer as it takes for a fixed piece of work.
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:1] = [str(_ROOT / folder) for folder in ("functions", "tests", "tools")]

from bench import burst, cases, catalogued, fit, gateway, live_fleet, previews, races, replicas, soak  # noqa: E402 - the path comes first
from bench.figures import Figure, at_pace, best, print_table, to_json  # noqa: E402
from bench.pace import pace  # noqa: E402
from bench.tenants import composing, largest, messages, routing, scheduling, worst  # noqa: E402
from bench.tenants.table import measured  # noqa: E402

#: How often figures of which one misses its limit are measured again: what else the machine does only makes them worse.
AGAIN = 2


def one_tenant() -> Iterator[Figure]:
    """Yield what one tenant can cost everybody, case by case."""
    tables = (worst, scheduling, composing, largest, messages, routing)
    yield from measured([case for each in tables for case in each.CASES])


CASES: tuple[Callable[[], Iterator[Figure]], ...] = (
    cases.idle,
    cases.placing,
    cases.placing_on_many,
    races.races,
    cases.settled,
    replicas.settled_replicas,
    catalogued.catalogue,
    previews.previewing,
    live_fleet.live_fleet,
    fit.fitting,
    one_tenant,
    worst.sixteen,
    gateway.gateway,
    burst.burst,
    soak.soak,
)
#: What is measured only where it is named: `make soak` does. What keeps memory bounded is tested by each run
#: (unit/test_lru.py, unit/transport/test_objects.py).
AT_LENGTH = (soak.soak,)
_BY_NAME = {case.__name__: case for case in CASES}


@click.command()
@click.option("--only", type=click.Choice(list(_BY_NAME)), help="One case alone.")
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
def main(only: str | None, output: str) -> None:
    """Measure everything, or one case, and print it."""
    figures: list[Figure] = []
    for case in (_BY_NAME[only],) if only else (case for case in CASES if case not in AT_LENGTH):
        click.echo(f"measuring: {case.__name__} ...", err=True)
        began = time.monotonic()
        found = list(at_pace(case(), pace))
        for _ in range(AGAIN):
            if all(figure.met for figure in found):
                break
            click.echo(f"measuring: {case.__name__} again, a limit was missed ...", err=True)
            found = best(found, list(at_pace(case(), pace)))
        click.echo(f"measured: {case.__name__} in {time.monotonic() - began:.0f} s", err=True)
        figures += found
    if output == "json":
        click.echo(to_json(figures))
    else:
        print_table(figures)
    sys.exit(0 if all(figure.met for figure in figures) else 1)


if __name__ == "__main__":
    main()
