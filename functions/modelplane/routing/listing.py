"""Which endpoints belong to each entry of a service, and which of them its Backends list."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from modelplane.model.routing import Address, Copies, Endpoint, EndpointState, ServiceEntry


def select(entries: Sequence[ServiceEntry], endpoints: Iterable[Endpoint]) -> tuple[tuple[Endpoint, ...], ...]:
    """Return the endpoints of each entry, by name; an endpoint that several entries select belongs to the first."""
    selected: list[list[Endpoint]] = [[] for _ in entries]
    for endpoint in sorted(endpoints, key=lambda each: each.name):
        first = next((i for i, entry in enumerate(entries) if matches(entry.selector, endpoint.labels)), None)
        if first is not None:
            selected[first].append(endpoint)
    return tuple(map(tuple, selected))


def matches(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Tell whether labels match `matchLabels`; an empty selector matches everything."""
    return all(labels.get(key) == value for key, value in selector.items())


def list_endpoints(selected: Iterable[Sequence[Endpoint]], listed: Container[str]) -> frozenset[Address]:
    """Return the addresses that take requests, among the endpoints of a service, which are given by entry.

    These are the ready ones, and leaving ones only if no other is ready. Of an entry, those with few of their copies
    are left out while another one has all: the endpoints of an entry share its requests evenly. If none is ready, the
    endpoints that are `listed` now (by hostname) stay, unless they are switched off: some of their engines may still
    answer.
    """
    entries = [[each for each in of_entry if each.address] for of_entry in selected]
    reachable = [(each, each.address) for of_entry in entries for each in of_entry if each.address]
    groups = (
        [each.address for of_entry in entries for each in _able(of_entry) if each.address],
        [address for each, address in reachable if each.ready],
        [address for each, address in reachable if address.hostname in listed and not each.is_off],
    )
    return frozenset(next(filter(None, groups), ()))


def _able(of_entry: Sequence[Endpoint]) -> Iterator[Endpoint]:
    """Yield the ready endpoints of an entry, without those with few of their copies beside one that has all."""
    ready = [each for each in of_entry if each.ready and not each.leaving]
    complete = any(each.copies is Copies.ALL for each in ready)
    yield from (each for each in ready if not (complete and each.copies is Copies.FEW))


def state_of(endpoint: Endpoint, listed: Container[Address], held: Container[Address]) -> EndpointState:
    """Return an endpoint's state, by the addresses that should take requests and those that the Backends hold."""
    if endpoint.address is None:
        return EndpointState.NO_ADDRESS
    if endpoint.address in held:
        first = endpoint.ready and not endpoint.leaving
        return EndpointState.SERVING if first else EndpointState.LAST_RESORT
    if endpoint.address in listed:
        return EndpointState.NO_ROOM
    if endpoint.ready and not endpoint.leaving:
        return EndpointState.FEW_COPIES
    return EndpointState.LEAVING if endpoint.ready else EndpointState.NOT_READY
