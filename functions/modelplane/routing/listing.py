"""Which endpoints belong to each entry of a service, and which of them its Backends list."""

from collections.abc import Container, Iterable, Mapping, Sequence

from modelplane.model.routing import Address, Endpoint, EndpointState, ServiceEntry


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


def list_endpoints(endpoints: Iterable[Endpoint], listed: Container[str]) -> frozenset[Address]:
    """Return the addresses that take requests, among all endpoints of a service.

    These are the ready ones, and leaving ones only if no other is ready. If none is ready, the endpoints that are
    `listed` now (by hostname) stay, unless they are switched off: some of their engines may still answer.
    """
    reachable = [(each, each.address) for each in endpoints if each.address]
    groups = (
        [address for each, address in reachable if each.ready and not each.leaving],
        [address for each, address in reachable if each.ready],
        [address for each, address in reachable if address.hostname in listed and not each.is_off],
    )
    return frozenset(next(filter(None, groups), ()))


def state_of(endpoint: Endpoint, listed: Container[Address], held: Container[Address]) -> EndpointState:
    """Return an endpoint's state, by the addresses that should take requests and those that the Backends hold."""
    if endpoint.address is None:
        return EndpointState.NO_ADDRESS
    if endpoint.address in held:
        first = endpoint.ready and not endpoint.leaving
        return EndpointState.SERVING if first else EndpointState.LAST_RESORT
    if endpoint.address in listed:
        return EndpointState.NO_ROOM
    return EndpointState.LEAVING if endpoint.ready else EndpointState.NOT_READY
