"""Explains a schedule: the reason and message of ReplicasScheduled, and the counted reasons of the status."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from modelplane.model.conditions import MESSAGE_LIMIT, Reason
from modelplane.model.deployment import Deployment
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import BadSelector, CacheState, Footprint, HeldEdit, Holders, Schedule
from modelplane.model.refusal import OutsideCache, SearchBound
from modelplane.model.replica import Replica
from modelplane.scheduling.words.tally import Counted, Tallies, tally_schedule, word_refusals
from modelplane.scheduling.words.wording import (
    WHOLE,
    closing_remedies,
    listed,
    quote,
    remedy_of,
    with_remedy,
    word,
    word_holders,
)

#: Characters that a long section leaves for each section after it.
_LEAST_SECTION = 100
#: Characters at the end of a message for what to do.
_REMEDIES = 300
#: The clusters that evicted replicas stay for, and what to do about one that cannot be asked.
_AWAITED = "; evicted replicas stay until these clusters can be asked for room: "
_WITHOUT_ANSWER = " (taint a cluster NoSchedule, or delete it, to go on without it)"
#: Most entries of `status.reasons`.
MOST_REASONS = 16


@dataclass(frozen=True, slots=True)
class Report:
    """What a deployment says about its schedule: the condition ReplicasScheduled, and `status.reasons`."""

    scheduled: bool
    reason: Reason
    message: str
    reasons: tuple[Counted, ...] = ()


@dataclass(frozen=True, slots=True)
class _Section:
    """A part of the message: an introduction, and its entries."""

    lead: str
    entries: list[str]
    separator: str = ", "
    closing: str = ""


def explain(schedule: Schedule, deployment: Deployment) -> Report:
    """Return the report; deterministic, the message at most `MESSAGE_LIMIT` characters."""
    if schedule.replicas == 0:
        return Report(scheduled=True, reason=Reason.SCALED_TO_ZERO, message="spec.replicas is 0")
    reason = _reason(schedule, deployment)
    message = f"{schedule.replicas - schedule.unplaced} of {schedule.replicas} replicas scheduled"
    tallies = tally_schedule(schedule, deployment) if schedule.unplaced else Tallies()
    sections = list(_sections(reason, schedule, deployment, tallies))
    closing = _remedies(reason, schedule)
    for at, section in enumerate(sections):
        left_free = _LEAST_SECTION * (len(sections) - at - 1) + len(closing)
        used = len(message) + len(section.lead) + len(section.closing)
        message += (
            section.lead
            + join_capped(section.entries, section.separator, MESSAGE_LIMIT - used - left_free)
            + section.closing
        )
    return Report(reason is Reason.REPLICAS_SCHEDULED, reason, message + closing, _counted(tallies, deployment))


def _remedies(reason: Reason, schedule: Schedule) -> str:
    """Return what to do about refusals, the one that is closest to being placed first."""
    if reason is not Reason.INSUFFICIENT_CAPACITY or not schedule.unplaced:
        return ""
    refused = (each for found in (schedule.refusals, *schedule.profile_refusals.values()) for each in found.values())
    return closing_remedies(with_remedy(refused), _REMEDIES)


def _reason(schedule: Schedule, deployment: Deployment) -> Reason:
    if schedule.over_bound or (schedule.problem and schedule.unplaced):
        return Reason.INVALID_ENGINE if schedule.over_bound else deployment.resolution.reason
    if schedule.bad_selectors:
        return Reason.INVALID_NODE_SELECTOR
    if schedule.unplaced or schedule.held_edits:
        return Reason.SEARCHING if schedule.postponed else _shortfall(schedule)
    return Reason.REPLICAS_SCHEDULED


def _shortfall(schedule: Schedule) -> Reason:
    """Return why not everything is placed as asked, although every candidate is decided."""
    if not schedule.unplaced:
        return Reason.INSUFFICIENT_CAPACITY
    if not isinstance(schedule.cache, Footprint) and schedule.cache is not CacheState.NOT_REQUIRED:
        return Reason.WAITING_FOR_CACHE
    if all(isinstance(refusal, OutsideCache) for refusal in schedule.refusals.values()):
        return Reason.NO_CLUSTERS
    return Reason.INSUFFICIENT_CAPACITY


def _sections(reason: Reason, schedule: Schedule, deployment: Deployment, tallies: Tallies) -> Iterator[_Section]:
    """Yield what follows the count of replicas."""
    if schedule.over_bound:
        yield _Section(": ", [f"{schedule.over_bound.field} {schedule.over_bound.why}; make it smaller"])
    elif schedule.bad_selectors:
        entries = [_bad_selector(bad) for bad in schedule.bad_selectors]
        yield _Section(": ", entries, closing=f"; correct the {'selector' if len(entries) == 1 else 'selectors'}")
    elif schedule.problem:
        yield _Section(": ", [schedule.problem])
    elif reason is Reason.WAITING_FOR_CACHE:
        yield _Section(": ", [_cache(schedule, deployment)])
    elif reason is Reason.NO_CLUSTERS:
        yield _Section(": ", [_no_cluster(schedule, deployment)])
    elif schedule.unplaced:
        yield from _refused(schedule, tallies)
    if schedule.held_edits:
        entries = [f"{_name(each.replica)} ({word_edit(each, schedule)})" for each in schedule.held_edits]
        yield _Section("; held, because the edit does not fit: ", entries)
    without_edit = {each.replica.name for each in schedule.held_edits}
    with_why = ((p, p.replica) for p in schedule.placements if p.replica and p.why)
    explained = [(p, replica) for p, replica in with_why if replica.name not in without_edit]
    held = [f"{_name(replica)} ({p.why})" for p, replica in explained if not p.leaving]
    if held and not (schedule.bad_selectors or schedule.over_bound or schedule.problem):
        yield _Section("; held: ", held)
    leaving = [f"{_name(replica)} ({p.why})" for p, replica in explained if p.leaving]
    if leaving:
        yield _Section("; leaving once a replacement serves: ", leaving)


def word_edit(edit: HeldEdit, schedule: Schedule) -> str:
    """Return why an edit does not fit on the replica's pools, and what holds them."""
    cluster, pool = edit.replica.cluster, edit.refusal.pool
    holders = schedule.holders.get((cluster, pool))
    return word(edit.refusal, holding=word_holders(cluster, pool, holders if holders != Holders() else None))


def _name(replica: Replica) -> str:
    return f"{replica.name} on {replica.cluster}"


def _bad_selector(bad: BadSelector) -> str:
    where = f"engine {bad.engine}, request {bad.request}, selector `{quote(bad.selector)}`"
    return f"{where}, line {bad.line}, column {bad.column}: {quote(bad.why, WHOLE)}"


def _cache(schedule: Schedule, deployment: Deployment) -> str:
    if isinstance(schedule.cache, Malformed):
        return quote(str(schedule.cache))
    if schedule.cache is Gap.ABSENT:
        return f"ModelCache {deployment.namespace}/{deployment.cache} does not exist: create it"
    cache = f"ModelCache {deployment.namespace}/{deployment.cache}"
    return f"{cache} has not published its clusters yet: see its conditions"


def _search(schedule: Schedule) -> str:
    """Return how many clusters are still to be looked at."""
    left = sum(isinstance(each, SearchBound) and each.postponed for each in schedule.refusals.values())
    clusters = f": {left} of {len(schedule.refusals)} clusters are still to be looked at" if left else ""
    return f"the search for room takes several passes, and the next one continues it{clusters}"


def _no_cluster(schedule: Schedule, deployment: Deployment) -> str:
    of_model = deployment.resolution.selector
    for key, value in sorted(deployment.cluster_selector.items()):
        if deployment.model and of_model.get(key, value) != value:
            asked = f"spec.clusterSelector asks for {key}={value} and ClusterModel {deployment.model.name} for"
            return f"{asked} {key}={of_model[key]}, so that no InferenceCluster can satisfy both: correct one of them"
    labels = {**of_model, **deployment.cluster_selector}
    wanted = ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))
    asking = ["spec.clusterSelector"] if deployment.cluster_selector or not of_model else []
    asking += [f"ClusterModel {deployment.model.name}"] if of_model and deployment.model else []
    text = f"no InferenceCluster has the labels of {listed(asking)} ({wanted})" if wanted else "no InferenceCluster"
    if isinstance(schedule.cache, Footprint):
        within = f"is selected by ModelCache {deployment.namespace}/{schedule.cache.cache}"
        found = f"{text} and {within}" if wanted else f"{text} {within}"
        return f"{found}: widen its spec.clusterSelector, or label a cluster for it"
    return f"{text}: label one, or correct the selector" if wanted else f"{text} exists: create one"


def _with_pool(entry: Counted) -> str:
    """Return e.g. `3 with pool l4: ...`: clusters are counted, and their pools are named."""
    return f"{entry.count} {'with ' if entry.of_pools else ''}{entry.message}"


def _refused(schedule: Schedule, tallies: Tallies) -> Iterator[_Section]:
    """Yield the reasons as kube-scheduler aggregates them: clusters first, then their pools."""
    if schedule.postponed:
        yield _Section(": ", [_search(schedule)])
        return
    lead = f": 0/{len(schedule.refusals)} clusters can take another: "
    if tallies.clusters:
        yield _Section(lead, [f"{entry.count} {entry.message}" for entry in tallies.clusters])
        lead = ", "
    for profile, counted in tallies.pools.items():
        if counted:
            of_profile, number = f"profile {profile}: " if profile else "", sum(entry.count for entry in counted)
            total = f"{number} {'has' if number == 1 else 'have'} no pool that fits"
            yield _Section(f"{lead}{of_profile}{total} (", _word_profile(counted), "; ", ")")
            lead = ", "
    if schedule.awaited:
        entries = [f"{name} ({word(refusal)})" for name, refusal in sorted(schedule.awaited.items())]
        yield _Section(_AWAITED, entries, closing=_WITHOUT_ANSWER)


def _word_profile(counted: list[Counted]) -> list[str]:
    """Return the texts of pools' reasons, each with its number of clusters where there are several."""
    return [counted[0].message] if len(counted) == 1 else [_with_pool(entry) for entry in counted]


def why_not(schedule: Schedule, deployment: Deployment, profile: str) -> str:
    """Return why no candidate takes another replica on a profile, "" where that was not checked."""
    if profile in schedule.why:
        return schedule.why[profile]
    return word_refusals(schedule.profile_refusals.get(profile, {}), deployment, schedule.holders)


def join_capped(entries: Sequence[str], separator: str, room: int) -> str:
    """Return the entries in one line of at most `room` characters; those that do not fit are counted."""
    text = separator.join(entries)
    if len(text) <= room:
        return text
    shown: list[str] = []
    used = len(f" and {len(entries)} more reasons")
    for entry in entries:
        used += len(entry) + len(separator)
        if used > room:
            break
        shown.append(entry)
    more = f"{len(entries) - len(shown)} more reasons"
    return f"{separator.join(shown)} and {more}" if shown else more


def _counted(tallies: Tallies, deployment: Deployment) -> tuple[Counted, ...]:
    """Return the counted refusals; if they are too many, one for each name, with its most frequent text."""
    found = tallies.all()
    if len(found) <= MOST_REASONS:
        return tuple(found)
    merged: dict[str, Counted] = {}
    for entry in found:
        known = merged.get(entry.reason)
        message = known.message if known else f"{entry.message}, and others"
        most = max if deployment.model else int.__add__
        clusters = most(entry.count, known.count if known else 0)
        merged[entry.reason] = Counted(entry.reason, clusters, message, remedy=remedy_of([entry.reason]))
    return tuple(sorted(merged.values(), key=lambda entry: (-entry.count, entry.reason)))
