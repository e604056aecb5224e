"""How many deployments a fleet hosts when each takes the least capable devices that suffice, and when not."""

import random
from collections.abc import Iterator
from unittest.mock import patch

from bench.figures import Figure, compared
from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.scheduling import fill
from unit.scheduling.scene import Scene, cluster, deployment, gpu, memory, pool, request, standalone

_DEPLOYMENTS = 200
_FLEETS = 5
#: GPUs of a node and the GiB of each: half of the clusters have L4s, a quarter A100s or H100s, a quarter H200s.
_KINDS = ((4, 22), (4, 22), (8, 80), (8, 140))
#: What deployments ask for (GiB of a GPU, GPUs of a pod), and how often: large models take more and larger GPUs.
_ASKED = {(20, 1): 6, (20, 2): 2, (40, 1): 3, (70, 2): 2, (70, 4): 2, (120, 8): 3}
#: The same sizes, the number of GPUs whatever they are: small GPUs by whole nodes of large ones, too.
_APART = {(gib, count): 1 for gib in (20, 40, 70, 120) for count in (1, 1, 2, 4, 8)}


def _fleet(chance: random.Random) -> list[Cluster]:
    kinds = [_KINDS[at % len(_KINDS)] for at in range(24)]
    return [
        cluster(f"c{at:02}", pool(chance.randint(1, 8), gpu(count, gib, model=f"g{gib}")))
        for at, (count, gib) in enumerate(kinds)
    ]


def _deployments(chance: random.Random, asked: dict[tuple[int, int], int]) -> Iterator[Deployment]:
    for at in range(_DEPLOYMENTS):
        ((gib, count),) = chance.choices(list(asked), list(asked.values()))
        yield deployment(standalone(request(count, memory(f"{gib}Gi"))), name=f"d{at}")


def hosted(seed: int, asked: dict[tuple[int, int], int]) -> int:
    """Return how many of the random deployments of a seed its random fleet hosts, placed one after the other."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    scene = Scene(_fleet(chance))
    found = 0
    for one in _deployments(chance, asked):
        found += not scene.run(one).unplaced
        scene.serve()
    return found


def _lacking(asked: dict[tuple[int, int], int]) -> tuple[float, float]:
    """Return how many are not hosted, on average: as it is, and where clusters are chosen by their room alone."""
    seeds = range(_FLEETS)
    now = sum(hosted(seed, asked) for seed in seeds)
    with patch.object(fill, "capability", lambda *_: None):
        before = sum(hosted(seed, asked) for seed in seeds)
    return _DEPLOYMENTS - now / _FLEETS, _DEPLOYMENTS - before / _FLEETS


def fitting() -> Iterator[Figure]:
    """Yield how many are not hosted, beside how many are not where clusters are chosen by their room alone."""
    name = f"not hosted of {_DEPLOYMENTS} random deployments, by the devices that suffice over by room alone"
    yield compared(name, *_lacking(_ASKED), 1.0, "")
    yield Figure("... where small GPUs are asked for by eight, too", *_reported(_lacking(_APART)))


def _reported(lacking: tuple[float, float]) -> tuple[float, str, float]:
    return lacking[0], "", lacking[1]
