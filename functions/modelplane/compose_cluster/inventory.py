"""The inventory of a cluster: one Object observes it, and its bounds are published with the pools.

What is declared holds while there is no inventory, while its pod does not run, and where it cannot be read.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from modelplane.api.inferencecluster import NodePool
from modelplane.compose_cluster.observation import ClusterObservation
from modelplane.compose_cluster.pool_bounds import find_bound, find_differences
from modelplane.compose_cluster.pools import Published
from modelplane.kube.inventory import config_map
from modelplane.kube.object import observed_only, remote_object
from modelplane.model.inventory import Inventory
from modelplane.model.names import SYSTEM_NAMESPACE
from modelplane.observed.inventory import read_inventory
from modelplane.observed.remote import read_remote
from modelplane.stack import Part
from modelplane.step import Manifest, Request

#: Composition resource name of the Object that observes the inventory's ConfigMap.
RESOURCE: Final = "inventory"


def bodies(config: str, observation: ClusterObservation) -> dict[str, Manifest]:
    """Return the Object that observes the inventory, where the cluster's stack has one or it was observed before."""
    asked = observation.stack is not None and observation.stack.inventory
    if not asked and RESOURCE not in observation.observed:
        return {}
    handling = observed_only(watch=True)
    return {RESOURCE: remote_object(config_map(), handling, namespace=SYSTEM_NAMESPACE, config=config)}


def read(request: Request, observation: ClusterObservation) -> Inventory | str:
    """Return the inventory, or why there is none that counts, "" where none is asked for."""
    seen, stack = request.observed.get(RESOURCE), observation.stack
    if seen is None or stack is None or not stack.inventory or observation.strays:
        return ""
    if Part.INVENTORY not in stack.usable:
        return "the inventory's pod does not run (ServingStack, part inventory)"
    remote = read_remote(seen)
    if remote.absent or remote.manifest is None:
        return "the inventory has published nothing yet"
    found = read_inventory(remote.manifest, observation.uid)
    if isinstance(found, Inventory) and not found.settled:
        return "the inventory is not five minutes old yet"
    return found


def bounded(
    request: Request, observation: ClusterObservation, published: Published, pools: Iterable[NodePool]
) -> Published:
    """Return the published pools with their bounds, and what differs from their classes among the caveats."""
    plain = tuple({key: value for key, value in entry.items() if key != "bound"} for entry in published.entries)
    inventory = read(request, observation)
    if not isinstance(inventory, Inventory):
        why = (f"the declared nodes of pools count: {inventory}",) if inventory else ()
        return replace(published, entries=plain, caveats=(*published.caveats, *why))
    by_name = {pool.name: pool for pool in pools}
    entries: list[dict[str, Any]] = []
    words: list[str] = []
    for entry in plain:
        pool = by_name.get(entry["name"])
        bound = find_bound(entry, inventory, grows=bool(pool and _grows(pool)))
        entries.append(entry | ({"bound": bound.published()} if bound else {}))
        words += [f"pool {entry['name']}: {bound.message}"] if bound else []
        words += find_differences(entry, request.composite.name, pool.className, inventory) if pool else []
    return replace(published, entries=tuple(entries), caveats=(*published.caveats, *words))


def _grows(pool: NodePool) -> bool:
    """Tell whether an autoscaler makes nodes of a pool when they are needed."""
    return pool.maxNodeCount is not None and pool.maxNodeCount != pool.nodeCount
