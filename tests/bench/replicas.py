"""A fleet of ModelReplicas that serve, each reconciled once a minute although nothing has changed."""

from collections.abc import Iterator, Sequence
from typing import Final

from bench.figures import Figure, at_most, compared
from bench.measure import Served, served, timed
from bench.passes import run_pass
from bench.soak import serving

_STEP: Final = "compose-replica"
#: A pass of a settled replica over a bare function that returns the same messages.
BARE: Final = 2.0
#: Replicas of the fleet; of so many one is reconciled again once all have been.
FLEET, AGAIN = 5000, 5
#: The most calls that may be computed again, in percent, and what the function may have resident then, in MiB: a fifth
#: of its pod's limit.
COMPUTED, RESIDENT = 5.0, 205.0


def settled_replicas() -> Iterator[Figure]:
    """Yield what a pass costs that changes nothing, how many calls are computed again, and what is kept for that."""
    scene = serving(0)
    with served(_STEP) as on:
        (of,) = timed([scene], on, _STEP, times=100)
        yield compared("settled replica: pass of two calls", of.total * 1e3, of.yardstick * 1e3, BARE, "ms")
        own = [each["metadata"]["uid"] for each in (scene.composite, *scene.observed.values())]
        requests = [one.request for one in run_pass(scene, on.steps(_STEP)).exchanges]
        reconcile(on, requests, own, range(FLEET))
        before = len(on.logged(_STEP))
        reconcile(on, requests, own, range(0, FLEET, AGAIN))
        lines = on.logged(_STEP)[before:]
        computed = 100 * sum(not line["cached"] for line in lines) / len(lines)
        yield at_most(f"... {FLEET:,} replicas again: calls that are computed", computed, COMPUTED, "%")
        yield at_most(f"... resident after {FLEET:,} replicas: {_STEP}", on.resident(_STEP), RESIDENT, "MiB")


def reconcile(on: Served, requests: Sequence[bytes], own: Sequence[str], numbers: range) -> None:
    """Make a pass over each of these replicas: one like the requests', with names and uids of its own."""
    for number in numbers:
        for request in requests:
            on.calls[_STEP](_of_another(request, own, number))


def _of_another(request: bytes, own: Sequence[str], number: int) -> bytes:
    """Return a request for another replica. Names and uids are as long as what they replace (see `soak`)."""
    request = request.replace(b"soaked", b"r%05d" % number)
    for uid in own:
        request = request.replace(uid.encode(), f"{uid[:-5]}{number:05}".encode())
    return request
