"""Which replicas would have to go so that a deployment can be placed: the fewest of one cluster that leave room."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.placement import FleetView, Needs, Schedule
from modelplane.model.replica import Replica
from modelplane.scheduling.room import seniority
from modelplane.scheduling.steps.decision import schedule


def place_beside(deployment: Deployment, clusters: Iterable[Cluster], replicas: Iterable[Replica]) -> Schedule:
    """Return where the replicas of a deployment without any would run beside those of a fleet.

    The deployment must name no cache. `clusters` and `replicas` are all of the fleet's.
    """
    there, residents = tuple(clusters), _by_cluster(replicas)
    known = {each.name: tuple(residents.get(each.name, ())) for each in there}
    found = schedule(deployment, FleetView(candidates=there, residents=known, siblings=()))
    if isinstance(found, Needs):
        raise TypeError(f"the whole fleet is at hand, and {found} is needed")
    return found


def find_freed(
    deployment: Deployment,
    clusters: Iterable[Cluster],
    replicas: Iterable[Replica],
    staying: Collection[str] = frozenset(),
) -> tuple[Replica, ...] | None:
    """Return the fewest replicas without which one cluster could host a deployment, None if no cluster ever could.

    On a cluster with room these are none. Where one replica suffices it is the youngest that does. Else all replicas
    are put back as far as they fit, the oldest first, and the rest have to go. `staying` are uids of replicas that are
    not among them.
    """
    residents = _by_cluster(replicas)
    best: tuple[Replica, ...] | None = None
    for cluster in sorted(clusters, key=lambda each: (len(residents.get(each.name, ())), each.name)):
        if best is not None and len(best) <= 1:
            break
        stay = [each for each in residents.get(cluster.name, ()) if each.uid in staying]
        if _hosts(deployment, cluster, stay):
            freed = _freed_on(deployment, cluster, residents, stay)
            best = freed if best is None or len(freed) < len(best) else best
    return best


def _by_cluster(replicas: Iterable[Replica]) -> Mapping[str, Sequence[Replica]]:
    found: dict[str, list[Replica]] = {}
    for replica in replicas:
        found.setdefault(replica.cluster, []).append(replica)
    return found


def _hosts(deployment: Deployment, cluster: Cluster, beside: Sequence[Replica]) -> bool:
    return not place_beside(deployment, (cluster,), beside).unplaced


def _freed_on(
    deployment: Deployment, cluster: Cluster, residents: Mapping[str, Sequence[Replica]], stay: Sequence[Replica]
) -> tuple[Replica, ...]:
    """Return the replicas of a cluster that have to go; it must host the deployment beside those that stay."""
    there = sorted(residents.get(cluster.name, ()), key=lambda each: (not each.has_served, seniority(each)))
    if _hosts(deployment, cluster, there):
        return ()
    for each in (each for each in reversed(there) if each not in stay):
        if _hosts(deployment, cluster, [other for other in there if other is not each]):
            return (each,)
    kept = list(stay)
    for each in (each for each in there if each not in stay):
        if _hosts(deployment, cluster, [*kept, each]):
            kept.append(each)
    return tuple(each for each in there if each not in kept)
