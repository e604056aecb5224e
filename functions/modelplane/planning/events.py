"""What happens to the replicas of a deployment between two states of a fleet."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest
from typing import Final

from modelplane.observed.memo import once_per_version
from modelplane.reading.deployments import DEPLOYMENT, read_deployment
from modelplane.reading.manifest_store import ManifestStore
from modelplane.reading.reader import as_object
from modelplane.reading.tree import Manifest
from modelplane.scheduling.words import count
from modelplane.step import Object

#: Namespace and name of a deployment.
Name = tuple[str, str]
_EDITED: Final = "its deployment was edited"


class What(StrEnum):
    """What happens to one replica."""

    #: A new one that replaces none.
    STARTS = "Starts"
    #: One on another cluster replaces it.
    MOVES = "Moves"
    #: It stays where it is and gets the deployment's present spec.
    CHANGES = "Changes"
    #: It goes, and none replaces it.
    ENDS = "Ends"
    #: It is asked for and has no place, or it has to wait for the deployment's present spec.
    WAITS = "Waits"


@dataclass(frozen=True, slots=True, order=True)
class Event:
    """An event: `replica` is "" for one that does not exist yet, `source` and `target` are clusters, "" for none."""

    namespace: str
    name: str
    what: What
    replica: str
    source: str
    target: str
    reason: str = ""

    @property
    def deployment(self) -> Name:
        """Return the deployment."""
        return self.namespace, self.name

    def bare(self) -> "Event":
        """Return the event without its reason: events of different futures are compared by it."""
        return replace(self, reason="")


@dataclass(frozen=True, slots=True)
class Placed:
    """A replica that stays, as its deployment's status has it; `pools` is sorted. `updated`: its spec is as asked."""

    cluster: str
    revision: str
    pools: tuple[str, ...]
    updated: bool


@dataclass(frozen=True, slots=True)
class State:
    """A deployment at one time.

    `asked` replicas are asked for, `unplaced` of them have no place, and `why` they have none. `placed` are those that
    stay, by name, `leaving` is how many go, `serving` how many of both serve. `rollout` is what
    its rollout says.
    """

    asked: int
    placed: Mapping[str, Placed]
    leaving: int
    serving: int
    unplaced: int
    why: str
    rollout: str


#: The state of a deployment that does not exist.
ABSENT: Final = State(0, {}, 0, 0, 0, "", "")


def read_states(store: ManifestStore) -> dict[Name, State]:
    """Return the deployments of a fleet."""
    objects = (as_object(store, each) for each in store.scan(DEPLOYMENT))
    return {(each.namespace, each.name): _state(each) for each in objects}


@once_per_version
def _state(obj: Object) -> State:
    deployment = read_deployment(obj.body)
    placed = {
        each["name"]: Placed(
            each["cluster"], each["revision"], tuple(sorted({*each["pools"].values()})), bool(each["updated"])
        )
        for each in deployment["placed"]
        if not each["leaving"]
    }
    why = "; ".join(str(each["message"]) for each in deployment["reasons"])
    leaving = len(deployment["placed"]) - len(placed)
    return State(
        deployment["replicas"],
        placed,
        leaving,
        deployment["serving"],
        deployment["unplaced"],
        why,
        _rollout(deployment),
    )


def _rollout(deployment: Manifest) -> str:
    """Return what a rollout says of itself, "" without one."""
    kinds = {each["type"]: each for each in deployment["conditions"]}
    return str(kinds.get("RolloutProgressing", {}).get("message", ""))


def compare(
    before: Mapping[Name, State], after: Mapping[Name, State], *, known: Iterable[str], lost: Mapping[str, str]
) -> dict[Name, tuple[Event, ...]]:
    """Return the events between two states, sorted, of the deployments that have any.

    `known` are the ModelReplicas that exist, `lost` says of clusters why replicas cannot stay there.
    """
    exists = frozenset(known)
    found = {}
    for name in sorted({*before, *after}):
        events = sorted(_events(name, before.get(name, ABSENT), after.get(name), lost))
        if events:
            found[name] = tuple(
                replace(each, replica=each.replica if each.replica in exists else "") for each in events
            )
    return found


def _events(name: Name, old: State, after: State | None, lost: Mapping[str, str]) -> Iterator[Event]:
    new = after or ABSENT
    gone = [each for each in _ordered(old.placed) if each not in new.placed]
    come = [new.placed[each].cluster for each in _ordered(new.placed) if each not in old.placed]
    for replica, target in zip_longest(gone, come, fillvalue=""):
        source = old.placed[replica].cluster if replica else ""
        what = What.MOVES if replica and target else What.ENDS if replica else What.STARTS
        yield Event(*name, what, replica, source, target, _reason(what, source, old, after, lost))
    for replica, was in old.placed.items():
        now = new.placed.get(replica)
        if now and now.revision != was.revision:
            yield Event(*name, What.CHANGES, replica, was.cluster, was.cluster, _EDITED)
        elif now and was.updated and not now.updated:
            yield Event(*name, What.WAITS, replica, was.cluster, "", new.rollout)
    for _ in range(new.unplaced - old.unplaced):
        yield Event(*name, What.WAITS, "", "", "", new.why)


def _reason(what: What, source: str, old: State, after: State | None, lost: Mapping[str, str]) -> str:
    """Return why a replica goes from a cluster or, without one, comes."""
    if after is None:
        return "its deployment is deleted"
    if what is What.STARTS:
        return f"its deployment asks for {count(after.asked, 'replica')}" if after.asked != old.asked else "it has room"
    if source in lost:
        return lost[source]
    return f"its deployment asks for {after.asked}" if after.asked < old.asked else _EDITED


def _ordered(placed: Mapping[str, Placed]) -> list[str]:
    return sorted(placed, key=lambda each: (placed[each].cluster, each))
