"""What the replicas on a cluster hold of it: how many there are, and how many devices of each kind per pool."""

from collections.abc import Mapping
from typing import Any

from modelplane.composing import requirements as require
from modelplane.model.fleet import ClaimKind, Device
from modelplane.model.observation import Gap
from modelplane.model.replica import Replica
from modelplane.observed.device import read_device
from modelplane.observed.fields import mappings
from modelplane.observed.replica import read_replica
from modelplane.scheduling.charge import engine_group
from modelplane.scheduling.hardware import hardware
from modelplane.step import Request


def placed(request: Request) -> list[Replica] | None:
    """Return the replicas on the cluster, None while they are not fetched."""
    cluster = request.composite.name
    found = request.all(require.residents(cluster))
    if isinstance(found, Gap):
        return None
    return [replica for replica in map(read_replica, found) if replica.cluster == cluster]


def committed(pool: Mapping[str, Any], replicas: list[Replica]) -> dict[str, int]:
    """Return how many devices of each claimable kind the replicas hold on a published pool, by the device's name.

    The scheduler's own charges are summed: a claim that several kinds satisfy counts for each of them.
    """
    devices = tuple(device for device in map(read_device, mappings(pool.get("devices"))) if isinstance(device, Device))
    kinds = hardware(devices)
    held = [0] * len(devices)
    for engine in (engine for replica in replicas for engine in replica.engines):
        for demand, pods in engine_group(engine, pool["name"], kinds):
            for entry, (_, most) in enumerate(demand):
                held[entry] += most * pods
    return {device.name: count for device, count in zip(devices, held, strict=True) if device.claim is ClaimKind.DRA}
