"""Which of a service's endpoints its Backends list."""

from collections.abc import Container, Iterable

from modelplane.model.routing import Address, Endpoint, EndpointState


def list_endpoints(endpoints: Iterable[Endpoint], listed: Container[str]) -> frozenset[Address]:
    """Return the addresses that take requests, of all endpoints of a service.

    Those that are ready; a leaving one only where no other is ready. When none is ready, those stay that are `listed`
    now, by hostname, unless a person has switched them off: to the engines that still answer they are worth more than
    none at all.
    """
    reachable = [(each, each.address) for each in endpoints if each.address]
    groups = (
        [address for each, address in reachable if each.ready and not each.leaving],
        [address for each, address in reachable if each.ready],
        [address for each, address in reachable if address.hostname in listed and not each.is_off],
    )
    return frozenset(next(filter(None, groups), ()))


def state_of(endpoint: Endpoint, listed: Container[Address], held: Container[Address]) -> EndpointState:
    """Return what an endpoint does, by the addresses that are to take requests and those that the Backends hold."""
    if endpoint.address is None:
        return EndpointState.NO_ADDRESS
    if endpoint.address in held:
        first = endpoint.ready and not endpoint.leaving
        return EndpointState.SERVING if first else EndpointState.LAST_RESORT
    if endpoint.address in listed:
        return EndpointState.NO_ROOM
    return EndpointState.LEAVING if endpoint.ready else EndpointState.NOT_READY
