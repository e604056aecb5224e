"""Cases whose cost is in placing: ways, selectors, groups, replicas written by hand."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from bench.fleet import BIG, NAMESPACE, Manifest, deployment, from_server, others, varied
from bench.passes import Scene, Store
from bench.tenants.table import CLUSTERS, REPLICAS, Case, fleet
from modelplane.model.names import API_VERSION, LABEL_CLUSTER

#: Bounds of the XRDs on lists.
ENGINES, REQUESTS, SELECTORS = 8, 16, 8


#: Reads what no two clusters of the fleet have alike.
_RECENT = 'device.attributes["gpu.nvidia.com"].driverVersion.isGreaterThan(semver("1.{}.0"))'


def _request(name: str, *selectors: str) -> Manifest:
    return {"name": name, "count": 1, "selectors": [{"cel": text} for text in selectors]}


def _engine(name: str, *requests: list[Manifest]) -> Manifest:
    """Return an engine of one member, or of a leader and a worker, with these requests."""
    (engine,) = deployment(name, 1)["spec"]["engines"]
    (member,) = engine["members"]
    roles = ("Standalone",) if len(requests) == 1 else ("Leader", "Worker")
    members = [
        {**member, "role": role, "nodeSelector": {"devices": devices}}
        for role, devices in zip(roles, requests, strict=True)
    ]
    return {**engine, "name": name, "members": members}


def _wanting(*engines: Manifest) -> Manifest:
    wanted = deployment("costly", 10)
    return {**wanted, "spec": {**wanted["spec"], "engines": list(engines)}}


def _of_classes(number: int, classes: int) -> Manifest:
    """Return a cluster of one pool whose nodes have an entry of each of several DeviceClasses."""
    there = varied(number)
    pool = there["status"]["gpuPools"].pop()
    (device,) = pool["devices"]
    pool["devices"] = [
        {**device, "name": f"gpu-{at}", "deviceClassName": f"class-{at}.example.com", "count": 16}
        for at in range(classes)
    ]
    return {**there, "status": {**there["status"], "gpuPools": [pool]}}


def _ways(classes: int, requests: int, *, scarce: bool = False, differing: bool = False) -> Scene:
    """Return a gang whose every request may be claimed from every class of every pool.

    `scarce`: only the last cluster has a second node for it. `differing`: no two clusters have as many devices on a
    node, and few as many nodes.
    """
    devices = [_request(f"r{at}", "true") for at in range(requests)]
    clusters = [_of_classes(number, classes) for number in range(CLUSTERS)]
    for there in clusters[:-1] if scarce else ():
        there["status"]["gpuPools"][0]["nodes"] = 1
    for number, there in enumerate(clusters if differing else ()):
        (pool,) = there["status"]["gpuPools"]
        pool["nodes"] = 1 + number % 8
        pool["devices"][0]["count"] += number
    return Scene(_wanting(_engine("main", devices, devices)), {}, Store([*clusters, *others(CLUSTERS, REPLICAS)]))


def _texts() -> Iterator[str]:
    """Yield selectors that all match, no two alike."""
    return (f'{BIG} && device.driver != "driver-{number}.example.com"' for number in count())


def _many_selectors() -> list[Manifest]:
    """Return engines with as many different selectors as the lists of the API admit: 2,048."""
    texts = _texts()
    return [
        _engine(
            f"e{at}",
            *([_request(f"r{n}", *(next(texts) for _ in range(SELECTORS))) for n in range(REQUESTS)] for _ in "12"),
        )
        for at in range(ENGINES)
    ]


def _most_selectors(text: str) -> list[Manifest]:
    """Return engines with as many different selectors as a deployment may have."""
    texts = (text.format(number) for number in count())
    return [
        _engine(f"e{at}", [_request(f"r{n}", *(next(texts) for _ in range(SELECTORS))) for n in range(4)])
        for at in range(ENGINES)
    ]


def _refused() -> Scene:
    """Return engines whose selectors no device satisfies for the last of many conditions."""
    nearly = " && ".join([_RECENT.format(1), *(["true"] * 5), 'device.driver == "none-{}.example.com"'])
    return Scene(_wanting(*(_engine(f"e{at}", [_request("gpu", nearly.format(at))]) for at in range(8))), {}, fleet())


def _by_hand(name: str, on: str, engines: list[Manifest], *, served: bool = True) -> Manifest:
    """Return a ModelReplica as a tenant can write one by hand: one that has served holds what it takes."""
    metadata = {"name": name, "namespace": NAMESPACE, "labels": {LABEL_CLUSTER: on}}
    spec = {"clusterName": on, "engines": engines}
    manifest = {"apiVersion": API_VERSION, "kind": "ModelReplica", "metadata": metadata, "spec": spec}
    manifest["status"] = {"served": served}
    return from_server(manifest, f"uid-{name}", 3_000_000)


def _stamped(engine: Manifest, pool: str) -> Manifest:
    members = []
    for member in engine["members"]:
        devices = [{**request, "deviceClassName": "gpu.nvidia.com"} for request in member["nodeSelector"]["devices"]]
        kept = {key: value for key, value in member.items() if key != "nodeSelector"}
        members.append({**kept, "nodePoolName": pool, "deviceRequests": devices})
    return {**engine, "members": members}


def _beside_large_replicas() -> Scene:
    """Return a stranger's deployment beside hand-written replicas that are full of selectors."""
    large = [_stamped(engine, "h200") for engine in _many_selectors()]
    added = [_by_hand(f"large-{number}", f"cluster-{number:04}", large) for number in range(2)]
    return Scene(deployment("stranger", 1), {}, fleet(*added))


def _beside_a_costly_replica() -> Scene:
    """Return a stranger's deployment beside a replica of as many selectors as are looked at, on nodes of 16 entries."""
    clusters = [varied(number) for number in range(CLUSTERS)]
    for there in clusters[:1]:
        for pool in there["status"]["gpuPools"]:
            (device,) = pool["devices"]
            drivers = ({"driverVersion": {"version": f"580.{at}.5"}} for at in range(16))
            pool["devices"] = [
                {**device, "name": f"gpu-{at}", "attributes": {**device["attributes"], **driver}}
                for at, driver in enumerate(drivers)
            ]
    added = _by_hand("costly", "cluster-0000", [_stamped(engine, "h200") for engine in _most_selectors(_RECENT)])
    return Scene(deployment("stranger", 1), {}, Store([*clusters, *others(CLUSTERS, REPLICAS), added]))


def _beside_distinct_groups(*, served: bool = True) -> Scene:
    """Return a stranger's deployment beside small replicas no two of which take the same, on large pools."""
    clusters = [varied(number) for number in range(CLUSTERS)]
    for there in clusters:
        for pool in there["status"]["gpuPools"]:
            pool["nodes"] = 300
    added = []
    for number in range(60):
        engine: dict[str, Any] = _stamped(_engine("main", [_request("gpu", BIG)]), "h200")
        engine["copies"] = 1 + number
        engine["members"][0]["deviceRequests"][0]["count"] = 1 + number % 7
        added += [
            _by_hand(f"small-{number}-{on}", f"cluster-{on:04}", [engine], served=served)
            for on in range(0, CLUSTERS, 10)
        ]
    return Scene(deployment("stranger", 1), {}, Store([*clusters, *others(CLUSTERS, REPLICAS), *added]))


#: The most that the pass may cost that compiles 256 selectors, which counts as no states and is done once.
_COMPILING = 375.0

CASES = (
    Case("leader and worker of 8 requests on two classes: 65,536 ways of 45 groups", lambda: _ways(2, 8)),
    Case(
        "leader and worker of 4 requests on three classes, room on one cluster of 100",
        lambda: _ways(3, 4, scarce=True),
    ),
    Case(
        "leader and worker of 8 requests on two classes, no two clusters with as many devices",
        lambda: _ways(2, 8, differing=True),
    ),
    Case("leader and worker of 16 requests on sixteen classes: no end of ways", lambda: _ways(16, 16)),
    Case(
        "256 different selectors in a deployment, as many and as long as may be",
        lambda: Scene(_wanting(*_most_selectors('device.driver != "{:0100}"')), {}, fleet()),
    ),
    Case(
        "256 different selectors that read what differs on each of 100 clusters",
        lambda: Scene(_wanting(*_most_selectors(_RECENT)), {}, fleet()),
        milliseconds=_COMPILING,
    ),
    Case("2,048 different selectors in a deployment", lambda: Scene(_wanting(*_many_selectors()), {}, fleet())),
    Case("2,048 different selectors in each of two hand-written ModelReplicas", _beside_large_replicas),
    Case("256 different selectors in a hand-written ModelReplica on nodes of 16 entries", _beside_a_costly_replica),
    Case("8 engines refused for conditions that read what differs on each of 100 clusters", _refused),
    Case("60 replicas of distinct groups on pools of 300 nodes", _beside_distinct_groups),
    Case(
        "60 replicas of distinct groups on pools of 300 nodes, none of which has served: which of them may run",
        lambda: _beside_distinct_groups(served=False),
    ),
)
