"""Which of a service's endpoints its Backends list."""

from collections.abc import Container, Iterable

from modelplane.model.routing import Address, Endpoint


def list_endpoints(endpoints: Iterable[Endpoint], listed: Container[str]) -> frozenset[Address]:
    """Return the addresses that take requests, of all endpoints of a service.

    Those that are ready; a leaving one only where no other is ready. When none is ready, those stay that are `listed`
    now, by hostname: to the engines that still answer they are worth more than none at all.
    """
    reachable = [(each, each.address) for each in endpoints if each.address]
    groups = (
        [address for each, address in reachable if each.ready and not each.leaving],
        [address for each, address in reachable if each.ready],
        [address for _, address in reachable if address.hostname in listed],
    )
    return frozenset(next(filter(None, groups), ()))
