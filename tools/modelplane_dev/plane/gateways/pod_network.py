"""A network namespace for a pod, or for those of a node, where programs listen on any port they like.

The other pods of a site share the network of its gateway, with the gateway's own ports.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from modelplane_dev.plane.gateways.controller import Gateways
from modelplane_dev.plane.gateways.network import Network
from modelplane_dev.plane.gateways.relay import COMMAND, start_relay

#: The number of the first link of a site to such a network, other than those of its other links.
_FIRST_LINK: Final = 100


@contextmanager
def pod_network(site: Gateways, addresses: str, number: int) -> Iterator[Network]:
    """Run the network of the pods with these addresses, from which the site and its API server are reached.

    `addresses` are in CIDR notation; `number` tells such networks of a site apart.
    """
    name = f"{site.network.name}-pod-{number}"
    network = Network(name, site.folder)
    with ExitStack() as stack:
        stack.callback(network.stop)
        network.start()
        here, there = site.network.link(network, _FIRST_LINK + number)
        network.run(f"{name}-address", "ip", "route", "replace", "local", addresses, "dev", "lo")
        network.run(f"{name}-route", "ip", "route", "replace", "default", "via", here)
        # The table in which the site itself has the addresses of all pods: the longest prefix counts.
        route = (addresses, "via", there, "table", "local")
        site.network.run(f"{name}-site", "ip", "route", "replace", *route)
        stack.callback(site.network.run, f"{name}-site", "ip", "route", "delete", *route)
        start_relay(stack, network.process(f"{name}-api", *COMMAND, site.cluster.address, site.folder / "api"))
        yield network
