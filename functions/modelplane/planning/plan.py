"""The plan of an edit: what is certain, what is contested and by whom, and what happens without it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Final

from modelplane.planning.edits import CLUSTER, Edit
from modelplane.planning.events import ABSENT, Event, Name, State, compare, read_states
from modelplane.planning.futures import Future, Step, play
from modelplane.planning.leaving import released
from modelplane.planning.orders import EVERY, Orders, few, groups, orders
from modelplane.planning.returning import bring_back, find_returning
from modelplane.preview import ControlPlane
from modelplane.preview.assumed import settle_assuming
from modelplane.preview.worlds import publishing, slow
from modelplane.reading.deployments import DEPLOYMENT
from modelplane.reading.trace import REPLICA
from modelplane.reading.tree import Tree, mapping
from modelplane.reading.versions import read_versions

PLAN_VERSION: Final = "plan.modelplane.ai/v1alpha1"
#: Passes that an engine takes to start in the future in which they take long.
_SLOW: Final = 3

Events = Mapping[Name, tuple[Event, ...]]


@dataclass(frozen=True, slots=True)
class Contest:
    """Deployments of which not all get what they would take, the cluster and pool for which they compete.

    `outcomes` are the different ends of the orders that were tried. `not_ready` are the clusters that are not Ready in
    the snapshot, and on whose return it depends how it ends.
    """

    cluster: str
    pool: str
    competitors: tuple[Name, ...]
    outcomes: tuple[tuple[Event, ...], ...]
    not_ready: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of an edit, as of a time (RFC 3339).

    `complete`: every order of the competitors was tried, and nothing depends on when a cluster is Ready again;
    otherwise there may be other outcomes. `drift` happens without the edit too. `least` is, by deployment that asks for
    replicas, how many serve before, and when the fewest do in any future, where these are fewer. `skew` is what objects
    say of versions that differ: while they do, nothing of the plan happens but what ends.
    """

    as_of: str
    settled: bool
    certain: tuple[Event, ...]
    contested: tuple[Contest, ...]
    complete: bool
    timeline: tuple[Step, ...]
    drift: tuple[Event, ...]
    least: Mapping[Name, tuple[int, int]]
    skew: tuple[str, ...] = ()

    def lost(self) -> list[Name]:
        """Return the deployments that serve and of which at some time, in some order, nothing serves."""
        return [name for name, (before, least) in self.least.items() if before and not least]


@dataclass(frozen=True, slots=True)
class _Question:
    """What is asked: what edits do. `before` are the deployments before, `known` the ModelReplicas that exist."""

    edits: Sequence[Edit]
    before: Mapping[Name, State]
    known: Sequence[str]
    drift: Events

    def events(self, future: Future) -> Events:
        """Return what happens in a future."""
        return compare(self.before, future.states, known=self.known, lost=future.lost)


@dataclass(frozen=True, slots=True)
class _Explored:
    """The futures of a fleet, the one in which the oldest decide first before others; `complete` as in Plan."""

    futures: Sequence[Future] = ()
    complete: bool = True


def make_plan(fleet: ControlPlane, edits: Sequence[Edit], as_of: str) -> Plan:
    """Return the plan of edits of a fleet, which is not changed.

    Raises InvalidObject where a server would refuse an edit, UnknownObjectError where there is nothing to edit.
    """
    loaded = read_states(fleet.view())
    known = [str(obj["metadata"]["name"]) for obj in fleet.view().scan(REPLICA)]
    base = released(fleet, publishing())
    calm = base.fork(publishing())
    rests = settle_assuming(calm, [])
    before = read_states(calm.view())
    drift = compare(loaded, before, known=known, lost={})
    # Without drift, forks of the settled fleet have less to do.
    start = base if drift else calm
    question = _Question(edits, before, known, drift)
    now = _explore(start, question)
    away = find_returning(start)
    back = _explore(bring_back(start, away), question) if away else _Explored()
    futures = [*now.futures, *back.futures]
    events = [*map(question.events, (*now.futures, *play(start, edits, slow(_SLOW, publishing()))))]
    later = [*map(question.events, back.futures)]
    sure = _agreed([*events, *later])
    contested = tuple(_contests(events, later, sure, futures, away))
    first = futures[0]
    # What its owner takes away is not lost.
    asked = [name for name in loaded if first.states.get(name, ABSENT).asked]
    served = {name: (loaded[name].serving, min(each.least.get(name, 0) for each in futures)) for name in asked}
    return Plan(
        as_of=as_of,
        settled=rests and all(each.settled for each in futures),
        certain=tuple(_taken(sorted(event for found in events[0].values() for event in found), Counter(sure))),
        contested=contested,
        complete=now.complete and back.complete and not any(each.not_ready for each in contested),
        timeline=first.steps,
        drift=tuple(sorted(event for found in drift.values() for event in found)),
        least={name: each for name, each in served.items() if each[1] < each[0]},
        skew=tuple(read_versions(fleet.view().scan).differing),
    )


def _explore(start: ControlPlane, question: _Question) -> _Explored:
    """Play the edits of a fleet in every order of up to four competitors, in some of more."""
    edits = question.edits
    (first,) = play(start, edits, publishing(), steps=True)
    competing = _competing(start, question.events(first), first.states, question.drift)
    tried = orders(competing)
    futures = [first, *(play(start, edits, publishing(), Orders(tuple(tried))) if tried else ())]
    freed = _freed(first, question.before)
    futures += play(start, edits, publishing(), Orders(few(tried), freed)) if freed else ()
    return _Explored(futures, all(len(group) <= EVERY for group in competing))


def _competing(
    start: ControlPlane, events: Events, states: Mapping[Name, State], drift: Events
) -> list[tuple[Name, ...]]:
    """Return the groups of deployments that may take something from each other: those that change, wait or move."""
    restless = {name for name, state in states.items() if state.unplaced or state.leaving}
    labels = {obj["metadata"]["name"]: mapping(obj, "metadata", "labels") for obj in start.view().scan(CLUSTER)}
    reach: dict[Name, frozenset[str]] = {}
    for name in sorted({*events, *drift, *restless} & states.keys()):
        wanted = mapping(start.get(DEPLOYMENT, *name), "spec", "clusterSelector", "matchLabels")
        reach[name] = frozenset(each for each, has in labels.items() if wanted.items() <= has.items())
    return groups(reach)


def _freed(future: Future, before: Mapping[Name, State]) -> frozenset[str]:
    """Return the clusters from which something goes, if there are several and something new takes one of them.

    Where nothing does, it does not matter from which of them replicas go first: what was placed elsewhere while most of
    their room was free is placed there while less is.
    """
    gone: set[str] = set()
    new: set[str] = set()
    for name in {*before, *future.states}:
        old, now = (states.get(name, ABSENT).placed for states in (before, future.states))
        gone |= {placed.cluster for replica, placed in old.items() if replica not in now}
        new |= {placed.cluster for replica, placed in now.items() if replica not in old}
    return frozenset(gone if len(gone) > 1 and gone & new else ())


def _counted(events: Events) -> Counter[Event]:
    return Counter(event.bare() for found in events.values() for event in found)


def _agreed(events: Sequence[Events]) -> Counter[Event]:
    """Return what happens in all futures. A replica that is not the same in all of them is left out of its event."""
    bare = [*map(_counted, events)]
    sure = reduce(and_, bare)
    rest = [Counter(replace(event, replica="") for event in (each - sure).elements()) for each in bare]
    return sure + reduce(and_, rest)


def _contests(
    events: Sequence[Events],
    later: Sequence[Events],
    sure: Counter[Event],
    futures: Sequence[Future],
    away: Sequence[str],
) -> Iterable[Contest]:
    """Yield what is not sure; `later` are the events of futures in which the clusters `away` are Ready again."""
    open_ = [{name: _rest(found, sure) for name, found in each.items()} for each in (*events, *later)]
    reach: dict[Name, set[str]] = {}
    for each in open_:
        for name, found in each.items():
            if found:
                reach.setdefault(name, set()).update(event.target for event in found if event.target)
    for group in groups({name: frozenset(clusters) for name, clusters in reach.items()}):
        ends = [tuple(event for name in group for event in each.get(name, ())) for each in open_]
        new = {*ends[len(events) :]} - {*ends[: len(events)]}
        touched = {cluster for end in new for event in end for cluster in (event.source, event.target)}
        not_ready = (tuple(each for each in away if each in touched) or tuple(away)) if new else ()
        cluster, pool = _prize(group, reach, futures)
        yield Contest(cluster, pool, group, tuple(sorted({*ends})), not_ready)


def _taken(events: Iterable[Event], left: Counter[Event]) -> Iterable[Event]:
    """Yield the events that are among those `left`, from which they are taken."""
    for event in events:
        for known in (event.bare(), replace(event.bare(), replica="")):
            if left[known]:
                left[known] -= 1
                yield replace(known, reason=event.reason)
                break


def _rest(events: Iterable[Event], sure: Counter[Event]) -> tuple[Event, ...]:
    """Return the events of a deployment that are not certain, in order."""
    left = Counter(sure)
    return tuple(event for event in events if not any(_taken([event], left)))


def _prize(group: Sequence[Name], reach: Mapping[Name, set[str]], futures: Iterable[Future]) -> tuple[str, str]:
    """Return the cluster and pool that most of a group take in some future, ("", "") if none takes any."""
    takers: dict[tuple[str, str], set[Name]] = {}
    for future in futures:
        for name in group:
            for placed in future.states.get(name, ABSENT).placed.values():
                for pool in placed.pools if placed.cluster in reach[name] else ():
                    takers.setdefault((placed.cluster, pool), set()).add(name)
    return max(sorted(takers), key=lambda each: len(takers[each]), default=("", ""))


def as_json(plan: Plan) -> Tree:
    """Return a plan as JSON of PLAN_VERSION."""
    return {
        "apiVersion": PLAN_VERSION,
        "asOf": plan.as_of,
        "settled": plan.settled,
        "certain": [_event(each) for each in plan.certain],
        "contested": [
            {
                "cluster": each.cluster,
                "pool": each.pool,
                "competitors": [{"namespace": namespace, "name": name} for namespace, name in each.competitors],
                "outcomes": [[_event(event) for event in outcome] for outcome in each.outcomes],
                "notReady": list(each.not_ready),
            }
            for each in plan.contested
        ],
        "complete": plan.complete,
        "timeline": [
            {"pass": each.number, "serving": each.serving, "placed": each.placed, "devices": each.devices}
            for each in plan.timeline
        ],
        "drift": [_event(each) for each in plan.drift],
        "leastServing": [
            {"namespace": namespace, "name": name, "before": before, "least": least}
            for (namespace, name), (before, least) in sorted(plan.least.items())
        ],
        "differingVersions": list(plan.skew),
    }


def _event(event: Event) -> Tree:
    return {
        "namespace": event.namespace,
        "name": event.name,
        "event": str(event.what),
        "replica": event.replica or None,
        "from": event.source or None,
        "to": event.target or None,
        "reason": event.reason,
    }
