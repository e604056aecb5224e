"""How many deployments a fleet hosts when each takes the least capable devices that suffice, and when not."""

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple
from unittest.mock import patch

from bench.figures import Figure, compared
from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.scheduling.steps import fill
from unit.scheduling.scene import Scene, cluster, deployment, gpu, memory, pool, request, standalone

_DEPLOYMENTS = 200
#: As many of the even mix as the fleet nearly hosts; 200 ask for half as many large GPUs again as it has.
_FEW = 110
_FLEETS = 5
#: GPUs of a node and the GiB of each: half of the clusters have L4s, a quarter A100s or H100s, a quarter H200s.
_KINDS = ((4, 22), (4, 22), (8, 80), (8, 140))
#: What deployments ask for (GiB of a GPU, GPUs of a pod), and how often: large models take more and larger GPUs.
_ASKED = {(20, 1): 6, (20, 2): 2, (40, 1): 3, (70, 2): 2, (70, 4): 2, (120, 8): 3}
#: The same sizes, each as often by any number of GPUs: small GPUs by whole nodes of large ones, too.
_EVEN = {(gib, count): 1 for gib in (20, 40, 70, 120) for count in (1, 1, 2, 4, 8)}


def _fleet(chance: random.Random) -> list[Cluster]:
    kinds = [_KINDS[at % len(_KINDS)] for at in range(24)]
    return [
        cluster(f"c{at:02}", pool(chance.randint(1, 8), gpu(count, gib, model=f"g{gib}")))
        for at, (count, gib) in enumerate(kinds)
    ]


def _deployments(chance: random.Random, asked: dict[tuple[int, int], int], number: int) -> Iterator[Deployment]:
    for at in range(number):
        ((gib, count),) = chance.choices(list(asked), list(asked.values()))
        yield deployment(standalone(request(count, memory(f"{gib}Gi"))), name=f"d{at}")


class Lacking(NamedTuple):
    """What a fleet does not host: how many deployments, and how many GPUs they ask for."""

    deployments: float
    gpus: float


def lacking(seed: int, asked: dict[tuple[int, int], int], marks: Sequence[int]) -> list[Lacking]:
    """Return what of the random deployments of a seed its random fleet does not host, placed one after the other.

    `marks`: after how many deployments that is asked, in order.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    scene = Scene(_fleet(chance))
    refused: list[int] = []
    found = []
    for number, one in enumerate(_deployments(chance, asked, max(marks)), 1):
        if scene.run(one).unplaced:
            refused.append(one.profiles[0].engines[0].members[0].requests[0].count)
        scene.serve()
        if number in marks:
            found.append(Lacking(len(refused), sum(refused)))
    return found


def _both(asked: dict[tuple[int, int], int], *marks: int) -> Iterator[tuple[Lacking, Lacking]]:
    """Yield what is not hosted at each mark, on average: as it is, and where clusters are chosen by their room alone.

    The fleets are counted side by side: what is measured is no time.
    """
    with ProcessPoolExecutor() as processes:
        ways = [
            [processes.submit(count, seed, asked, marks) for seed in range(_FLEETS)]
            for count in (lacking, _lacking_by_room)
        ]
        now, before = ([each.result() for each in counted] for counted in ways)
    for at in range(len(marks)):
        yield _mean([each[at] for each in now]), _mean([each[at] for each in before])


def _lacking_by_room(seed: int, asked: dict[tuple[int, int], int], marks: Sequence[int]) -> list[Lacking]:
    with patch.object(fill, "capability", lambda *_: None):
        return lacking(seed, asked, marks)


def _mean(found: Sequence[Lacking]) -> Lacking:
    return Lacking(*(sum(values) / len(found) for values in zip(*found, strict=True)))


def fitting() -> Iterator[Figure]:
    """Yield what is not hosted, beside what is not where clusters are chosen by their room alone.

    A fleet of which much more is asked than it has hosts more of the deployments that take whole nodes, and so fewer of
    the small ones, of which several have room where one of those has: counted one by one, that is fewer.
    """
    ((now, before),) = _both(_ASKED, _DEPLOYMENTS)
    name = f"not hosted of {_DEPLOYMENTS} random deployments, by the devices that suffice over by room alone"
    yield compared(name, now.deployments, before.deployments, 1.0, "")
    (now, before), (now_of_all, before_of_all) = _both(_EVEN, _FEW, _DEPLOYMENTS)
    yield compared(f"... GPUs not hosted where all sizes are as frequent, {_FEW}", now.gpus, before.gpus, 1.0, "GPUs")
    name = f"... where all sizes are as frequent, {_DEPLOYMENTS}"
    yield Figure(name, now_of_all.deployments, "", before_of_all.deployments)
    yield Figure("... GPUs of these", now_of_all.gpus, "GPUs", before_of_all.gpus)
