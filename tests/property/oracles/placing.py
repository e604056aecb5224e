"""Every assignment of a replica's engines to the pools of a cluster, in the order in which they are tried.

Rules: different engines may use different pools of one cluster. Assignments are tried in the pools' declared order,
engine by engine, and the first that has room wins. How much room a cluster has is how many more such replicas it
could take.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from math import inf

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.replica import Replica, StampedEngine
from property.oracles.matching import engine_ways
from property.oracles.room import engine_group, groups_on, has_room
from property.oracles.selectors import Answer, answer

Stamped = tuple[StampedEngine, ...]


def matching_assignments(cluster: Cluster, deployment: Deployment) -> Iterator[Stamped]:
    """Yield every assignment that fits by kind of device, whatever the room, in the order of trial."""
    pools = cluster.pools or ()
    (profile,) = deployment.profiles
    ways = [[way for pool in pools for way in engine_ways(pools, pool, engine)] for engine in profile.engines]
    yield from product(*ways)


def fits(cluster: Cluster, engines: Stamped, residents: Sequence[Replica]) -> bool:
    """Tell whether the rule of room admits the engines beside the residents, in every pool they use."""
    for pool in cluster.pools or ():
        mine = [engine_group(engine) for engine in engines if engine.pool == pool.name]
        if any(mine) and not has_room(pool, [*groups_on(cluster.name, pool.name, residents), *filter(None, mine)]):
            return False
    return True


def admissible(cluster: Cluster, deployment: Deployment, residents: Sequence[Replica]) -> Iterator[Stamped]:
    """Yield the assignments that fit by kind and by room, in the order of trial."""
    return (way for way in matching_assignments(cluster, deployment) if fits(cluster, way, residents))


def pools_of(engines: Stamped) -> tuple[str, ...]:
    """Return the pool of each engine."""
    return tuple(engine.pool for engine in engines)


def how_many_more(cluster: Cluster, deployment: Deployment, residents: Sequence[Replica], limit: int) -> int:
    """Return how many more replicas the cluster takes one after the other, each on its first admissible pools."""
    held = list(residents)
    for taken in range(limit):
        way = next(admissible(cluster, deployment, held), None)
        if way is None:
            return taken
        held.append(Replica("oracle", f"more-{taken}", f"more-{taken}", cluster.name, way))
    return limit


def devices_taken(
    cluster: Cluster, deployment: Deployment, residents: Sequence[Replica], limit: int
) -> list[tuple[bool, float]]:
    """Return what each further replica takes, one after the other.

    It is whether it takes a part of a node that gangs could use whole, and the GiB of all devices, infinite if not
    known.
    """
    held, found = list(residents), list[tuple[bool, float]]()
    for taken in range(limit):
        way = next(admissible(cluster, deployment, held), None)
        if way is None:
            break
        held.append(Replica("oracle", f"more-{taken}", f"more-{taken}", cluster.name, way))
        part = any(_takes_part_of_a_gangs_node(cluster, engine) for engine in way)
        found.append((part, sum(_memory_of(cluster, engine) for engine in way)))
    return found


def _takes_part_of_a_gangs_node(cluster: Cluster, engine: StampedEngine) -> bool:
    (pool,) = (pool for pool in cluster.pools or () if pool.name == engine.pool)
    fabric = len({device.driver for device in pool.devices}) > 1
    if len(engine.members) > 1 or pool.nodes < 2 or not fabric:
        return False
    asked = Counter[int]()
    for claim in engine.members[0].claims:
        may = [
            at
            for at, device in enumerate(pool.devices)
            if device.device_class == claim.device_class and answer(claim.selectors, device) is not Answer.NO
        ]
        # A claim that several entries satisfy may leave each of them free.
        asked.update({at: claim.count for at in may if len(may) == 1})
    return not any(asked[at] >= device.count for at, device in enumerate(pool.devices))


def _memory_of(cluster: Cluster, engine: StampedEngine) -> float:
    (pool,) = (pool for pool in cluster.pools or () if pool.name == engine.pool)
    total = 0.0
    for member in engine.members:
        for claim in member.claims:
            of_class = [device for device in pool.devices if device.device_class == claim.device_class]
            matching = [each for each in of_class if answer(claim.selectors, each) is Answer.YES] or of_class
            sizes = {dict(each.capacity).get("memory") for each in matching}
            size = sizes.pop() if len(sizes) == 1 else None
            if size is None:
                return inf
            total += float(size.removesuffix("Gi")) * claim.count * member.pods * engine.copies
    return total
