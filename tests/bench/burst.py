"""Crossplane's default concurrency: a hundred placements at once on a large fleet, on one connection to a function."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, wait

from bench.connection import Answer, Connection
from bench.figures import Figure, at_most
from bench.fleet import cluster, deployment, others
from bench.measure import served
from bench.passes import NotSettledError, Scene, Store, run_pass
from modelplane.transport import messages
from modelplane.transport.admission import MEMORY
from modelplane.transport.structs import encode

#: Calls at once, replicas that each places, clusters, replicas of other deployments: requests of 21 MB with all of the
#: clusters, which are the largest of a pass.
CALLS, REPLICAS, CLUSTERS, OTHERS = 100, 10, 5000, 5000
#: Most memory of the function, in MiB, and seconds until all calls are answered: Crossplane gives a reconcile 120.
MEBIBYTES, SECONDS = 600.0, 90.0
#: Longest wait of a small call among them, over the time that all of them take.
PASSING = 0.25


def burst() -> Iterator[Figure]:
    """Yield what a hundred placements at once cost; all must be answered, and none refused."""
    store = Store([*map(cluster, range(CLUSTERS)), *others(CLUSTERS, OTHERS)])
    scene = Scene(deployment("first", REPLICAS), {}, store)
    with served("schedule") as on:
        largest = max(run_pass(scene, on.steps("schedule")).exchanges, key=lambda each: len(each.request))
        shared = _fleet_of(largest.request)
        with Connection(on.addresses["schedule"]) as connection:
            began = time.perf_counter()
            calls = [connection.call([_placing(number), shared]) for number in range(CALLS)]
            small = list(_small_calls(connection, calls, scene))
            seconds = time.perf_counter() - began
        _check([call.result() for call in calls])
        name = f"{CALLS} placements at once, requests of {len(shared) / 2**20:.0f} MiB"
        yield at_most(f"{name}: all answered", seconds, SECONDS, "s")
        yield at_most(f"... peak memory, of a pod's {MEMORY}", on.peak("schedule"), MEBIBYTES, "MiB")
        yield Figure(
            f"... longest of {len(small)} small calls among them, over all",
            max(small),
            "s",
            seconds,
            compared=max(small) / seconds,
            limit=PASSING,
        )


def _fleet_of(request: bytes) -> bytes:
    """Return the part of a request that is the same for all: what was required and the context."""
    message = messages.Request.FromString(request)
    message.ClearField("observed")
    wire: bytes = message.SerializeToString()
    return wire


def _placing(number: int) -> bytes:
    """Return the part of a request that is a deployment's own. Parts of a message may come one after the other."""
    message = messages.Request()
    message.observed.composite.resource = encode(deployment(f"burst-{number:03}", REPLICAS))
    wire: bytes = message.SerializeToString()
    return wire


def _small_calls(connection: Connection, large: "list[Future[Answer]]", scene: Scene) -> Iterator[float]:
    """Make small calls, one after the other, until the large ones are answered; yield how long each took."""
    request = scene.request().SerializeToString()
    while wait(large, timeout=0.2).not_done:
        yield connection.call([request]).result().seconds


def _check(answers: list[Answer]) -> None:
    """Raise NotSettledError unless every call has chosen clusters, and asks for the replicas there."""
    for answer in answers:
        response = messages.Response.FromString(answer.wire)
        if any(result.severity == 1 for result in response.results):
            raise NotSettledError(response.results[-1].message)
        asked = [each.kind for each in response.requirements.resources.values()]
        if asked.count("ModelReplica") < REPLICAS:
            raise NotSettledError(f"no clusters chosen: {asked}")
