"""Remembers which clusters a deployment found full when it read their replicas, of those that publish no charges.

Their room is not known, so they rank alike, and a pass reads only some of them, always in the same order. Therefore the
ones that were read and are full come last in later passes, the longest ago first, so that a cluster with room is found
behind any number of full ones.

This is kept in the memory of a process and affects only the order of reading: a replica is placed only where the pass
itself has read the replicas. So a cluster with room for a later profile is chosen before one for a better profile that
was full when it was read, which a new process would read once more. Ranking the profile first was rejected: if more
such clusters are full than a pass reads, other profiles would never be considered.
"""

from collections.abc import Hashable, Mapping
from typing import Final

from modelplane.composing import requirements as require
from modelplane.lru import Lru, weigh
from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.placement import FleetView, Schedule
from modelplane.model.refusal import NoRoom
from modelplane.scheduling.room import read_charge
from modelplane.step import Request

#: By deployment: the clusters in the order in which they were read, with a hash of the versions that were read.
_FULL: Final = Lru[Mapping[str, int]](4 * 1024 * 1024)
_NONE: Final[Mapping[str, int]] = {}


def _identity(deployment: Deployment) -> Hashable:
    return deployment.uid or (deployment.namespace, deployment.name)


def reading_order(deployment: Deployment) -> Mapping[str, int]:
    """Return the clusters that earlier passes found full, numbered from 1 on, the longest ago first."""
    return {name: at for at, name in enumerate(_FULL.find(_identity(deployment)) or (), 1)}


def remember(request: Request, deployment: Deployment, view: FleetView, schedule: Schedule) -> Mapping[str, int]:
    """Record the clusters that a pass found full; return all recorded ones with a hash of the versions read.

    Once every replica is placed the record is dropped.
    """
    identity = _identity(deployment)
    before = _FULL.find(identity) or _NONE
    candidates = view.candidates if isinstance(view.candidates, tuple) else ()
    found = {each.name: _versions(request, each) for each in candidates if _is_full(each, view, schedule)}
    full = {name: before[name] for name in before if name not in found} | found if schedule.unplaced else _NONE
    if full or before:
        _FULL.put(identity, full, weigh(full))
    return full


def _is_full(cluster: Cluster, view: FleetView, schedule: Schedule) -> bool:
    if cluster.name not in view.residents or read_charge(cluster) is not None:
        return False
    of_profiles = (schedule.refusals, *schedule.profile_refusals.values())
    return any(isinstance(refusals.get(cluster.name), NoRoom) for refusals in of_profiles)


def _versions(request: Request, cluster: Cluster) -> int:
    return hash(frozenset(obj.key for obj in request.required[require.residents(cluster.name).name]))
