"""Builds the Schedule from the decisions of a pass."""

from collections.abc import Iterator, Mapping

from modelplane.model.fleet import Cluster
from modelplane.model.observation import Gap
from modelplane.model.placement import CacheState, Drift, End, EndCause, Placement, Rolling, Schedule, Stamp
from modelplane.model.refusal import Refusal
from modelplane.scheduling.matching import drift
from modelplane.scheduling.room import seniority
from modelplane.scheduling.steps.crowding import find_too_small
from modelplane.scheduling.steps.decisions import Decisions
from modelplane.scheduling.steps.holders import find_holders
from modelplane.scheduling.steps.pass_input import PassInput
from modelplane.scheduling.steps.rollout import carries
from modelplane.scheduling.steps.roster import OwnReplica


def conclude(given: PassInput, so_far: Decisions) -> Schedule:
    """Return what was decided."""
    members = {own: _placement(given, own) for own in given.roster.members if own.ending is None or own.listed_only}
    ending = [End(own.replica, own.ending) for own in given.roster.members if own.ending and not own.listed_only]
    return Schedule(
        replicas=given.deployment.replicas,
        placements=tuple(sorted([*members.values(), *so_far.placed], key=lambda p: (p.cluster, p.index))),
        ending=tuple(sorted(ending, key=lambda end: (end.replica.cluster, seniority(end.replica)))),
        unplaced=given.missing(so_far.placed),
        awaited=_awaited(given, so_far),
        rolling=_rolling(given, so_far, members),
        drifted=tuple(_drifted(given)),
        refusals=so_far.refusals,
        profile_refusals=so_far.profile_refusals,
        why=so_far.why,
        improvable=so_far.improvable,
        problem=given.deployment.resolution.problem,
        candidates=_count_candidates(given),
        held_edits=tuple(so_far.held_edits[uid] for uid in sorted(so_far.held_edits)),
        too_small=tuple(find_too_small(given)),
        bad_selectors=given.bad_selectors,
        over_bound=given.deployment.over_bound,
        holders=find_holders(given, so_far) if so_far.refusals or so_far.held_edits else {},
        postponed=given.budget.postponed,
        cache=CacheState.NOT_REQUIRED if given.deployment.cache is None else given.view.cache,
    )


def _awaited(given: PassInput, so_far: Decisions) -> Mapping[str, Refusal]:
    """Return the clusters that have to be asked for room before an evicted replica ends without a replacement."""
    evicted = any(own.leaving is EndCause.EVICTED and own.ending is None for own in given.roster.members)
    return so_far.unasked if evicted and given.missing(so_far.placed) else {}


def _count_candidates(given: PassInput) -> int | None:
    known = not isinstance(given.view.candidates, Gap) and given.view.shortlisted is None
    return len(given.candidates) if known else None


def _drifted(given: PassInput) -> Iterator[Drift]:
    for own in given.roster.counted:
        cluster = given.cluster(own.replica.cluster)
        if isinstance(cluster, Cluster) and (why := drift(given.deployment, cluster)):
            yield Drift(own.replica, why)


def _rolling(given: PassInput, so_far: Decisions, placements: Mapping[OwnReplica, Placement]) -> Rolling | None:
    """Return the progress of the rollout, None where every replica is as asked."""
    members = [own for own in given.roster.members if own.ending is None]
    as_asked = {own for own in members if own.replica.at_size and placements[own].carries}
    starting = [own for own in members if own.counted and not own.outdated and own not in as_asked]
    outdated = [own for own in members if own.outdated]
    if not (outdated or starting or so_far.placed):
        return None
    waited_for = next(iter(starting or [own for own in outdated if not own.serves_now]), None)
    first = placements[waited_for] if waited_for else next(iter(so_far.placed), None)
    paused = given.deployment.rollout.paused and bool(outdated)
    step = given.rollout_step
    surge_only = all(own.surge_only for own in step.waiting)
    no_room = so_far.no_room and not starting
    return Rolling(first, no_room, paused, so_far.too_large, surge_only, so_far.surge_refusals if no_room else {})


def _placement(given: PassInput, own: OwnReplica) -> Placement:
    carried = carries(own, given.deployment)
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
