"""Matches the requests of a member to the device entries of a pool: exactly, and with the reason where they do not fit.

Each request takes its count from one entry that satisfies all its selectors; requests share an entry while devices are
left. An error on a device means "not this device". An error on a device of the same DeviceClass rules the class out,
because Kubernetes would leave the pod pending there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from modelplane.cel import Outcome, keys_there
from modelplane.model.deployment import DeviceRequest, Member
from modelplane.model.fleet import ClaimKind, Device
from modelplane.model.refusal import NoDevice, Refusal, SelectorError, TooFewDevices
from modelplane.model.replica import Claim
from modelplane.scheduling.matching.choices import Choices
from modelplane.scheduling.matching.closest import Stop, closest_device
from modelplane.scheduling.matching.demands import Choice, Key, Node, RequestDemand, SearchGoal
from modelplane.scheduling.matching.selectors import CHARGED_STATES, Verdicts
from modelplane.scheduling.pools import Demand, Hardware, taken_of
from modelplane.scheduling.search_budget import Meter

Claims = tuple[Claim, ...]
_EVERY = SearchGoal()


@dataclass(frozen=True, slots=True)
class MemberOption:
    """One way for a member to claim devices on the nodes of a pool, and what it takes of each entry."""

    claims: Claims
    demand: Demand


@dataclass(frozen=True, slots=True)
class DeviceMatch:
    """What a request finds on a node: the entries that satisfy it, and those that no error rules out.

    `charged`: the entries with which a pod that claims from their class is charged, mostly those that satisfy it.
    """

    matching: tuple[int, ...]
    usable: tuple[int, ...]
    charged: tuple[int, ...]


#: What a request finds on a node, and the verdicts that say so.
Found = tuple[DeviceMatch, Verdicts]


def keys_of(hardware: Hardware) -> tuple[Key, ...]:
    """Return the DeviceClass that each device is claimed through, None for one that is only matched."""
    return tuple(device.device_class or "" if device.claim is ClaimKind.DRA else None for device in hardware.devices)


def match_devices(verdicts: Verdicts, keys: tuple[Key, ...]) -> DeviceMatch:
    """Return what a request finds on a node whose entries have these verdicts."""
    blurred: frozenset[Key] = frozenset()
    if sum([verdict.states for verdict in verdicts]) > CHARGED_STATES:
        states = dict.fromkeys(keys, 0)
        for key, verdict in zip(keys, verdicts, strict=True):
            states[key] += verdict.states
        blurred = frozenset(key for key, number in states.items() if number > CHARGED_STATES)
    return _matched(tuple([verdict.outcome for verdict in verdicts]), keys, blurred)


@lru_cache(maxsize=1024)
def _matched(outcomes: tuple[Outcome, ...], keys: tuple[Key, ...], blurred: frozenset[Key]) -> DeviceMatch:
    """Return what a request with these outcomes finds; for `blurred` classes the charged entries are not determined."""
    failing = {key for key, outcome in zip(keys, outcomes, strict=True) if outcome is Outcome.ERROR} - {None}
    matching = tuple(entry for entry, outcome in enumerate(outcomes) if outcome is Outcome.MATCH)
    usable = tuple(entry for entry in matching if keys[entry] not in failing)
    charged = tuple(entry for entry, key in enumerate(keys) if entry in matching or key in blurred)
    return DeviceMatch(matching, usable, charged)


def _demand(request: DeviceRequest, matched: DeviceMatch, entries: tuple[int, ...], node: Node) -> RequestDemand:
    """Return a request for the search, charged with all matching entries of the class that it takes from."""
    by_class: dict[Key, list[int]] = {}
    for entry in matched.charged:
        by_class.setdefault(node.keys[entry], []).append(entry)
    nothing = ((0, 0),) * len(node.counts)
    demands: Mapping[Key, Demand] = {
        key: nothing if key is None else taken_of([(request.count, of_class)], node.counts)
        for key, of_class in by_class.items()
    }
    usable = {node.keys[entry] for entry in entries}
    return RequestDemand(request.count, entries, {key: demands[key] for key in demands if key in usable})


def _search(
    member: Member,
    matches: Sequence[DeviceMatch],
    entries: Sequence[tuple[int, ...]],
    node: Node,
    goal: SearchGoal = _EVERY,
) -> Choices:
    found = zip(member.requests, matches, entries, strict=True)
    return Choices(node, [_demand(request, matched, allowed, node) for request, matched, allowed in found], goal)


def _options(member: Member, found: Mapping[Demand, Choice]) -> tuple[MemberOption, ...]:
    """Return an option for each demand; options with the same claim for a request share the value."""
    claims: dict[tuple[int, Key], Claim] = {}

    def claim(at: int, key: str) -> Claim:
        if (at, key) not in claims:
            request = member.requests[at]
            claims[at, key] = Claim(request.name, key, request.count, request.selectors)
        return claims[at, key]

    return tuple(
        MemberOption(tuple([claim(at, key) for at, key in enumerate(choice) if key is not None]), demand)
        for demand, choice in found.items()
    )


def match_member(
    engine: str, member: Member, matches: Sequence[DeviceMatch], node: Node, meter: Meter
) -> tuple[MemberOption, ...] | Refusal:
    """Return one option for each distinct demand in declared order, or why the member can claim nothing.

    `engine` is the name for the refusal, to which `explain` adds what only the devices show. A member without requests
    matches anything and claims nothing. Raises OutOfStatesError.
    """
    requests = member.requests
    for request, matched in zip(requests, matches, strict=True):
        if not matched.matching:
            return NoDevice(engine, request.name, 0)
    for request, matched in zip(requests, matches, strict=True):
        has = max(node.counts[entry] for entry in matched.matching)
        if has < request.count:
            return TooFewDevices(engine, request.name, has, request.count)
    usable, matching = [matched.usable for matched in matches], [matched.matching for matched in matches]
    if not _enough(member, matching, node):
        return _too_few_in_all(engine, member, matches, node)
    if _enough(member, usable, node):
        search = _search(member, matches, usable, node)
        if found := search.run(meter):
            return _options(member, found)
    if usable != matching:
        search = _search(member, matches, matching, node, SearchGoal(most=1))
        if search.run(meter):
            return SelectorError("", "")
    at, has = search.deepest
    return TooFewDevices(engine, requests[at].name, has, requests[at].count)


def match_classes(
    member: Member, classes: tuple[str, ...], matches: Sequence[DeviceMatch], node: Node, meter: Meter
) -> tuple[MemberOption, ...]:
    """Return the options that claim from exactly these classes, in the order of the member's claims; () for none.

    Raises OutOfStatesError.
    """
    usable = [matched.usable for matched in matches]
    if not _enough(member, usable, node):
        return ()
    return _options(member, _search(member, matches, usable, node, SearchGoal(only=classes)).run(meter))


def _enough(member: Member, entries: Sequence[tuple[int, ...]], node: Node) -> bool:
    """Tell whether every request has an entry, and the entries have enough devices for all requests together."""
    capacity = sum(node.counts[entry] for entry in {entry for allowed in entries for entry in allowed})
    return all(entries) and sum(request.count for request in member.requests) <= capacity


def _too_few_in_all(engine: str, member: Member, matches: Sequence[DeviceMatch], node: Node) -> TooFewDevices:
    """Return the refusal of the request that finds too few devices when each takes the entry with the most left."""
    left = list(node.counts)
    for request, matched in zip(member.requests, matches, strict=True):
        entry = max(matched.matching, key=lambda entry: left[entry])
        if left[entry] < request.count:
            break
        left[entry] -= request.count
    return TooFewDevices(engine, request.name, left[entry], request.count)


def explain(refusal: Refusal, member: Member, found: Sequence[Found], hardware: Hardware, meter: Meter) -> Refusal:
    """Return a refusal of `match_member` completed by the devices: the closest one, or the one in error.

    `found` is what the member's requests found, by which it was refused.
    """
    if isinstance(refusal, NoDevice):
        satisfied = [bool(matched.matching) for matched, _ in found]
        at = satisfied.index(False)
        return _no_device(refusal.engine, member.requests[at], _stops(found[at][1], hardware), sum(satisfied), meter)
    return _error(member, found, hardware) if isinstance(refusal, SelectorError) else refusal


def _no_device(engine: str, request: DeviceRequest, stops: Sequence[Stop], matched: int, meter: Meter) -> NoDevice:
    """Return the refusal by the closest device; `matched` is the number of the member's requests that find one."""
    if not stops:
        return NoDevice(engine, request.name, 0)
    selector, closest = closest_device(request, stops, meter)
    nearness = replace(closest.nearness, requests=matched)
    return NoDevice(engine, request.name, selector, replace(closest, nearness=nearness))


def _stops(verdicts: Verdicts, hardware: Hardware) -> list[Stop]:
    """Return where each device fails a request that none satisfies."""
    return [
        Stop(device, verdict.selector, verdict.why if verdict.outcome is Outcome.ERROR else None)
        for verdict, device in zip(verdicts, hardware.devices, strict=True)
    ]


def _error(member: Member, found: Sequence[Found], hardware: Hardware) -> SelectorError:
    """Return the refusal for the first selector that fails with an error on a device of a class it could claim."""
    keys = keys_of(hardware)
    return next(
        _selector_error(request.selectors[verdict.selector], device, verdict.why)
        for request, (matched, of_request) in zip(member.requests, found, strict=True)
        for key, device, verdict in zip(keys, hardware.devices, of_request, strict=True)
        if verdict.outcome is Outcome.ERROR
        and key in {keys[entry] for entry in set(matched.matching) - set(matched.usable)}
    )


def _selector_error(text: str, device: Device, why: str) -> SelectorError:
    return SelectorError(text, device.name, keys_there(why, text, device))
