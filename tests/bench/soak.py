"""A long run over a fleet that never stays as it is: what a function keeps must stop growing.

Every call sees every object in a version of its own, written at another time and mostly with other content: nothing
that was read of it serves a second call. Devices and a selector are others than those of the calls just before.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from bench.figures import Figure
from bench.fleet import Manifest, cluster, deployment, from_server, others
from bench.measure import Served, served
from bench.passes import Scene, Store, run_pass
from modelplane.preview import ControlPlane

#: Calls of each of two functions, as many as take both about as long; after how many of each memory must be flat;
#: samples taken.
CALLS: Final = {"schedule": 7_000, "compose-replica": 13_000}
FILLED, SAMPLES = 2_000, 200
#: The most that a function may have resident at the end, over what it had once its caches were filled.
FLAT = 1.05
#: Clusters, and replicas of other deployments: as few as fill every cache within the calls above.
CLUSTERS, REPLICAS = 6, 12
#: Contents that each object takes on in turn.
VARIANTS: Final = 4
#: Contents that the devices and a selector take on in turn; all have been seen by the time the caches count as filled.
DIFFERENT: Final = 100
#: What is put in each call's place: a version, the time of every write, and a number that devices declare and that a
#: selector asks for. They are as long as what replaces them.
_VERSION, _TIME, _NUMBER = "7000000000", "2026-01-01T00:00:00Z", "1000000"
_DRIVER: Final = f"{_NUMBER}.0.0"
_SELECTOR: Final = f'device.attributes["gpu.nvidia.com"].driverVersion.isGreaterThan(semver("1.{_NUMBER}.0"))'


def soak() -> Iterator[Figure]:
    """Yield how resident memory grew over the calls; both functions are called at the same time."""
    kinds: Mapping[str, Callable[[int], Scene]] = {"schedule": _placing, "compose-replica": serving}
    began = time.perf_counter()
    with served(*kinds) as on, ThreadPoolExecutor() as callers:
        runs = {name: callers.submit(_resident, on, name, scene, CALLS[name]) for name, scene in kinds.items()}
        samples = {name: run.result() for name, run in runs.items()}
    for name, resident in samples.items():
        first = SAMPLES * FILLED // CALLS[name]
        filled, peak = resident[first], max(resident[first:])
        label = f"soak, {CALLS[name]:,} calls of {name}: most resident, over that after {FILLED:,}"
        yield Figure(label, peak, "MiB", filled, compared=peak / filled, limit=FLAT)
    yield Figure("... both, in all", time.perf_counter() - began, "s")


def _resident(on: Served, name: str, scene: Callable[[int], Scene], calls: int) -> list[float]:
    """Call a function again and again, and return its resident memory in MiB, sampled evenly."""
    requests = [_last_request(scene(variant), on, name) for variant in range(VARIANTS)]
    samples = []
    for number in range(calls):
        on.calls[name](_changed(requests[number % VARIANTS], number))
        if number % (calls // SAMPLES) == 0:
            samples.append(on.resident(name))
    return samples


def _last_request(scene: Scene, on: Served, name: str) -> bytes:
    """Return the request of a pass in which everything is there that the function asked for."""
    return run_pass(scene, on.steps(name)).exchanges[-1].request


def _changed(request: bytes, number: int) -> bytes:
    """Return a request in which every object has a version of its own, written at another time.

    The devices and one of the selectors differ from those of the calls before. What is replaced is as long as what
    takes its place, so that no length within the message changes: the caller, which has the same two cores as the
    functions, does not need to read it.
    """
    seconds = number % 86_400
    moment = f"2026-02-02T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"
    texts = {_VERSION: str(8_000_000_000 + number), _TIME: moment, _NUMBER: str(2_000_000 + number % DIFFERENT)}
    for text, instead in texts.items():
        request = request.replace(text.encode(), instead.encode())
    return request


def _versioned(manifest: Manifest) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "resourceVersion": _VERSION}}


def _placing(variant: int) -> Scene:
    """Return a deployment that is to be placed by a selector of its own, on pools that change size and devices."""
    clusters = [cluster(number, _DRIVER) for number in range(CLUSTERS)]
    for each in clusters:
        for pool in each["status"]["gpuPools"]:
            pool["nodes"] += variant
    store = Store(map(_versioned, [*clusters, *others(CLUSTERS, REPLICAS + variant)]))
    wanted = deployment("soaked", 3)
    (request,) = wanted["spec"]["engines"][0]["members"][0]["nodeSelector"]["devices"]
    request["selectors"].append({"cel": _SELECTOR})
    return Scene(_versioned(wanted), {}, store)


def serving(variant: int) -> Scene:
    """Return a replica that serves, with what it composed; its pods change the words with which they wait."""
    control = ControlPlane([cluster(0), deployment("soaked", 1)])
    control.settle()
    (replica,) = (stored(each) for each in control.list("ModelReplica"))
    objects = [stored(each) for each in control.list("Object")]
    for each in objects:
        each["metadata"]["annotations"]["variant"] = f"{variant}"
        each["status"]["message"] = "x" * variant
    composed = {each["metadata"]["annotations"]["crossplane.io/composition-resource-name"]: each for each in objects}
    return Scene(replica, composed, Store([_versioned(cluster(0)), *map(stored, control.list("Namespace"))]))


def stored(manifest: Manifest) -> Manifest:
    metadata = manifest["metadata"]
    kept = {field: value for field, value in metadata.items() if field not in {"uid", "resourceVersion"}}
    return _versioned(from_server({**manifest, "metadata": kept}, metadata["uid"], 0))
