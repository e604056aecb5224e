"""What a plan predicts, and what has happened, in the same form."""

from collections import Counter
from collections.abc import Iterable
from itertools import product
from typing import Any

from modelplane.planning import Event, Plan, What
from modelplane.planning.events import compare, read_states
from modelplane.reading.manifest_store import ManifestStore

#: Namespace and name of a deployment, what happens to one of its replicas, from where and to where.
Bare = tuple[str, str, What, str, str]


def bare(events: Iterable[Event]) -> Counter[Bare]:
    return Counter((e.namespace, e.name, e.what, e.source, e.target) for e in events)


def named(events: Iterable[Event]) -> Counter[tuple[What, str]]:
    """Return what happens to which replicas, as far as they are named."""
    return Counter((e.what, e.replica) for e in events if e.replica)


def outcomes(plan: Plan) -> list[Counter[Bare]]:
    """Return what may happen by a plan: its certain events with one outcome of each contest."""
    chosen = product(*(map(bare, contest.outcomes) for contest in plan.contested))
    return [sum(each, bare(plan.certain)) for each in chosen]


def happened(before: ManifestStore, after: ManifestStore) -> list[Event]:
    """Return what has happened between two states of a fleet."""
    known = [_name(each) for each in before.list("ModelReplica")]
    events = compare(read_states(before), read_states(after), known=known, lost={})
    return [event for found in events.values() for event in found]


def assert_predicted(plan: Plan, events: list[Event]) -> None:
    """Assert that what has happened is what a plan calls certain, with one outcome of each contest."""
    assert bare(plan.certain) <= bare(events), (plan, events)
    assert named(plan.certain) <= named(events), (plan, events)
    assert bare(events) in outcomes(plan) or not plan.complete, (plan, events)


def _name(obj: Any) -> str:
    return str(obj["metadata"]["name"])
