"""The fleets that states are captured of: what users apply and change, and how the clusters answer meanwhile."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from modelplane.preview import ControlPlane, View, healthy
from upgrade import manifests as m
from upgrade.manifests import TEAM, Manifest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PICKER = {"modelplane.ai/endpoint-picker": "true"}
ABANDON = {"modelplane.ai/abandon": "true"}


class Clusters:
    """A healthy world in which chosen clusters have stopped to answer, or in which nothing answers at all."""

    def __init__(self, *, answering: bool = True) -> None:
        self.answering = answering
        self.silent: set[str] = set()

    def __call__(self, view: View) -> Iterator[tuple[str, str | None, str, Any]]:
        if not self.answering:
            return
        quiet = {
            (obj["metadata"].get("namespace"), obj["metadata"]["name"])
            for obj in view.list("Object")
            if obj["spec"].get("providerConfigRef", {}).get("name") in self.silent
        }
        for kind, namespace, name, status in healthy(view):
            if not (kind.startswith("Object.") and (namespace, name) in quiet):
                yield kind, namespace, name, status


class Fleet:
    """A control plane that is taken from one settled state to the next."""

    def __init__(self, *objects: Manifest) -> None:
        self.clusters = Clusters()
        self.control = ControlPlane(objects, world=self.clusters)
        self.settle()

    def settle(self) -> None:
        assert self.control.settle(), self.control.passes

    def apply(self, *objects: Manifest) -> None:
        for obj in objects:
            self.control.apply(obj)
        self.settle()

    def delete(self, kind: str, namespace: str | None, name: str) -> None:
        self.control.delete(kind, namespace, name)
        self.settle()


def examples() -> Fleet:
    """Every example, each deployment with all the replicas that it finds room for."""
    files = sorted(EXAMPLES.rglob("*.yaml"))
    return Fleet(*(obj for file in files for obj in yaml.safe_load_all(file.read_text()) if obj))


def topologies() -> Fleet:
    """One deployment of each shape that a replica can have; Secrets and ConfigMaps that several share."""
    dressed = m.member(
        m.request(2),
        pod={
            "command": ["/bin/engine"],
            "args": ["--model=m", "--port=8000"],
            "env": [
                {"name": "EMPTY", "value": ""},
                m.from_secret("token"),
                m.from_config_map("settings"),
                {"name": "ADDRESS", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                {"name": "RANK", "value": "$(MODELPLANE_RANK)"},
            ],
        },
        metadata={"labels": {"tier": "batch"}, "annotations": {"example.org/owner": "search"}},
        imagePullSecrets=["registry"],
    )
    prefill = m.engine(m.member(m.request(2)), name="prefill", phase="Prefill", copies=2)
    decode = m.engine(m.member(m.request(4), pod={"args": ["--port=8200"]}), name="decode", phase="Decode")
    pair: dict[str, Any] = {"serving": {"mode": "PrefillDecode"}}
    return Fleet(
        m.hardware("gpus"),
        m.cluster("east", m.pool("pool", 24)),
        m.cluster("west", m.pool("pool", 24)),
        m.secret("token"),
        m.pull_secret("registry"),
        m.config_map("settings"),
        m.deployment("standalone", m.engine(dressed), replicas=2, replicaLabels={"tier": "batch"}),
        m.deployment("copies", m.engine(dressed, copies=3)),
        m.deployment("engines", m.engine(name="small"), m.engine(m.member(m.request(8)), name="large")),
        m.deployment("gang", m.gang(nodes=2, copies=2)),
        m.deployment("rider", m.engine(m.member(role="Leader"), m.member(m.request(8), role="Worker"))),
        m.deployment("pair", prefill, decode, **pair),
        m.deployment(
            "pair-of-gangs", m.gang("prefill", phase="Prefill"), m.gang("decode", 8200, phase="Decode"), **pair
        ),
        m.deployment("picker", m.engine(copies=2), annotations=PICKER),
        m.deployment("parked", replicas=0),
    )


def hardware() -> Fleet:
    """Two pools in one cluster, devices that are only matched, classes with several entries, taints and tolerations."""
    synthetic = m.device("nic", "1Gi", driver="nic.example.org", claim="Synthetic")
    nic = {"name": "nic", "selectors": [{"cel": 'device.driver == "nic.example.org"'}]}
    dedicated = {"key": "dedicated", "value": "research"}
    return Fleet(
        m.hardware("small", m.device(memory="24Gi", count=4)),
        m.hardware("large", m.device(memory="140Gi"), synthetic),
        m.hardware("mixed", m.device("big", "80Gi", 2), m.device("little", "20Gi", 4)),
        m.cluster("east", m.pool("cheap", 2, "small"), m.pool("dear", 2, "large")),
        m.cluster("west", m.pool("mixed", 3, "mixed"), taints=[{**dedicated, "effect": "NoExecute"}]),
        m.cluster("north", {"name": "grows", "className": "small", "minNodeCount": 0, "maxNodeCount": 4}),
        m.deployment("either", replicas=3),
        m.deployment("fabric", m.engine(m.member(m.request(4, "100Gi"), nic)), clusterSelector=m.on("east")),
        m.deployment(
            "both",
            m.engine(m.member(m.request(1, "100Gi")), name="large"),
            m.engine(m.member(m.request(1)), name="small"),
        ),
        m.deployment(
            "tolerant",
            m.engine(m.member(m.request(1, "70Gi", "big"), m.request(2, "20Gi", "little"))),
            clusterSelector=m.on("west"),
            tolerations=[dedicated],
        ),
        m.deployment("too-many", m.engine(m.member(m.request(8, "100Gi"))), replicas=9),
    )


def _storage() -> list[Manifest]:
    clusters = [m.cluster(name, m.pool("pool", 4), storage="shared") for name in ("east", "north", "west")]
    return [m.hardware("gpus"), *clusters, m.cluster("bare", m.pool("pool", 1))]


def caches() -> Fleet:
    """Weights on several clusters, one behind a token, one open; replicas that mount them."""
    return Fleet(
        *_storage(),
        m.secret("hub"),
        m.cache("gated", authSecret={"name": "hub", "key": "token"}),
        m.cache("open", clusterSelector=m.on("east")),
        m.deployment("gated", replicas=3, modelCacheRef={"name": "gated"}),
        m.deployment("open", m.gang(), modelCacheRef={"name": "open"}),
    )


def moving() -> Fleet:
    """Return a cache whose revision was changed and is still being downloaded: replicas run on what they have."""
    fleet = Fleet(*_storage(), m.cache("open"), m.deployment("moving", replicas=2, modelCacheRef={"name": "open"}))
    fleet.clusters.silent |= {"east", "north", "west"}
    fleet.apply(m.cache("open", "v2"))
    return fleet


def by_hand() -> Fleet:
    """ModelReplicas written by hand, with their cluster's label and without, beside those of a deployment."""
    return Fleet(
        m.hardware("gpus"),
        m.cluster("east", m.pool("pool", 2)),
        m.replica("labelled", "east", "pool", "east"),
        m.replica("unlabelled", "east", "pool"),
        m.replica("astray", "absent", "pool", "absent"),
        m.deployment("beside"),
    )


def held() -> Fleet:
    """Replicas that serve while what was asked of them since cannot be done."""
    wanted: dict[str, Any] = {
        "missing-secret": {},
        "typo": {},
        "nowhere": {},
        "uncached": {"modelCacheRef": {"name": "open"}},
    }
    fleet = Fleet(
        *_storage(),
        m.cluster("tight", m.pool("pool", 1), storage="shared"),
        m.cache("open"),
        *(m.deployment(name, clusterSelector=m.on("north"), **spec) for name, spec in wanted.items()),
        m.deployment("grown", clusterSelector=m.on("tight")),
        m.deployment("unreachable", clusterSelector=m.on("west"), replicas=2),
    )
    new = {"image": "example.org/engine:v2"}
    lacking = m.member(m.request(), pod={**new, "env": [m.from_secret("absent")]})
    broken = {"name": "gpu", "selectors": [{"cel": "device.driver =="}]}
    fleet.apply(
        m.deployment("missing-secret", m.engine(lacking), clusterSelector=m.on("north")),
        m.deployment("grown", m.engine(m.member(m.request(), pod=new), copies=2), clusterSelector=m.on("tight")),
        m.deployment("typo", m.engine(m.member(broken)), clusterSelector=m.on("north"), replicas=2),
        m.deployment("nowhere", clusterSelector=m.on("absent"), replicas=2),
        m.deployment("uncached", clusterSelector=m.on("north"), replicas=2, modelCacheRef={"name": "absent"}),
    )
    _lose(fleet, "west")
    return fleet


def _lose(fleet: Fleet, name: str) -> None:
    """Let a cluster stop answering: its Objects keep what was last seen, and say that they are not in sync."""
    fleet.clusters.silent.add(name)
    lost = {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": "i/o timeout"}
    for obj in fleet.control.list("Object"):
        if obj["spec"]["providerConfigRef"]["name"] == name:
            kept = [c for c in obj["status"]["conditions"] if c["type"] != "Synced"]
            since = {"lastTransitionTime": kept[0]["lastTransitionTime"], "observedGeneration": 1}
            metadata = obj["metadata"]
            status = {"conditions": [*kept, {**lost, **since}]}
            fleet.control.patch_status("Object", metadata.get("namespace"), metadata["name"], status)
    fleet.settle()


def leaving() -> Fleet:
    """Replicas that have to leave their cluster and serve until they can."""
    evicting: dict[str, Any] = {"taints": [{"key": "maintenance", "effect": "NoExecute"}]}
    fleet = Fleet(
        m.hardware("gpus"),
        *(m.cluster(name, m.pool("pool", 1)) for name in ("east", "north", "south", "spare", "west")),
        m.deployment("replaced", clusterSelector=m.on("east")),
        m.deployment("undecided", clusterSelector=m.on("west")),
        m.deployment("cornered", clusterSelector=m.on("north")),
        m.deployment("renamed", clusterSelector=m.on("south")),
    )
    fleet.clusters.silent |= {"north", "south", "spare", "west"}
    broken = {"name": "gpu", "selectors": [{"cel": "device.driver =="}]}
    fleet.apply(
        m.deployment("replaced"),
        m.deployment("undecided", m.engine(m.member(broken)), clusterSelector=m.on("west")),
    )
    fleet.apply(
        m.cluster("east", m.pool("pool", 1), **evicting),
        m.cluster("west", m.pool("pool", 1), **evicting),
        m.cluster("south", m.pool("another", 0)),
    )
    fleet.delete("InferenceCluster", None, "north")
    return fleet


def abandoned() -> Fleet:
    """Return a fleet with a cluster that its owner has called abandoned, and the replica that still runs there."""
    east = m.cluster("east", m.pool("pool", 1), storage="shared")
    fleet = Fleet(
        m.hardware("gpus"),
        east,
        m.cluster("west", m.pool("pool", 1)),
        m.cache("open"),
        m.deployment("alone", clusterSelector=m.on("east"), modelCacheRef={"name": "open"}),
        m.deployment("other", clusterSelector=m.on("west")),
    )
    _lose(fleet, "east")
    fleet.apply({**east, "metadata": {**east["metadata"], "annotations": ABANDON}})
    return fleet


def deleting() -> Fleet:
    """Objects that are being deleted while something else holds them."""
    stays = m.replica("stays", "east", "pool", "east")
    stays["metadata"]["finalizers"] = ["example.org/hold"]
    fleet = Fleet(
        *_storage(),
        stays,
        m.cache("open"),
        m.deployment("mounting", modelCacheRef={"name": "open"}, clusterSelector=m.on("west")),
        m.deployment("scaled", replicas=3),
    )
    fleet.delete("ModelReplica", TEAM, "stays")
    fleet.delete("InferenceCluster", None, "west")
    return fleet


def over_bound() -> Fleet:
    """Return a deployment that version 0.1 admits, larger in every dimension than is ever needed."""
    pulls = [f"registry-{number:02}" for number in range(33)]
    narrow = [{"cel": m.at_least("10Gi") + " || false" * 8} for _ in range(8)]

    def requests() -> Iterable[Manifest]:
        return ({"name": f"gpu-{number:02}", "count": 1, "selectors": narrow} for number in range(16))

    large = {
        "args": [f"--long={'x' * 1000}"] * 150,
        "command": ["/bin/engine", "y" * 66_000],
        "env": m.variables(["v"] * 300),
    }
    metadata = {
        "annotations": {f"example.org/note-{number:02}": "z" * 3000 for number in range(32)},
        "labels": {f"example.org/label-{number:02}": "l" * 60 for number in range(32)},
    }
    first = m.engine(m.member(*requests(), pod=large, metadata=metadata, imagePullSecrets=pulls), name="engine-0")
    others = [
        m.engine(
            m.member(*requests(), role="Leader"),
            m.member(*requests(), role="Worker", worker={"nodes": 2}),
            name=f"engine-{number}",
            copies=2 if number == 1 else 1,
        )
        for number in range(1, 8)
    ]
    return Fleet(
        m.hardware("gpus", m.device(count=16)),
        m.cluster("east", m.pool("pool", 50)),
        *map(m.pull_secret, pulls),
        m.deployment("large", first, *others),
    )


SCENES: dict[str, Callable[[], Fleet]] = {
    scene.__name__.replace("_", "-"): scene
    for scene in (
        examples,
        topologies,
        hardware,
        caches,
        moving,
        by_hand,
        held,
        leaving,
        abandoned,
        deleting,
        over_bound,
    )
}
