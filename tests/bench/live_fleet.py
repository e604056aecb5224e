"""What the command line costs on a control cluster of 200 inference clusters and 500 replicas, beside kubectl."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from apiserver.server import Manifest, Server, serve
from bench.figures import Figure, at_most
from bench.fleet import NAMESPACE, POOLS, cluster, deployment, others
from given import manifests as given
from modelplane.model.names import API_VERSION
from modelplane.preview import ControlPlane
from modelplane_dev import components
from modelplane_dev.plane.cluster import namespace

CLUSTERS, REPLICAS, EACH = 200, 500, 10
#: Seconds of processor time, and MiB; of a usage error seconds.
GET_SECONDS, GET_MEMORY, USAGE_SECONDS = 1.2, 120.0, 0.15
PLAN_SECONDS, DRAIN_SECONDS = 4.0, 8.0
#: What an API server gives each object.
_GIVEN = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "ownerReferences")
_KINDS = "inferenceclusters,modeldeployments,modelreplicas,modelservices,modelcaches"


@dataclass(frozen=True, slots=True)
class Used:
    """What a command took: seconds of the processor and MiB, of itself and the processes that it started."""

    seconds: float
    memory: float


def live_fleet() -> Iterator[Figure]:
    """Yield what `get` takes, beside kubectl that exports the same, and what help and a usage error take."""
    program = str(Path(sys.executable).parent / "modelplane")
    for arguments in (("--help",), ("get", "--none"), ("preview", "--none")):
        used = min(
            (_run([program, *arguments], dict(os.environ), (0, 2)) for _ in range(3)), key=lambda each: each.seconds
        )
        name = f"command line: modelplane {' '.join(arguments)}; processor time"
        yield replace(at_most(name, used.seconds, USAGE_SECONDS, "s"), processor=True)
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as server:
        _fill(server)
        environment = server.cluster.environment()
        export = [str(components.path("kubectl")), "get", _KINDS, "-A", "-o", "yaml"]
        exported = min((_run(export, environment) for _ in range(2)), key=lambda each: each.seconds)
        got = [_run([program, "get", "-A"], environment) for _ in range(3)]
        best = Used(min(each.seconds for each in got), min(each.memory for each in got))
        size = f"{CLUSTERS} clusters, {REPLICAS} replicas"
        seconds = at_most(
            f"command line: get of {size}; processor time", best.seconds, GET_SECONDS, "s", exported.seconds
        )
        yield replace(seconds, processor=True)
        yield at_most(f"command line: get of {size}; peak memory", best.memory, GET_MEMORY, "MiB", exported.memory)
        yield from _plans(program, Path(folder) / "fleet.json", exported.seconds)


def _plans(program: str, fleet: Path, exported: float) -> Iterator[Figure]:
    """Yield what plans of a settled fleet of that size take, read from what kubectl exports."""
    fleet.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": settled()}))
    edits = {
        "plan of two more replicas": (PLAN_SECONDS, ["plan", "--set", f"team/d000.replicas={EACH + 2}"]),
        "drain": (DRAIN_SECONDS, ["drain", "cluster-003"]),
    }
    for name, (limit, arguments) in edits.items():
        used = [_run([program, *arguments, "--from", str(fleet)], dict(os.environ), (0, 1)) for _ in range(2)]
        seconds = min(each.seconds for each in used)
        figure = at_most(
            f"command line: {name}, {CLUSTERS} clusters, {REPLICAS} replicas; processor time",
            seconds,
            limit,
            "s",
            exported,
        )
        yield replace(figure, processor=True)


def settled() -> list[Manifest]:
    """Return what kubectl exports of a fleet of the same size whose replicas were placed and serve."""
    classes = [f"class-{number}" for number in range(len(POOLS))]
    clusters = [given.cluster(f"cluster-{number:03}") for number in range(CLUSTERS)]
    for each in clusters:
        each["spec"]["nodePools"] = [{"name": name, "className": name, "nodeCount": 2} for name in classes]
    deployments = [given.deployment(f"d{number:03}", replicas=EACH) for number in range(REPLICAS // EACH)]
    memory = [given.hardware(name, memory=f"{40 * (at + 1)}Gi") for at, name in enumerate(classes)]
    control = ControlPlane([*memory, *clusters, *deployments])
    if not control.settle():
        raise AssertionError("the fleet does not settle")
    own = [each for each in control.everything() if each["apiVersion"] == API_VERSION]
    for each in own:
        each["metadata"]["finalizers"] = ["composite.apiextensions.crossplane.io"]
    return own


#: Runs a command and prints its exit code, seconds and KiB. A process of its own, because Linux counts the memory of
#: whoever starts a command as the command's.
_METER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(code, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""


def _run(command: Sequence[str], environment: dict[str, str], codes: Iterable[int] = (0,)) -> Used:
    """Run a command and return what it took; the processes that it waits for count as its own."""
    meter = [sys.executable, "-c", _METER, *command]
    done = subprocess.run(meter, env=environment, capture_output=True, text=True, check=True)
    code, seconds, memory = done.stdout.split()
    if int(code) not in codes:
        raise ChildProcessError(f"{' '.join(command)} exits with {code}")
    return Used(float(seconds), float(memory) / 1024)


def _fill(server: Server) -> None:
    """Put the fleet on the server, with what the control plane would have written of it."""
    server.cluster.api.apply(namespace(NAMESPACE))
    replicas = list(others(CLUSTERS, REPLICAS))
    objects = [*map(cluster, range(CLUSTERS)), *_deployments(replicas), *replicas]
    for kind in {each["kind"]: each for each in objects}.values():
        server.path(kind)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda each: _put(server, each), objects))


def _deployments(replicas: Sequence[Manifest]) -> Iterator[Manifest]:
    for number in range(len(replicas) // EACH):
        own = replicas[number * EACH : (number + 1) * EACH]
        placements = [
            {
                "name": each["metadata"]["name"],
                "cluster": each["spec"]["clusterName"],
                "index": number // CLUSTERS,
                "pools": {"vllm": each["spec"]["engines"][0]["members"][0]["nodePoolName"]},
                "ready": True,
                "leaving": False,
                "serving": True,
                "updated": True,
            }
            for number, each in enumerate(own)
        ]
        yield {**deployment(f"other-{number:04}", EACH), "status": {"placements": placements, "unplaced": 0}}


def _put(server: Server, obj: Manifest) -> None:
    metadata = {field: value for field, value in obj["metadata"].items() if field not in _GIVEN}
    path = server.path(obj)
    made = {field: value for field, value in obj.items() if field != "status"}
    server.cluster.api.request("POST", path, {**made, "metadata": metadata})
    body = {"status": obj["status"]}
    server.cluster.api.request("PATCH", f"{path}/{metadata['name']}/status", body, "application/merge-patch+json")
