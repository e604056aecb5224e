"""What a catalogue costs: a deployment whose ClusterModel has eight profiles, beside one with the last of them alone.

Of the eight only the last can be hosted, so that each cluster is asked for all of them, and refuses in every way: what
a pool declares, too few devices, no devices, and no room.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from bench.figures import Figure, compared
from bench.fleet import NAMESPACE, Manifest, cluster, from_server, others
from bench.measure import served, timed
from bench.passes import Scene, Store, run_pass
from modelplane.model.names import API_VERSION

#: Clusters of four pools, and replicas of other deployments.
CLUSTERS, REPLICAS = 1000, 5000
#: What eight profiles may cost of one.
PROFILED = 2.0
_TIMES = 5


def _profile(name: str, gpus: int = 8, nodes: int = 1, memory: str = "90Gi", **topology: Any) -> Manifest:
    requires = {"memoryPerGpu": memory, **topology.pop("requires", {})}
    parallelism = {"tensor": gpus, "pipeline": nodes}
    return {
        "name": name,
        "replicaTopology": {"nodes": nodes, "gpusPerNode": gpus, "parallelism": parallelism, "requires": requires}
        | topology,
        "engine": {"name": "vLLM", "image": "vllm/vllm-openai:v0.23.0", "args": ["--max-model-len=32768"]},
    }


_BLACKWELL = 'device.attributes["gpu.nvidia.com"].architecture == "Blackwell"'
#: The last one is what is placed.
PROFILES = (
    _profile("more-memory", memory="192Gi"),
    _profile("precision", requires={"precisionSupport": ["fp4"]}),
    _profile("domain", requires={"nvlinkDomainSize": 72}),
    _profile("fabric", nodes=2, requires={"multiNodeBandwidth": "ib-800g-or-better"}),
    _profile("devices", gpus=16),
    _profile("architecture", devices=[{"name": "gpu", "selectors": [{"cel": _BLACKWELL}]}]),
    _profile("room", nodes=12),
    _profile("hosted"),
)


def model(name: str, profiles: Sequence[Manifest]) -> Manifest:
    """Return a ClusterModel with these profiles."""
    spec = {"model": {"name": f"example/{name}"}, "source": "HuggingFace", "serving": list(profiles)}
    manifest = {"apiVersion": API_VERSION, "kind": "ClusterModel", "metadata": {"name": name}, "spec": spec}
    return from_server(manifest, f"uid-{name}", 700)


def deployed(name: str, replicas: int) -> Manifest:
    """Return a ModelDeployment of the ClusterModel of its name."""
    manifest = {
        "apiVersion": API_VERSION,
        "kind": "ModelDeployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"replicas": replicas, "modelRef": {"kind": "ClusterModel", "name": name, "updates": "Follow"}},
    }
    return from_server(manifest, f"uid-deployment-{name}", 701)


def declaring(number: int) -> Manifest:
    """Return an InferenceCluster whose pools declare what they can do; of their memory the devices tell."""
    found = cluster(number)
    declared = {
        "interconnect": "nvlink",
        "precisionSupport": ["fp16", "bf16", "fp8"],
        "nvlinkDomainSize": 8,
        "multiNodeCapable": True,
        "interNodeBandwidth": "ib-400g",
    }
    for pool in found["status"]["gpuPools"]:
        pool["capabilities"] = declared
    return found


def scenes(clusters: int, replicas: int) -> tuple[Scene, Scene]:
    """Return ten replicas of one profile, and of eight of which it is the last, on the same fleet."""
    models = [model("one", PROFILES[-1:]), model("eight", PROFILES)]
    store = Store([*map(declaring, range(clusters)), *others(clusters, replicas), *models])
    return Scene(deployed("one", 10), {}, store), Scene(deployed("eight", 10), {}, store)


def catalogue() -> Iterator[Figure]:
    """Yield what eight profiles cost over one: in a process that has seen nothing yet, and in one that has."""
    alone, several = scenes(CLUSTERS, REPLICAS)
    first = []
    for scene in (alone, several):
        with served("schedule") as on:
            first.append(run_pass(scene, on.steps("schedule")).seconds())
    yield compared("place 10 on the last of eight profiles, over one: first", first[1], first[0], PROFILED, "s")
    with served("schedule") as on:
        one, eight = timed([alone, several], on, "schedule", times=_TIMES)
        yield compared("... warm", eight.total, one.total, PROFILED, "s")
