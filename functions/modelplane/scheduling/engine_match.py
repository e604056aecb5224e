"""The ways to put an engine on a node; engines whose requests find the same there share one search."""

from dataclasses import replace
from typing import NamedTuple

from modelplane.model.deployment import Engine, Member
from modelplane.model.refusal import Refusal, SearchBound, rank
from modelplane.model.resources import NOTHING
from modelplane.scheduling.budget import Meter, SearchBudget, Searches
from modelplane.scheduling.demands import Node
from modelplane.scheduling.match import MemberOption, Wish, match_classes, match_member
from modelplane.scheduling.node_resources import demand_of, lacking
from modelplane.scheduling.ways import EngineWays, combine

#: Bytes of the cache of ways.
_REMEMBERED = 16 * 1024 * 1024

#: The DeviceClasses that each member of an engine claims.
Classes = tuple[tuple[str, ...], ...]


class EngineWishes(NamedTuple):
    """All that a match depends on: which entries satisfy which request, whatever the devices are.

    `wishes` are what the requests of each member find on the node. `classes` are the ones it has to claim, None for
    any.
    """

    engine: Engine
    node: Node
    wishes: tuple[tuple[Wish, ...], ...]
    classes: Classes | None


def _search(key: EngineWishes, meter: Meter) -> EngineWays:
    engine, node, wishes, classes = key
    if classes is not None:
        return _match_classes(key, classes, meter)
    found = [
        _with_resources(match_member(engine.name, member, of_member, node, meter), engine, member, node)
        for member, of_member in zip(engine.members, wishes, strict=True)
    ]
    failed = [(at, refusal) for at, refusal in enumerate(found) if isinstance(refusal, Refusal)]
    members = [() if isinstance(options, Refusal) else options for options in found]
    could_claim = tuple(any(option.claims for option in options) for options in members)
    refusal = min(failed, key=lambda each: rank(each[1])) if failed else None
    return EngineWays(combine(engine, members, len(node.counts), meter), could_claim, refusal)


def _match_classes(key: EngineWishes, classes: Classes, meter: Meter) -> EngineWays:
    found = [
        _with_resources(match_classes(member, claimed, of_member, key.node, meter), key.engine, member, key.node)
        for member, claimed, of_member in zip(key.engine.members, classes, key.wishes, strict=True)
    ]
    members = [() if isinstance(options, Refusal) else options for options in found]
    return EngineWays(combine(key.engine, members, len(key.node.counts), meter))


def _with_resources(
    options: tuple[MemberOption, ...] | Refusal, engine: Engine, member: Member, node: Node
) -> tuple[MemberOption, ...] | Refusal:
    """Return the options with the member's CPU and memory added, or why a node never has enough of these."""
    if isinstance(options, Refusal) or (node.resources == NOTHING and member.asked == NOTHING):
        return options
    if lacks := lacking(engine.name, member.asked, node.resources):
        return lacks
    asked = demand_of(member.asked, node.resources)
    return tuple(replace(each, demand=each.demand + asked) for each in options)


def _weigh(key: EngineWishes, found: EngineWays | SearchBound) -> int:
    """Return about how many bytes an entry keeps alive: the texts of the engine, its wishes, and its options."""
    texts = sum(len(text) for member in key.engine.members for request in member.requests for text in request.selectors)
    wishes = sum(len(each.matching) + len(each.usable) for of_member in key.wishes for each in of_member)
    options = 0 if isinstance(found, SearchBound) else len(found.options)
    return 3000 + texts + 8 * wishes + options * (500 + 100 * len(key.node.counts))


MATCHES: Searches[EngineWishes, EngineWays] = Searches(_REMEMBERED, _weigh)


def find_ways(key: EngineWishes, budget: SearchBudget) -> EngineWays | SearchBound:
    """Return the ways of an engine, or why they were not found within the budget."""
    return MATCHES.find(key, budget, lambda meter: _search(key, meter))
