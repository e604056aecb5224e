"""Matches the requests of a member to the device entries of a pool: exactly, and with the reason where they do not fit.

Each request takes its count from one entry that satisfies all its selectors; requests share an entry while it lasts.
An error on a device means "not this device", and an error on a device of the same DeviceClass rules the class out,
because Kubernetes would leave the pod pending there.
"""

from dataclasses import dataclass
from functools import lru_cache

from modelplane.cel import Outcome
from modelplane.model.deployment import DeviceRequest, Member
from modelplane.model.fleet import ClaimKind, Device
from modelplane.model.refusal import NoDevice, Refusal, SearchBound, SelectorError, TooFewDevices
from modelplane.model.replica import Claim
from modelplane.scheduling.hardware import Hardware
from modelplane.scheduling.judge import Judgement, judge
from modelplane.scheduling.nearest import nearest_value

#: Most states that one exact search visits before it is given up.
STATES = 20_000
CACHE_SIZE = 1 << 14

Claims = tuple[Claim, ...]


class OutOfStatesError(Exception):
    """An exact search hit its bound."""


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
    verdicts = [judge(request.selectors, device).outcome for device in hardware.devices]
    keys = [_key(device) for device in hardware.devices]
    failing = {key for key, verdict in zip(keys, verdicts, strict=True) if verdict is Outcome.ERROR} - {None}
    matching = tuple(entry for entry, verdict in enumerate(verdicts) if verdict is Outcome.MATCH)
    return _Wish(request, matching, tuple(entry for entry in matching if keys[entry] not in failing))


class _Search:
    """One exact search for ways to serve all wishes from the entries of a node."""

    def __init__(self, wishes: list[_Wish], entries: list[tuple[int, ...]], hardware: Hardware) -> None:
        self.wishes = wishes
        self.entries = entries
        self.keys = [_key(device) for device in hardware.devices]
        columns = [(self.keys[entry], tuple(entry in each for each in entries)) for entry in range(len(self.keys))]
        #: Entries of one kind are interchangeable: what is left of them is remembered without its order.
        self.kinds = [columns.index(column) for column in columns]
        self.ways: dict[tuple[str | None, ...], None] = {}
        self.seen: set[object] = set()
        self.deepest = (-1, 0)

    def run(self, left: list[int], chosen: tuple[str | None, ...] = ()) -> None:
        """Collect every distinct choice of classes, in the order of the entries."""
        at = len(chosen)
        if at == len(self.wishes):
            self.ways.setdefault(chosen)
            return
        state = (chosen, tuple(sorted(zip(self.kinds, left, strict=True))))
        if state in self.seen:
            return
        self.seen.add(state)
        if len(self.seen) > STATES:
            raise OutOfStatesError
        count = self.wishes[at].request.count
        self.deepest = max(self.deepest, (at, max((left[entry] for entry in self.entries[at]), default=0)))
        for entry in self.entries[at]:
            if left[entry] >= count:
                left[entry] -= count
                self.run(left, (*chosen, self.keys[entry]))
                left[entry] += count


def _claims(member: Member, classes: tuple[str | None, ...]) -> Claims:
    return tuple(
        Claim(request.name, key, request.count, request.selectors)
        for request, key in zip(member.requests, classes, strict=True)
        if key is not None
    )


def _search(wishes: list[_Wish], entries: list[tuple[int, ...]], hardware: Hardware) -> _Search:
    search = _Search(wishes, entries, hardware)
    capacity = sum(hardware.counts[entry] for entry in {entry for allowed in entries for entry in allowed})
    if sum(wish.request.count for wish in wishes) <= capacity or len(wishes) == 1:
        search.run(list(hardware.counts))
    else:
        _fill_greedily(search, list(hardware.counts))
    return search


def _fill_greedily(search: _Search, left: list[int]) -> None:
    """Find the request that finds too few devices where all of them together are too few for all requests."""
    for at, wish in enumerate(search.wishes):
        entry = max(search.entries[at], key=lambda entry: left[entry])
        search.deepest = (at, left[entry])
        if left[entry] < wish.request.count:
            return
        left[entry] -= wish.request.count


@lru_cache(maxsize=CACHE_SIZE)
def match_member(engine: str, member: Member, hardware: Hardware) -> tuple[Claims, ...] | Refusal:
    """Return every distinct way the member can claim devices of the hardware, in declared order, or why there is none.

    `engine` only names the engine in a refusal. A member without requests matches anything and claims nothing.
    """
    wishes = [_wish(request, hardware) for request in member.requests]
    for wish in wishes:
        if not wish.matching:
            return _no_device(engine, wish.request, hardware)
    for wish in wishes:
        has = max(hardware.counts[entry] for entry in wish.matching)
        if has < wish.request.count:
            return TooFewDevices(engine, wish.request.name, has, wish.request.count)
    try:
        usable = _search(wishes, [wish.usable for wish in wishes], hardware) if all(w.usable for w in wishes) else None
        if usable and usable.ways:
            return tuple(dict.fromkeys(_claims(member, classes) for classes in usable.ways))
        matching = _search(wishes, [wish.matching for wish in wishes], hardware)
    except OutOfStatesError:
        return SearchBound(STATES)
    if matching.ways:
        return _error(wishes, hardware)
    at, has = matching.deepest
    return TooFewDevices(engine, wishes[at].request.name, has, wishes[at].request.count)


def _no_device(engine: str, request: DeviceRequest, hardware: Hardware) -> NoDevice:
    """Return the refusal of the device that came furthest: the selector it failed, and the value it has there."""
    judged = [(judge(request.selectors, device), device) for device in hardware.devices]
    if not judged:
        return NoDevice(engine, request.name, 0)
    furthest = max(judgement.selector for judgement, _ in judged)
    stopped = [(judgement, device) for judgement, device in judged if judgement.selector == furthest]
    failed: list[Judgement] = [judgement for judgement, _ in stopped if judgement.outcome is Outcome.ERROR]
    if len(failed) == len(stopped):
        return NoDevice(engine, request.name, furthest, f"error: {failed[0].why}")
    text = request.selectors[furthest]
    compared = [device for judgement, device in stopped if judgement.outcome is not Outcome.ERROR]
    return NoDevice(engine, request.name, furthest, nearest_value(text, compared))


def _error(wishes: list[_Wish], hardware: Hardware) -> SelectorError:
    """Return the first selector that fails with an error on a device of a class that it would otherwise claim."""
    return next(
        SelectorError(wish.request.selectors[judgement.selector], device.name, judgement.why)
        for wish in wishes
        for device in hardware.devices
        if (judgement := judge(wish.request.selectors, device)).outcome is Outcome.ERROR
        and _key(device) in {_key(hardware.devices[entry]) for entry in set(wish.matching) - set(wish.usable)}
    )
