"""Says what a schedule means: the reason and message of ReplicasScheduled, and the counted reasons of the status."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from modelplane.model.conditions import MESSAGE_LIMIT, Reason
from modelplane.model.deployment import Deployment
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import BadSelector, CacheState, Footprint, Schedule
from modelplane.model.refusal import NoRoom, OutsideCache, Refusal
from modelplane.model.replica import Replica
from modelplane.scheduling.wording import of_pools, quote, word

#: Room that is left for each section that follows a long one.
_LEAST_SECTION = 100
#: Most entries of `status.reasons`.
MOST_REASONS = 16


@dataclass(frozen=True, slots=True)
class Counted:
    """A refusal's name, the clusters it holds for, and its words."""

    reason: str
    count: int
    message: str


@dataclass(frozen=True, slots=True)
class Report:
    """What a deployment says about its schedule: the condition ReplicasScheduled, and `status.reasons`."""

    scheduled: bool
    reason: Reason
    message: str
    reasons: tuple[Counted, ...] = ()


def explain(schedule: Schedule, deployment: Deployment) -> Report:
    """Return the report; deterministic, the message at most `MESSAGE_LIMIT` characters."""
    if schedule.replicas == 0:
        return Report(scheduled=True, reason=Reason.SCALED_TO_ZERO, message="spec.replicas is 0")
    reason = _reason(schedule)
    message = f"{schedule.replicas - schedule.unplaced} of {schedule.replicas} replicas scheduled"
    sections = list(_sections(reason, schedule, deployment))
    for at, (lead, entries) in enumerate(sections):
        left_free = _LEAST_SECTION * (len(sections) - at - 1)
        message += lead + _capped(entries, MESSAGE_LIMIT - len(message) - len(lead) - left_free)
    return Report(reason is Reason.REPLICAS_SCHEDULED, reason, message, _counted(schedule))


def _reason(schedule: Schedule) -> Reason:
    if schedule.over_bound:
        return Reason.INVALID_ENGINE
    if schedule.bad_selectors:
        return Reason.INVALID_NODE_SELECTOR
    if schedule.unplaced:
        if not isinstance(schedule.cache, Footprint) and schedule.cache is not CacheState.NOT_REQUIRED:
            return Reason.WAITING_FOR_CACHE
        if all(isinstance(refusal, OutsideCache) for refusal in schedule.refusals.values()):
            return Reason.NO_CLUSTERS
        return Reason.INSUFFICIENT_CAPACITY
    return Reason.INSUFFICIENT_CAPACITY if schedule.held_edits else Reason.REPLICAS_SCHEDULED


def _sections(reason: Reason, schedule: Schedule, deployment: Deployment) -> Iterator[tuple[str, list[str]]]:
    """Yield what follows the count: words that lead in, and the entries they lead to."""
    if schedule.over_bound:
        yield ": ", [f"{schedule.over_bound.field} {schedule.over_bound.why}; make it smaller"]
    elif schedule.bad_selectors:
        yield ": ", [_bad_selector(bad) for bad in schedule.bad_selectors]
    elif reason is Reason.WAITING_FOR_CACHE:
        yield ": ", [_cache(schedule, deployment)]
    elif reason is Reason.NO_CLUSTERS:
        yield ": ", [_no_cluster(schedule, deployment)]
    elif schedule.unplaced:
        total = len(schedule.refusals)
        yield f": 0/{total} clusters can take another: ", _refused(schedule)
    if schedule.held_edits:
        yield "; edit withheld from ", [f"{_name(each.replica)}: {word(each.refusal)}" for each in schedule.held_edits]
    without_edit = {each.replica.name for each in schedule.held_edits}
    explained = [
        (p, p.replica) for p in schedule.placements if p.replica and p.why and p.replica.name not in without_edit
    ]
    held = [f"{_name(replica)} ({p.why})" for p, replica in explained if not p.leaving]
    if held and not (schedule.bad_selectors or schedule.over_bound):
        yield "; held as they are: ", held
    leaving = [f"{_name(replica)} ({p.why})" for p, replica in explained if p.leaving]
    if leaving:
        yield "; kept until a replacement serves: ", leaving


def _name(replica: Replica) -> str:
    return f"{replica.name} on {replica.cluster}"


def _bad_selector(bad: BadSelector) -> str:
    where = f"engine {bad.engine}, request {bad.request}, selector {bad.selector}"
    return f"{where}, line {bad.line}, column {bad.column}: {quote(bad.why)}"


def _cache(schedule: Schedule, deployment: Deployment) -> str:
    if isinstance(schedule.cache, Malformed):
        return quote(str(schedule.cache))
    if schedule.cache is Gap.ABSENT:
        return f"ModelCache {deployment.cache} does not exist"
    return f"ModelCache {deployment.cache} has not said yet which clusters it matches"


def _no_cluster(schedule: Schedule, deployment: Deployment) -> str:
    wanted = ", ".join(f"{key}={value}" for key, value in sorted(deployment.cluster_selector.items()))
    text = f"no cluster carries {wanted}" if wanted else "there is no cluster"
    if isinstance(schedule.cache, Footprint):
        return f"{text} within ModelCache {schedule.cache.cache}"
    return text


def _tally(refusals: Iterable[Refusal]) -> list[Counted]:
    """Return each distinct refusal with its clusters, the most frequent first, then by name and words.

    Clusters that lack room for the same need are one entry: how much each of them has free is of no use to anybody.
    """
    most_free: dict[Refusal, set[int]] = {}
    counted: Counter[Refusal] = Counter()
    for refusal in refusals:
        alike = replace(refusal, free=0) if isinstance(refusal, NoRoom) else refusal
        counted[alike] += 1
        if isinstance(refusal, NoRoom):
            most_free.setdefault(alike, set()).add(refusal.free)
    entries = [Counted(each.reason, many, _words(each, most_free.get(each))) for each, many in counted.items()]
    return sorted(entries, key=lambda entry: (-entry.count, entry.reason, entry.message))


def _words(refusal: Refusal, free: set[int] | None) -> str:
    if free and isinstance(refusal, NoRoom):
        text = word(replace(refusal, free=max(free)))
        return text if len(free) == 1 else text.replace(", ", ", at most ")
    return word(refusal)


def _refused(schedule: Schedule) -> list[str]:
    """Return one entry per reason, as kube-scheduler aggregates them: clusters first, then their pools."""
    clusters = _tally(refusal for refusal in schedule.refusals.values() if not of_pools(refusal))
    pools = _tally(refusal for refusal in schedule.refusals.values() if of_pools(refusal))
    texts = [f"{entry.count} {entry.message}" for entry in pools]
    if texts:
        total = sum(entry.count for entry in pools)
        texts[0] = f"{total} {'has' if total == 1 else 'have'} no pool that fits ({texts[0]}"
        texts[-1] += ")"
    return [f"{entry.count} {entry.message}" for entry in clusters] + texts


def _capped(entries: list[str], room: int) -> str:
    """Return the entries in one line of at most `room` characters; those that do not fit are counted."""
    text = ", ".join(entries)
    if len(text) <= room:
        return text
    shown: list[str] = []
    used = len(f" and {len(entries)} more reasons)")
    for entry in entries:
        used += len(entry) + 2
        if used > room:
            break
        shown.append(entry)
    closing = ")" if sum(entry.count("(") - entry.count(")") for entry in shown) > 0 else ""
    more = f"{len(entries) - len(shown)} more reasons{closing}"
    return f"{', '.join(shown)} and {more}" if shown else more


def _counted(schedule: Schedule) -> tuple[Counted, ...]:
    """Return the counted refusals; of too many kinds one entry per name, with its most frequent."""
    tally = _tally(schedule.refusals.values()) if schedule.unplaced else []
    if len(tally) <= MOST_REASONS:
        return tuple(tally)
    merged: dict[str, Counted] = {}
    for entry in tally:
        known = merged.get(entry.reason)
        message = known.message if known else f"{entry.message}, and others"
        merged[entry.reason] = Counted(entry.reason, entry.count + (known.count if known else 0), message)
    return tuple(sorted(merged.values(), key=lambda entry: (-entry.count, entry.reason)))
