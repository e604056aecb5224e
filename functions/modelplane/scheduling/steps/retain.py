"""What happens to an existing replica: it is held, leaves, or takes the deployment's engines on its own pools.

A replica leaves only because its cluster is absent or being deleted, has a NoExecute taint that is not tolerated, or
because its pools are gone or no longer match. If an input cannot be read, the replica is held.
"""

from dataclasses import replace
from typing import NamedTuple

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import EndCause, Needs, Stamp
from modelplane.model.serving import Serving, see_serving, serves_through
from modelplane.scheduling.matching import drift
from modelplane.scheduling.pools import layout
from modelplane.scheduling.steps.decisions import Decisions
from modelplane.scheduling.steps.endings import must_leave
from modelplane.scheduling.steps.in_place import apply
from modelplane.scheduling.steps.own_pools import InPlace, still_hosts
from modelplane.scheduling.steps.pass_input import PassInput
from modelplane.scheduling.steps.rollout import changes_volume, is_updated
from modelplane.scheduling.steps.roster import OwnReplica

_TOO_MANY = "the ways to match its pools are too many to look at: request devices by narrower selectors"
_CONTINUES = "the next pass continues to look at the ways to match its pools"


class _Edit(NamedTuple):
    """An edit that is not applied yet: what the replica's own pools can host, and whether it only needs more room."""

    found: InPlace
    grows: bool = False


def retain(given: PassInput, so_far: Decisions) -> Decisions | Needs:
    """Check every replica against its cluster and pools, and apply what its own pools host as it is."""
    clusters = {name: given.cluster(name) for name in {own.replica.cluster for own in given.roster.members} - {""}}
    unknown = frozenset(name for name, cluster in clusters.items() if cluster is None)
    cache = bool(clusters) and given.deployment.cache is not None and given.view.cache is Gap.NOT_FETCHED
    if unknown or cache:
        needs = given.needs_to_place()
        return replace(needs, clusters=unknown, cache=cache or needs.cache)
    edits: dict[OwnReplica, _Edit] = {}
    for own in given.roster.members:
        cluster = clusters.get(own.replica.cluster)
        own.reachable = not isinstance(cluster, Cluster) or cluster.answers
        own.serving = see_serving(own.replica, cluster)
        own.volume = given.volume_of(own)
        if own.counted:
            _check_cluster(own, cluster, given.deployment)
            edit = isinstance(cluster, Cluster) and own.stamp is Stamp.APPLY and _check_pools(given, own, cluster)
            if edit:
                edits[own] = edit
    growing = tuple(own for own, edit in edits.items() if edit.grows)
    return replace(so_far, in_place={own: edit.found for own, edit in edits.items()}, growing=growing)


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


def _check_pools(given: PassInput, own: OwnReplica, cluster: Cluster) -> _Edit | None:
    """Hold a replica, let it leave, call it outdated, or apply what is asked for, by what its own pools host.

    Returns the edit where it is not applied yet.
    """
    if _keeps_engines(given, own, cluster):
        return None
    edit: _Edit | None = None
    found = given.own_pools.resolve(own, cluster)
    own.by_copy = _changes_by_copy(given, own, found)
    waits = _waits(given, own)
    if found.undecided:
        own.hold(_CONTINUES if given.budget.postponed else _TOO_MANY)
    elif found.engines is None:
        edit = _leave_pools(own, cluster, found, waits=waits)
    elif unstaged := _unstaged(given, own):
        # A new replica elsewhere may take its place before its cluster has the cache.
        edit = _outdate(own, found, surge_only=True) if waits else None
        own.hold(unstaged)
    elif given.deployment.rollout.follow_selectors and waits and drift(given.deployment, cluster):
        edit = _outdate(own, found, surge_only=True)
    elif waits and not is_updated(own, given.deployment, found.engines):
        edit = _outdate(own, found)
    elif found.growing:
        own.hold("")
        # If the edit does not fit, a new replica may replace one that has not served with its present spec.
        own.outdated = own.surge_only = not own.replica.proven
        edit = _Edit(found, grows=True)
    else:
        apply(given, own, found, found.engines)
    return edit


def _keeps_engines(given: PassInput, own: OwnReplica, cluster: Cluster) -> bool:
    """Hold a replica whatever its pools host: its spec or profile is invalid, or it is pinned."""
    skipped = given.deployment.resolution.skipped.get(own.replica.profile, "")
    if given.invalid:
        own.hold(given.invalid)
    elif skipped:
        own.hold(f"profile {own.replica.profile} cannot be served as it is written: {skipped}")
    elif _stays_pinned(given, own, cluster):
        own.hold("")
    else:
        return False
    own.kept = not given.invalid or bool(given.deployment.resolution.problem)
    return True


def _changes_by_copy(given: PassInput, own: OwnReplica, found: InPlace) -> bool:
    """Tell whether a replica goes on to serve while its pods are changed to those asked for, copy by copy."""
    wanted = own.profile or given.deployment.find_profile(found.profile)
    seen = own.serving in (Serving.PARTLY, Serving.NOW)
    return seen and wanted is not None and serves_through(own.replica.interface, wanted.interface)


def _stays_pinned(given: PassInput, own: OwnReplica, cluster: Cluster) -> bool:
    """Tell whether a pinned replica keeps the engines that it was placed with: only its ClusterModel has changed.

    Edits of the deployment itself reach it like any other replica. So do edits of its pool while its profile is
    unchanged.
    """
    deployment, replica = given.deployment, own.replica
    model = deployment.model
    if model is None or not model.pinned or replica.model != model.name or not model.allows(replica.profile):
        return False
    if replica.choice != deployment.choice or changes_volume(own):
        return False
    if deployment.rollout.follow_selectors and drift(deployment, cluster):
        return False
    if own.profile is not None and own.profile.digest == replica.digest:
        found = given.own_pools.resolve(own, cluster)
        if found.engines is not None or found.undecided:
            return False
    return still_hosts(layout(cluster), replica.engines)


def _unstaged(given: PassInput, own: OwnReplica) -> str:
    """Return that the deployment's cache is not staged on a replica's cluster, "" if the replica has it already."""
    cache, before = given.deployment.cache, own.replica
    if cache is None or cache == before.cache or not before.volume or own.volume:
        return ""
    return f"ModelCache {cache} is not staged on cluster {before.cluster}: stage it there, or name another"


def _leave_pools(own: OwnReplica, cluster: Cluster, found: InPlace, *, waits: bool) -> _Edit | None:
    """Let a replica leave whose pools do not match: through the rollout after an edit, by replacement otherwise."""
    if waits and still_hosts(layout(cluster), own.replica.engines):
        return _outdate(own, found, surge_only=True)
    own.leave(EndCause.REPLACED, found.why)
    return None


def _waits(given: PassInput, own: OwnReplica) -> bool:
    """Tell whether an edit waits for the rollout; a replica that never served with its present spec does not wait.

    One that serves with copies of an earlier spec, while they are changed one after the other, waits with an edit that
    would end that.
    """
    replica = own.replica
    goes_on = not replica.stale or serves_through(replica.served_interface, replica.interface)
    changing = own.serving is Serving.PARTLY and goes_on and not own.by_copy
    return replica.proven or given.deployment.rollout.paused or changing


def _outdate(own: OwnReplica, found: InPlace, *, surge_only: bool = False) -> _Edit:
    """Leave a replica outdated until the rollout changes it; `surge_only`: only a new replica can take its place."""
    own.hold("")
    own.outdated = True
    own.surge_only |= surge_only
    return _Edit(found)
