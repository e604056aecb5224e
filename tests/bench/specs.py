"""Random specs of engines within the bounds of the API, short enough to be written down, and changes of them.

`climb` looks among them for the ones that cost a pass most, and `bench` keeps what it has found.
"""

from collections.abc import Iterator
from random import Random
from typing import Any, Final, NamedTuple

from bench.fleet import BIG, Manifest, deployment, varied

#: Selectors of requests: of any device, of GPUs alone, of NICs alone, of some pools' GPUs.
SELECTORS: Final = (
    "true",
    'device.driver == "gpu.nvidia.com"',
    'device.driver == "dra.net"',
    BIG,
    'device.driver != "dra.net"',
)
#: Bounds of the XRD.
_ENGINES, _REQUESTS, _COUNT, _COPIES, _WORKERS = 8, 16, 64, 64, 63
_ENTRIES: Final = 4

#: A request: how many devices, and the position of its selector.
Ask = tuple[int, int]


class EngineSpec(NamedTuple):
    """An engine: its copies, the nodes of its worker (0 for a Standalone), and the requests of each member."""

    copies: int
    workers: int
    leader: tuple[Ask, ...]
    worker: tuple[Ask, ...] = ()


#: The engines of a deployment.
Spec = tuple[EngineSpec, ...]


#: What counts of requests are drawn from: mostly few, so that much fits and is searched.
_COUNTS: Final = ((1,), (1,), (1, 1, 1, 2), (1, 2, 3), (1, 2, 4, 8, 16, 64))
#: The selectors of a spec, by position.
_CHOICES: Final = ((0,), (0, 4), (0, 1), (0, 1, 2), (0, 3), (0, 1, 2, 3, 4))
_FEW: Final = (1, 1, 1, 1, 2)


class _Kind(NamedTuple):
    """What the engines of a spec have in common."""

    least: int
    most: int
    counts: tuple[int, ...]
    selectors: tuple[int, ...]


def _kind(random: Random) -> _Kind:
    least = random.choice((1, 2, 4, 6))
    most = min(_REQUESTS, least + random.choice((0, 1, 2, 4, 8)))
    return _Kind(least, most, random.choice(_COUNTS), random.choice(_CHOICES))


def _asks(random: Random, kind: _Kind) -> tuple[Ask, ...]:
    asks = range(random.randint(kind.least, kind.most))
    return tuple((random.choice(kind.counts), random.choice(kind.selectors)) for _ in asks)


def _engine(random: Random, kind: _Kind) -> EngineSpec:
    copies = random.choice(_FEW)
    if random.random() < 0.2:
        return EngineSpec(copies, 0, _asks(random, kind))
    return EngineSpec(copies, random.choice(_FEW), _asks(random, kind), _asks(random, kind))


def drawn(random: Random) -> Spec:
    """Return a random spec."""
    kind = _kind(random)
    return tuple(_engine(random, kind) for _ in range(random.choice((1, 2, 4, 6, _ENGINES, _ENGINES, _ENGINES))))


def _changed_asks(random: Random, asks: tuple[Ask, ...]) -> tuple[Ask, ...]:
    at, kind = random.randrange(len(asks)), random.randrange(4)
    if kind == 0 and len(asks) < _REQUESTS:
        return (*asks[:at], (1, random.randrange(len(SELECTORS))), *asks[at:])
    if kind == 1 and len(asks) > 1:
        return asks[:at] + asks[at + 1 :]
    count, selector = asks[at]
    if kind == 2:
        return (*asks[:at], (max(1, min(_COUNT, count + random.choice((-1, 1)))), selector), *asks[at + 1 :])
    return (*asks[:at], (count, random.randrange(len(SELECTORS))), *asks[at + 1 :])


def changed(random: Random, spec: Spec) -> Spec:
    """Return a spec that differs in one or two places."""
    for _ in range(random.choice((1, 1, 2))):
        at, kind = random.randrange(len(spec)), random.randrange(6)
        engine = spec[at]
        if kind == 0 and len(spec) < _ENGINES:
            spec = (*spec[:at], random.choice((engine, _engine(random, _kind(random)))), *spec[at:])
            continue
        if kind == 1 and len(spec) > 1:
            spec = spec[:at] + spec[at + 1 :]
            continue
        if kind == 2:
            engine = engine._replace(copies=max(1, min(_COPIES, engine.copies + random.choice((-1, 1)))))
        elif kind == 3 and engine.workers:
            engine = engine._replace(workers=max(1, min(_WORKERS, engine.workers + random.choice((-1, 1)))))
        elif kind == 4 and engine.workers:
            engine = engine._replace(worker=_changed_asks(random, engine.worker))
        else:
            engine = engine._replace(leader=_changed_asks(random, engine.leader))
        spec = (*spec[:at], engine, *spec[at + 1 :])
    return spec


def engines(spec: Spec) -> Iterator[dict[str, Any]]:
    """Yield the manifests of a spec's engines."""
    (like,) = deployment("like", 1)["spec"]["engines"]
    (member,) = like["members"]
    for number, engine in enumerate(spec):
        roles = [("Leader", engine.leader), ("Worker", engine.worker)] if engine.workers else None
        members = []
        for role, asks in roles or [("Standalone", engine.leader)]:
            devices = [
                {"name": f"r{at}", "count": count, "selectors": [{"cel": SELECTORS[selector]}]}
                for at, (count, selector) in enumerate(asks)
            ]
            there = {**member, "role": role, "nodeSelector": {"devices": devices}}
            members.append({**there, "worker": {"nodes": engine.workers}} if role == "Worker" else there)
        yield {**like, "name": f"e{number}", "copies": engine.copies, "members": members}


def wanted(spec: Spec, name: str = "costly", replicas: int = 10) -> Manifest:
    """Return a deployment with these engines."""
    found = deployment(name, replicas)
    return {**found, "spec": {**found["spec"], "engines": list(engines(spec))}}


def with_nics(number: int) -> Manifest:
    """Return a cluster whose nodes have as many NICs as GPUs, in an entry of another class.

    Of 1,000 clusters no two have as many nodes in each pool, so that each of them is searched.
    """
    there = varied(number)
    for at, pool in enumerate(there["status"]["gpuPools"]):
        pool["nodes"] += number // 10**at % 10 if at < 3 else 0
        (gpu,) = pool["devices"]
        nic = {
            "name": "nic",
            "claim": "DRA",
            "driver": "dra.net",
            "deviceClassName": "dranet",
            "count": gpu["count"],
            "attributes": {"rdma": {"bool": True}, "mtu": {"int": 4200}},
        }
        pool["devices"] = [gpu, nic]
    return there
