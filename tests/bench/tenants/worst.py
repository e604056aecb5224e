"""The specs that cost a scheduling pass most, as far as `climb` has found them: alone, and sixteen of them at once."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, Final

from bench.figures import Figure, at_most
from bench.fleet import Manifest, deployment, others
from bench.measure import Served, served
from bench.passes import Scene, Store, run_pass
from bench.specs import EngineSpec, Spec, wanted, with_nics
from bench.tenants.table import CLUSTERS, REPLICAS, Case
from modelplane.transport.admission import MEMORY

#: Deployments at once, and how often each is edited.
_AT_ONCE, _EDITS = 16, 2
#: Longest wait of another team's call meanwhile, in seconds, and most memory, in MiB.
_PASSING, _MEBIBYTES = 1.0, 600.0


def _engines(*requests: tuple[int, int]) -> Spec:
    """Return engines whose leader and worker have so many requests of one device each, which any device satisfies."""
    return tuple(EngineSpec(1, min(1, worker), ((1, 0),) * leader, ((1, 0),) * worker) for leader, worker in requests)


def _written(*engines: str) -> Spec:
    """Return engines of which each is written in digits: copies and nodes of the worker, then the members' requests.

    A request is its count and the position of its selector.
    """

    def asks(text: str) -> tuple[tuple[int, int], ...]:
        return tuple((int(count), int(selector)) for count, selector in zip(text[::2], text[1::2], strict=True))

    parts = (engine.split() for engine in engines)
    return tuple(
        EngineSpec(int(head[0]), int(head[1]), asks(leader), asks("".join(worker))) for head, leader, *worker in parts
    )


#: The specs whose first pass, or whichever of their passes, costs most; the last one takes the most passes.
WORST: Final[tuple[Spec, ...]] = (
    _engines((5, 7), (12, 8), (6, 0), (12, 5), (5, 12), (9, 10), (10, 4), (7, 12)),
    _engines(*[(6, 6)] * 8),
    _written(
        "12 10101211101112 12101110111011",
        "12 21111221101011 121111101121",
        "11 22101220121010 121022101110",
        "21 111112111011 10102011121010",
        "12 11111012131212 21121121112011",
        "10 201012201012",
        "11 10202210121012 1210121111121212",
    ),
    _written(
        "12 1021141122 1021131113",
        "11 2124131310 10131112",
        "11 1313121014 13121413",
        "11 1311102412 2322141111",
        "21 12142113 1323141022",
        "10 1110141010",
        "21 1114241210 14122213",
        "21 22231112 1113101214",
    ),
)


def _fleet() -> Store:
    """Return the fleet that `climb` decides on."""
    return Store([*map(with_nics, range(CLUSTERS)), *others(CLUSTERS, REPLICAS)])


def _scene(spec: Spec) -> Scene:
    return Scene(wanted(spec), {}, _fleet())


CASES = tuple(
    Case(
        f"{len(spec)} engines of {requests} requests on 100 clusters of other sizes", partial(_scene, spec), seen=_fleet
    )
    for spec, requests in ((spec, sum(len(each.leader + each.worker) for each in spec)) for spec in WORST)
)


def _variant(number: int, edit: int) -> Manifest:
    """Return one of the worst deployments; what is worked out for one of them is of no use to another."""
    spec = WORST[number % len(WORST)]
    first = spec[0]._replace(leader=((1, 0),) * (1 + number // len(WORST)), worker=((1, 0),) * (1 + edit))
    found = wanted((first, *spec[1:]), f"worst-{number}")
    metadata = {**found["metadata"], "namespace": "costly", "uid": f"uid-{number}", "resourceVersion": f"{edit}"}
    return {**found, "metadata": metadata}


def sixteen() -> Iterator[Figure]:
    """Yield what a team costs the others that applies sixteen of the worst deployments at once and edits them."""
    store = _fleet()
    with served("schedule") as on, ThreadPoolExecutor(_AT_ONCE) as callers:
        stranger = Scene(deployment("stranger", 1), {}, store)
        run_pass(stranger, on.steps("schedule"))
        waits: list[float] = []
        for edit in range(_EDITS):
            scenes = [Scene(_variant(number, edit), {}, store) for number in range(_AT_ONCE)]
            calls = [callers.submit(run_pass, scene, on.steps("schedule")) for scene in scenes]
            waits += _beside(calls, stranger, on)
            longest = max(one.seconds for call in calls for one in call.result().exchanges)
        name = f"{_AT_ONCE} of the worst deployments at once, edited"
        yield at_most(f"{name}: longest of {len(waits)} calls of another team", max(waits), _PASSING, "s")
        yield Figure("... longest of their own calls", longest, "s")
        yield at_most(f"... peak memory, of a pod's {MEMORY}", on.peak("schedule"), _MEBIBYTES, "MiB")


def _beside(calls: "Sequence[Future[Any]]", stranger: Scene, on: Served) -> Iterator[float]:
    """Make passes of another team until the calls are answered; yield how long each of their calls took."""
    while wait(calls, timeout=0.05).not_done:
        yield from (one.seconds for one in run_pass(stranger, on.steps("schedule")).exchanges)
