"""The node pools of a GKE cluster: one for the system, and one for each pool that is asked for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from modelplane.clouds.cloud import Asked, AskedPool, Managed, PoolPhase, PoolReport, Seen
from modelplane.clouds.counts import counts_of, per_zone, published
from modelplane.clouds.edits import Settled, get, settle
from modelplane.clouds.gke import cluster, driver, immutable, kinds, words
from modelplane.model.names import GPU_TAINT, LABEL_GPU, LABEL_POOL, SYSTEM_POOL

#: Composition resource names of pools begin with this.
_POOL: Final = "pool-"
#: Pods on a node, as GKE has it by default: it decides how many addresses a node takes.
PODS: Final = 110
_SCOPES: Final = ["https://www.googleapis.com/auth/cloud-platform"]
_SYSTEM_MACHINE: Final = "e2-standard-4"
_SYSTEM_DISK: Final = 100
_IMAGE: Final = "COS_CONTAINERD"
#: Of an autoscaled pool: the first nodes of each zone count at creation alone.
_FIRST: Final = "initialNodeCount"


@dataclass(frozen=True, slots=True)
class NodePools:
    """What is composed of the pools, and what is said of them."""

    resources: Mapping[str, Managed]
    reports: tuple[PoolReport, ...]


def resource_name(pool: str) -> str:
    """Return the composition resource name of a pool."""
    return f"{_POOL}{pool}"


def called(asked: Asked, pool: str) -> str:
    """Return the name of a pool in the cloud: another cluster's pool of this name has another one."""
    return cluster.LIMITS.name(f"{asked.cluster}-{pool}", asked.key, "pool", pool)


def inside() -> dict[str, dict[str, Any]]:
    """Return what GPU nodes need in the cluster: the installer of their driver."""
    return {driver.RESOURCE: driver.installer()}


def _labels(pool: AskedPool) -> dict[str, str]:
    return {
        LABEL_POOL: pool.name,
        LABEL_GPU: pool.recipe["accelerator"]["type"],
        # By these NVIDIA's DRA driver runs on the node, Google's device plugin does not, and the autoscaler counts.
        "nvidia.com/gpu.present": "true",
        "gke-no-default-nvidia-gpu-device-plugin": "true",
        "cloud.google.com/gke-nvidia-gpu-dra-driver": "true",
    }


def _node_config(pool: AskedPool) -> dict[str, Any]:
    recipe = pool.recipe
    accelerator = {
        "type": recipe["accelerator"]["type"],
        "count": recipe["accelerator"]["count"],
        "gpuDriverInstallationConfig": {"gpuDriverVersion": "INSTALLATION_DISABLED"},
    }
    config: dict[str, Any] = {
        "machineType": recipe["machineType"],
        "diskSizeGb": recipe.get("diskSizeGb", 100),
        "imageType": _IMAGE,
        "oauthScopes": _SCOPES,
        "labels": _labels(pool),
        "taint": [{"key": GPU_TAINT, "value": "true", "effect": "NO_SCHEDULE"}],
        "guestAccelerator": [accelerator],
        "workloadMetadataConfig": {"mode": "GKE_METADATA"},
    }
    if pool.reservation:
        config["reservationAffinity"] = {
            "consumeReservationType": "SPECIFIC_RESERVATION",
            "key": "compute.googleapis.com/reservation-name",
            "values": [pool.reservation],
        }
    return config


def _sizes(pool: AskedPool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of a pool's size, and those that count at its creation."""
    asked, zones = counts_of(pool), len(pool.zones)
    if asked.fixed:
        return {"nodeCount": per_zone(asked.most, zones)}, {}
    scaling = {
        "totalMinNodeCount": asked.least,
        "totalMaxNodeCount": max(asked.most, pool.held.nodes),
        "locationPolicy": "ANY",
    }
    return {"autoscaling": scaling}, {_FIRST: per_zone(asked.start, zones)}


def _minor(version: object) -> tuple[int, ...]:
    """Return the parts of a minor version, () for none."""
    parts = str(version or "").split(".")[:2]
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()


def _version(asked: Asked, made: Seen | None, seen: Seen | None) -> str | None:
    """Return the version of a pool's nodes: the control plane's once that has the next minor version that is asked for.

    None leaves it to GKE: a pool is made with the control plane's version. Patches alone change nothing here.
    """
    if seen is None:
        return None
    before = get(seen.for_provider, ("version",))
    control, nodes = get(made.there if made else {}, ("masterVersion",)), seen.there.get("version")
    behind = _minor(nodes) and _minor(control) > _minor(nodes) >= _minor(before or nodes)
    wanted = _minor(control) <= _minor(asked.settings["kubernetesVersion"])
    return str(control) if behind and wanted else before


def _pool(asked: Asked, pool: AskedPool, version: str | None) -> tuple[dict[str, Any], dict[str, Any]]:
    sizes, first = _sizes(pool)
    fields: dict[str, Any] = {
        "location": asked.settings["region"],
        "clusterRef": {"name": cluster.name(asked)},
        "nodeLocations": sorted(pool.zones),
        "maxPodsPerNode": PODS,
        "nodeConfig": _node_config(pool),
        "management": {"autoRepair": True, "autoUpgrade": True},
        # No spare GPU node is needed to replace one.
        "upgradeSettings": {"strategy": "SURGE", "maxSurge": 0, "maxUnavailable": 1},
        **sizes,
    }
    return fields | ({"version": version} if version else {}), first


def _system(asked: Asked, version: str | None) -> Managed:
    """Return the pool of what runs on no GPU node: two nodes at least, in different zones where they can be."""
    fields: dict[str, Any] = {
        "location": asked.settings["region"],
        "clusterRef": {"name": cluster.name(asked)},
        "maxPodsPerNode": PODS,
        "nodeConfig": {
            "machineType": _SYSTEM_MACHINE,
            "diskSizeGb": _SYSTEM_DISK,
            "imageType": _IMAGE,
            "oauthScopes": _SCOPES,
            "labels": {LABEL_POOL: SYSTEM_POOL},
            "workloadMetadataConfig": {"mode": "GKE_METADATA"},
        },
        "management": {"autoRepair": True, "autoUpgrade": True},
        "upgradeSettings": {"strategy": "SURGE", "maxSurge": 1, "maxUnavailable": 0},
        "autoscaling": {"totalMinNodeCount": 2, "totalMaxNodeCount": 6, "locationPolicy": "BALANCED"},
    }
    fields |= {"version": version} if version else {}
    return Managed(kinds.NODE_POOL, called(asked, SYSTEM_POOL), fields, {_FIRST: 1})


def _shrinks(pool: AskedPool, asked: Mapping[str, Any], seen: Mapping[str, Any]) -> bool:
    """Tell whether a resize would let GKE choose nodes to delete: of a fixed pool, or one that is to become fixed."""
    if "nodeCount" not in asked:
        return False
    before = seen.get("nodeCount")
    if before is None:
        total = get(seen, ("autoscaling", "totalMaxNodeCount")) or 0
        return bool(asked["nodeCount"] * max(len(pool.zones), 1) < total)
    return bool(asked["nodeCount"] < before)


def _settled(asked: Asked, pool: AskedPool, made: Seen | None, seen: Seen | None) -> tuple[Managed, Settled]:
    fields, first = _pool(asked, pool, _version(asked, made, seen))
    before = seen.for_provider if seen else None
    found = settle(pool, fields, before, immutable=immutable.OF_POOL, rolling=immutable.ROLLING)
    if before and pool.held.nodes and not pool.allow_rolling and _shrinks(pool, fields, before):
        kept = {key: before[key] for key in ("nodeCount", "autoscaling") if key in before}
        others = {key: value for key, value in found.for_provider.items() if key not in ("nodeCount", "autoscaling")}
        size = "nodeCount: fewer nodes are asked for, and GKE would choose which ones go"
        found = replace(found, for_provider={**others, **kept}, held={**found.held, "nodeCount": size})
    if seen and _FIRST in seen.init_provider:
        first = {_FIRST: seen.init_provider[_FIRST]}
    elif seen:
        first = {}
    return Managed(kinds.NODE_POOL, called(asked, pool.name), found.for_provider, first), found


def _report(pool: AskedPool, found: Settled, seen: Seen | None) -> PoolReport:
    """Return what is said of a pool: why it does not come, what of its edit is held, or that it is there."""
    held = tuple(sorted((*found.refused, *found.held)))
    said = words.read(seen.error) if seen and seen.error else None
    phase = _phase(pool, held, seen, said)
    message = " ".join((*_sentences(pool, found, said), *_without_effect(pool, seen)))
    return PoolReport(pool.name, phase, published(pool), message, held, invalid=bool(found.refused))


def _phase(pool: AskedPool, held: tuple[str, ...], seen: Seen | None, said: words.Words | None) -> PoolPhase:
    if pool.leaving:
        return PoolPhase.LEAVING
    if said and not (seen and seen.ready):
        return PoolPhase.WAITING if said.waits else PoolPhase.FAILED
    if held:
        return PoolPhase.HELD
    return PoolPhase.READY if seen and seen.ready else PoolPhase.CREATING


def _sentences(pool: AskedPool, found: Settled, said: words.Words | None) -> Iterator[str]:
    if said:
        yield said.message
    by = f"while replicas are on it ({', '.join(pool.held.by)})" if pool.held.by else "while replicas are on it"
    if pool.leaving:
        yield f"It is asked for no more, and stays {by}."
    if found.refused:
        yield f"GKE cannot change {'; '.join(found.refused.values())}: add a pool beside it."
    if found.held:
        yield f"{'; '.join(found.held.values())}: it is held {by}. To let GKE replace its nodes, set allowRolling."


def _without_effect(pool: AskedPool, seen: Seen | None) -> Iterator[str]:
    """Yield that the first size of an autoscaled pool, which exists, was edited."""
    _, first = _sizes(pool)
    before = seen.init_provider.get(_FIRST) if seen else None
    if before is not None and pool.node_count is not None and first.get(_FIRST, before) != before:
        yield "nodeCount of a scaled pool counts when it is made: to have more nodes now, set minNodeCount."


def plan(asked: Asked, seen: Mapping[str, Seen]) -> NodePools:
    """Return the pools of a cluster."""
    made, system = seen.get(cluster.RESOURCE), resource_name(SYSTEM_POOL)
    resources = {system: _system(asked, _version(asked, made, seen.get(system)))}
    reports = []
    for pool in asked.pools:
        there = seen.get(resource_name(pool.name))
        resources[resource_name(pool.name)], found = _settled(asked, pool, made, there)
        reports.append(_report(pool, found, there))
    return NodePools(resources, tuple(reports))
