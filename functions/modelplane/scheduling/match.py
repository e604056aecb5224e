"""Matches the requests of a member to the device entries of a pool: exactly, and with the reason where they do not fit.

Each request takes its count from one entry that satisfies all its selectors; requests share an entry while it lasts.
An error on a device means "not this device", and an error on a device of the same DeviceClass rules the class out,
because Kubernetes would leave the pod pending there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from modelplane.cel import Outcome
from modelplane.model.deployment import DeviceRequest, Member
from modelplane.model.fleet import ClaimKind, Device
from modelplane.model.refusal import Closest, NoDevice, Refusal, SelectorError, TooFewDevices
from modelplane.model.replica import Claim
from modelplane.scheduling.budget import Meter
from modelplane.scheduling.charge import taken_of
from modelplane.scheduling.choices import Choices
from modelplane.scheduling.closest import closest_device, describe, needs_of, quote
from modelplane.scheduling.demands import Choice, Node, Share, Wanted
from modelplane.scheduling.groups import Demand
from modelplane.scheduling.hardware import Hardware
from modelplane.scheduling.selectors import evaluate

Claims = tuple[Claim, ...]
_EVERY = Wanted()


@dataclass(frozen=True, slots=True)
class MemberOption:
    """What a member can claim on the nodes of a pool, and what that takes of each entry."""

    claims: Claims
    demand: Demand


@dataclass(frozen=True, slots=True)
class _Wish:
    """A request with the entries that satisfy it, and those of them that no error rules out."""

    request: DeviceRequest
    matching: tuple[int, ...]
    usable: tuple[int, ...]


def _key(device: Device) -> str | None:
    """Return the DeviceClass a device is claimed through, None for one that is only matched."""
    return device.device_class or "" if device.claim is ClaimKind.DRA else None


def _wish(request: DeviceRequest, hardware: Hardware) -> _Wish:
    verdicts = [evaluate(request.selectors, device).outcome for device in hardware.devices]
    keys = [_key(device) for device in hardware.devices]
    failing = {key for key, verdict in zip(keys, verdicts, strict=True) if verdict is Outcome.ERROR} - {None}
    matching = tuple(entry for entry, verdict in enumerate(verdicts) if verdict is Outcome.MATCH)
    return _Wish(request, matching, tuple(entry for entry in matching if keys[entry] not in failing))


def _share(wish: _Wish, entries: tuple[int, ...], hardware: Hardware) -> Share:
    """Return a request for the search: what it takes of the entries of a class it is charged with all that match."""
    by_class: dict[str | None, list[int]] = {}
    for entry in wish.matching:
        by_class.setdefault(_key(hardware.devices[entry]), []).append(entry)
    nothing = ((0, 0),) * len(hardware.counts)
    demands: Mapping[str | None, Demand] = {
        key: nothing if key is None else taken_of([(wish.request.count, of_class)], hardware)
        for key, of_class in by_class.items()
    }
    usable = {_key(hardware.devices[entry]) for entry in entries}
    return Share(wish.request.count, entries, {key: demands[key] for key in demands if key in usable})


def _search(
    wishes: Sequence[_Wish], entries: Sequence[tuple[int, ...]], hardware: Hardware, wanted: Wanted = _EVERY
) -> Choices:
    node = Node(hardware.counts, [_key(device) for device in hardware.devices])
    shares = [_share(wish, allowed, hardware) for wish, allowed in zip(wishes, entries, strict=True)]
    return Choices(node, shares, wanted)


def _claims(member: Member, choice: Choice) -> Claims:
    return tuple(
        Claim(request.name, key, request.count, request.selectors)
        for request, key in zip(member.requests, choice, strict=True)
        if key is not None
    )


def _options(member: Member, found: Mapping[Demand, Choice]) -> tuple[MemberOption, ...]:
    return tuple(MemberOption(_claims(member, choice), demand) for demand, choice in found.items())


def match_member(engine: str, member: Member, hardware: Hardware, meter: Meter) -> tuple[MemberOption, ...] | Refusal:
    """Return what the member can claim, one option for each distinct demand in declared order, or why nothing.

    `engine` only names the engine in a refusal. A member without requests matches anything and claims nothing. Raises
    OutOfStatesError.
    """
    wishes = [_wish(request, hardware) for request in member.requests]
    for wish in wishes:
        if not wish.matching:
            return _no_device(engine, wish.request, hardware)
    for wish in wishes:
        has = max(hardware.counts[entry] for entry in wish.matching)
        if has < wish.request.count:
            return TooFewDevices(engine, wish.request.name, has, wish.request.count)
    usable, matching = [wish.usable for wish in wishes], [wish.matching for wish in wishes]
    if not _enough(wishes, matching, hardware):
        return _too_few_in_all(engine, wishes, hardware)
    if _enough(wishes, usable, hardware):
        search = _search(wishes, usable, hardware)
        if found := search.run(meter):
            return _options(member, found)
    if usable != matching:
        search = _search(wishes, matching, hardware, Wanted(most=1))
        if search.run(meter):
            return _error(wishes, hardware)
    at, has = search.deepest
    return TooFewDevices(engine, wishes[at].request.name, has, wishes[at].request.count)


def match_classes(
    member: Member, classes: tuple[str, ...], hardware: Hardware, meter: Meter
) -> tuple[MemberOption, ...]:
    """Return what the member can claim from exactly these classes, in the order of its claims; () for nothing.

    Raises OutOfStatesError.
    """
    wishes = [_wish(request, hardware) for request in member.requests]
    usable = [wish.usable for wish in wishes]
    if not _enough(wishes, usable, hardware):
        return ()
    return _options(member, _search(wishes, usable, hardware, Wanted(only=classes)).run(meter))


def _enough(wishes: Sequence[_Wish], entries: Sequence[tuple[int, ...]], hardware: Hardware) -> bool:
    """Tell whether every request has an entry, and the entries have devices enough for all requests together."""
    capacity = sum(hardware.counts[entry] for entry in {entry for allowed in entries for entry in allowed})
    return all(entries) and sum(wish.request.count for wish in wishes) <= capacity


def _too_few_in_all(engine: str, wishes: Sequence[_Wish], hardware: Hardware) -> TooFewDevices:
    """Return the request that finds too few devices when each takes the entry that has most left."""
    left = list(hardware.counts)
    for wish in wishes:
        entry = max(wish.matching, key=lambda entry: left[entry])
        if left[entry] < wish.request.count:
            break
        left[entry] -= wish.request.count
    return TooFewDevices(engine, wish.request.name, left[entry], wish.request.count)


def _no_device(engine: str, request: DeviceRequest, hardware: Hardware) -> NoDevice:
    """Return the refusal of the device that came closest: the selector it failed, and what it has there."""
    evaluated = [(evaluate(request.selectors, device), device) for device in hardware.devices]
    if not evaluated:
        return NoDevice(engine, request.name, 0)
    furthest = max(verdict.selector for verdict, _ in evaluated)
    stopped = [(verdict, device) for verdict, device in evaluated if verdict.selector == furthest]
    text = request.selectors[furthest]
    compared = [device for verdict, device in stopped if verdict.outcome is not Outcome.ERROR]
    if compared:
        return NoDevice(engine, request.name, furthest, closest_device(text, compared))
    verdict, device = stopped[0]
    return NoDevice(engine, request.name, furthest, Closest(needs_of(text), describe(device), error=quote(verdict.why)))


def _error(wishes: Sequence[_Wish], hardware: Hardware) -> SelectorError:
    """Return the first selector that fails with an error on a device of a class that it would otherwise claim."""
    return next(
        SelectorError(wish.request.selectors[verdict.selector], device.name, verdict.why)
        for wish in wishes
        for device in hardware.devices
        if (verdict := evaluate(wish.request.selectors, device)).outcome is Outcome.ERROR
        and _key(device) in {_key(hardware.devices[entry]) for entry in set(wish.matching) - set(wish.usable)}
    )
