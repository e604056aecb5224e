"""What happens to an existing replica: it is held, leaves, or takes the deployment's engines on its own pools.

A replica leaves only because its cluster is absent or being deleted, has a NoExecute taint that is not tolerated, or
because its pools are gone or no longer match. If an input cannot be read, the replica is held.
"""

from dataclasses import replace

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import EndCause, Needs, Stamp
from modelplane.model.serving import Serving, see_serving, serves_through
from modelplane.scheduling.matching import drift
from modelplane.scheduling.pools import layout
from modelplane.scheduling.steps.endings import must_leave
from modelplane.scheduling.steps.in_place import apply
from modelplane.scheduling.steps.own_pools import InPlace, still_hosts
from modelplane.scheduling.steps.rollout import changes_volume, is_updated
from modelplane.scheduling.steps.roster import OwnReplica
from modelplane.scheduling.steps.work import Work

_TOO_MANY = "the ways to match its pools are too many to look at: request devices by narrower selectors"
_CONTINUES = "the next pass continues to look at the ways to match its pools"


def retain(work: Work) -> Needs | None:
    """Check every replica against its cluster and pools, and apply what its own pools host as it is."""
    clusters = {name: work.cluster(name) for name in {own.replica.cluster for own in work.roster.members} - {""}}
    unknown = frozenset(name for name, cluster in clusters.items() if cluster is None)
    cache = bool(clusters) and work.deployment.cache is not None and work.view.cache is Gap.NOT_FETCHED
    if unknown or cache:
        needs = work.needs_to_place()
        return replace(needs, clusters=unknown, cache=cache or needs.cache)
    for own in work.roster.members:
        cluster = clusters.get(own.replica.cluster)
        own.reachable = not isinstance(cluster, Cluster) or cluster.answers
        own.serving = see_serving(own.replica, cluster)
        own.volume = work.volume_of(own)
        if own.counted:
            _check_cluster(own, cluster, work.deployment)
            if own.stamp is Stamp.APPLY and isinstance(cluster, Cluster):
                _check_pools(work, own, cluster)
    return None


def _check_cluster(own: OwnReplica, cluster: Cluster | Gap | Malformed | None, deployment: Deployment) -> None:
    """Let a replica leave or hold it, by its cluster alone."""
    name = own.replica.cluster
    if found := must_leave(cluster, name, deployment):
        own.leave(*found)
    elif isinstance(cluster, Malformed):
        own.hold(str(cluster))
    elif not isinstance(cluster, Cluster):
        own.hold("its spec.clusterName cannot be read: restore it, or delete the replica")
    elif cluster.pools is None:
        own.hold(f"cluster {name} has not published its pools: see its condition ClusterReady")
    elif not own.replica.engines:
        own.hold("its spec.engines cannot be read: restore them, or delete the replica")


def _check_pools(work: Work, own: OwnReplica, cluster: Cluster) -> None:
    """Hold a replica, let it leave, call it outdated, or apply what is asked for, by what its own pools host."""
    if work.invalid:
        own.hold(work.invalid)
        own.kept = bool(work.deployment.resolution.problem)
        return
    if why := work.deployment.resolution.skipped.get(own.replica.profile, ""):
        own.hold(f"profile {own.replica.profile} cannot be served as it is written: {why}")
        own.kept = True
        return
    if _stays_pinned(work, own, cluster):
        own.hold("")
        own.kept = True
        return
    found = work.own_pools.resolve(own, cluster)
    own.by_copy = _changes_by_copy(work, own, found)
    if found.undecided:
        own.hold(_CONTINUES if work.budget.postponed else _TOO_MANY)
    elif found.engines is None:
        _leave_pools(work, own, cluster, found)
    elif unstaged := _unstaged(work, own):
        _hold_unstaged(work, own, found, unstaged)
    elif work.deployment.rollout.follow_selectors and _waits(work, own) and drift(work.deployment, cluster):
        own.surge_only = True
        _outdate(work, own, found)
    elif _waits(work, own) and not is_updated(own, work.deployment, found.engines):
        _outdate(work, own, found)
    else:
        apply(work, own, found, found.engines)


def _changes_by_copy(work: Work, own: OwnReplica, found: InPlace) -> bool:
    """Tell whether a replica goes on to serve while its pods are changed to those asked for, copy by copy."""
    wanted = own.profile or work.deployment.find_profile(found.profile)
    seen = own.serving in (Serving.PARTLY, Serving.NOW)
    return seen and wanted is not None and serves_through(own.replica.interface, wanted.interface)


def _stays_pinned(work: Work, own: OwnReplica, cluster: Cluster) -> bool:
    """Tell whether a pinned replica keeps the engines that it was placed with: only its ClusterModel has changed.

    Edits of the deployment itself reach it like any other replica. So do edits of its pool while its profile is
    unchanged.
    """
    deployment, replica = work.deployment, own.replica
    model = deployment.model
    if model is None or not model.pinned or replica.model != model.name or not model.allows(replica.profile):
        return False
    if replica.choice != deployment.choice or changes_volume(own):
        return False
    if deployment.rollout.follow_selectors and drift(deployment, cluster):
        return False
    if own.profile is not None and own.profile.digest == replica.digest:
        found = work.own_pools.resolve(own, cluster)
        if found.engines is not None or found.undecided:
            return False
    return still_hosts(layout(cluster), replica.engines)


def _unstaged(work: Work, own: OwnReplica) -> str:
    """Return that the deployment's cache is not staged on a replica's cluster, "" if the replica has it already."""
    cache, before = work.deployment.cache, own.replica
    if cache is None or cache == before.cache or not before.volume or own.volume:
        return ""
    return f"ModelCache {cache} is not staged on cluster {before.cluster}: stage it there, or name another"


def _hold_unstaged(work: Work, own: OwnReplica, found: InPlace, why: str) -> None:
    """Hold a replica until its cluster has the cache; a new replica elsewhere may take its place before."""
    if _waits(work, own):
        own.surge_only = True
        _outdate(work, own, found)
    own.hold(why)


def _leave_pools(work: Work, own: OwnReplica, cluster: Cluster, found: InPlace) -> None:
    """Let a replica leave whose pools do not match: through the rollout after an edit, by replacement otherwise."""
    if _waits(work, own) and still_hosts(layout(cluster), own.replica.engines):
        own.surge_only = True
        _outdate(work, own, found)
    else:
        own.leave(EndCause.REPLACED, found.why)


def _waits(work: Work, own: OwnReplica) -> bool:
    """Tell whether an edit waits for the rollout; a replica that never served with its present spec does not wait.

    One that serves with copies of an earlier spec, while they are changed one after the other, waits with an edit that
    would end that.
    """
    replica = own.replica
    goes_on = not replica.stale or serves_through(replica.served_interface, replica.interface)
    changing = own.serving is Serving.PARTLY and goes_on and not own.by_copy
    return replica.proven or work.deployment.rollout.paused or changing


def _outdate(work: Work, own: OwnReplica, found: InPlace) -> None:
    own.hold("")
    own.outdated = True
    work.in_place[own] = found
