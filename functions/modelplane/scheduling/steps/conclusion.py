"""Builds the Schedule from the decisions of a pass."""

from collections.abc import Iterator, Mapping

from modelplane.model.fleet import Cluster
from modelplane.model.observation import Gap
from modelplane.model.placement import CacheState, Drift, End, EndCause, Placement, Rolling, Schedule, Stamp
from modelplane.model.refusal import Refusal
from modelplane.scheduling.matching import drift
from modelplane.scheduling.room import seniority
from modelplane.scheduling.steps.crowding import find_too_small
from modelplane.scheduling.steps.holders import find_holders
from modelplane.scheduling.steps.rollout import carries
from modelplane.scheduling.steps.roster import OwnReplica
from modelplane.scheduling.steps.work import Work


def conclude(work: Work) -> Schedule:
    """Return what was decided."""
    members = {own: _placement(work, own) for own in work.roster.members if own.ending is None or own.listed_only}
    ending = [End(own.replica, own.ending) for own in work.roster.members if own.ending and not own.listed_only]
    return Schedule(
        replicas=work.deployment.replicas,
        placements=tuple(sorted([*members.values(), *work.placed], key=lambda p: (p.cluster, p.index))),
        ending=tuple(sorted(ending, key=lambda end: (end.replica.cluster, seniority(end.replica)))),
        unplaced=work.missing,
        awaited=_awaited(work),
        rolling=_rolling(work, members),
        drifted=tuple(_drifted(work)),
        refusals=work.refusals,
        profile_refusals=work.profile_refusals,
        why=work.why,
        improvable=work.improvable,
        problem=work.deployment.resolution.problem,
        candidates=_count_candidates(work),
        held_edits=tuple(work.held_edits[uid] for uid in sorted(work.held_edits)),
        too_small=tuple(find_too_small(work)),
        bad_selectors=work.bad_selectors,
        over_bound=work.deployment.over_bound,
        holders=find_holders(work) if work.refusals or work.held_edits else {},
        postponed=work.budget.postponed,
        cache=CacheState.NOT_REQUIRED if work.deployment.cache is None else work.view.cache,
    )


def _awaited(work: Work) -> Mapping[str, Refusal]:
    """Return the clusters that have to be asked for room before an evicted replica ends without a replacement."""
    evicted = any(own.leaving is EndCause.EVICTED and own.ending is None for own in work.roster.members)
    return work.unasked if evicted and work.missing else {}


def _count_candidates(work: Work) -> int | None:
    known = not isinstance(work.view.candidates, Gap) and work.view.shortlisted is None
    return len(work.candidates) if known else None


def _drifted(work: Work) -> Iterator[Drift]:
    for own in work.roster.counted:
        cluster = work.cluster(own.replica.cluster)
        if isinstance(cluster, Cluster) and (why := drift(work.deployment, cluster)):
            yield Drift(own.replica, why)


def _rolling(work: Work, placements: Mapping[OwnReplica, Placement]) -> Rolling | None:
    """Return the progress of the rollout, None where every replica is as asked."""
    members = [own for own in work.roster.members if own.ending is None]
    as_asked = {own for own in members if own.replica.at_size and placements[own].carries}
    starting = [own for own in members if own.counted and not own.outdated and own not in as_asked]
    outdated = [own for own in members if own.outdated]
    if not (outdated or starting or work.placed):
        return None
    waited_for = next(iter(starting or [own for own in outdated if not own.serves_now]), None)
    first = placements[waited_for] if waited_for else next(iter(work.placed), None)
    paused = work.deployment.rollout.paused and bool(outdated)
    step = work.rollout_step
    surge_only = all(own.surge_only for own in step.waiting)
    no_room = step.no_room and not starting
    return Rolling(first, no_room, paused, step.too_large, surge_only, work.surge_refusals if no_room else {})


def _placement(work: Work, own: OwnReplica) -> Placement:
    carried = carries(own, work.deployment)
    as_asked = own.stamp is Stamp.APPLY or (own.profile is not None and own.replica.content == own.profile.content)
    return Placement(
        own.replica.cluster,
        own.index,
        own.engines,
        own.replica,
        own.stamp,
        leaving=not own.counted,
        why=own.why,
        updated=own.counted and not own.outdated and as_asked,
        serving=own.serves_now,
        profile=own.profile.name if own.profile and own.stamp is Stamp.APPLY else own.replica.profile,
        volume=own.volume,
        carries=carried,
        changes=own.stamp is not Stamp.HOLD and not carried,
        by_copy=own.by_copy,
    )
