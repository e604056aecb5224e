"""Which clusters that do not publish what runs there a deployment found to be full when it read their replicas.

How much room they have is not known, so they are equal, and a pass reads only some of them, in the same order every
time. So what was read and is full comes last in the passes that follow, the longest ago first: a cluster that has room
is found behind any number of others.

Kept in the memory of a process, and what it decides is the order of reading: a replica is only placed where the pass
itself has read the replicas. So a cluster of a later profile that has room is chosen before one of a better profile
that was full when it was read, which a new process would read once more. Ranking the profile first was rejected: where
more such clusters than a pass reads are full, what other profiles offer would never be looked at.
"""

from collections.abc import Hashable, Mapping
from typing import Final

from modelplane.composing import requirements as require
from modelplane.lru import Lru, weigh
from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.placement import FleetView, Schedule
from modelplane.model.refusal import NoRoom
from modelplane.scheduling.charged import read_stock
from modelplane.step import Request

#: Of each deployment, the clusters in the order in which they were read, and a hash of the versions that were.
_FULL: Final = Lru[Mapping[str, int]](4 * 1024 * 1024)
_NONE: Final[Mapping[str, int]] = {}


def _identity(deployment: Deployment) -> Hashable:
    return deployment.uid or (deployment.namespace, deployment.name)


def reading_order(deployment: Deployment) -> Mapping[str, int]:
    """Return the clusters that earlier passes found full, numbered from 1 on, the longest ago first."""
    return {name: at for at, name in enumerate(_FULL.find(_identity(deployment)) or (), 1)}


def remember(request: Request, deployment: Deployment, view: FleetView, schedule: Schedule) -> Mapping[str, int]:
    """Note which clusters a pass found full; return all that were found full so far, with a hash of what was read.

    Once every replica is placed there is nothing to look for, and all is forgotten.
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
    if cluster.name not in view.residents or read_stock(cluster) is not None:
        return False
    of_profiles = (schedule.refusals, *schedule.profile_refusals.values())
    return any(isinstance(refusals.get(cluster.name), NoRoom) for refusals in of_profiles)


def _versions(request: Request, cluster: Cluster) -> int:
    return hash(frozenset(obj.key for obj in request.required[require.residents(cluster.name).name]))
