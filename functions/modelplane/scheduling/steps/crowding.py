"""Which of a deployment's replicas run on pools that have become too small for the replicas on them."""

from collections.abc import Iterator, Mapping

from modelplane.model.fleet import Cluster
from modelplane.model.placement import Needs, TooSmall
from modelplane.model.replica import Replica
from modelplane.scheduling.pools import ENDLESS, Groups, layout
from modelplane.scheduling.room import charge_of, charges, crowded_out, has_room, identity, read_charge, shortage_of
from modelplane.scheduling.steps.decisions import Decisions
from modelplane.scheduling.steps.pass_input import PassInput


def confirm(given: PassInput, so_far: Decisions) -> Decisions | Needs:
    """Ask for the replicas of clusters that publish a pool as too small for this deployment's and others' replicas.

    It may be a race: replicas that have not served are published as well, and soon yield to those that have.
    """
    unread = ((cluster, own) for cluster, own in _clusters(given) if not given.knows_residents(cluster.name))
    said = (cluster.name for cluster, own in unread if any(_find(given, cluster, own)))
    names = frozenset() if given.view.final else frozenset(said)
    return Needs(residents=names) or so_far


def find_too_small(given: PassInput) -> Iterator[TooSmall]:
    """Yield the replicas that do not fit beside the known replicas before them; leaving replicas are not considered.

    A settled pass knows the deployment's own replicas only. Where these alone fit, the groups that the cluster
    publishes show a pool that is too small for all; `confirm` has then read the other replicas, and each of this
    deployment's there is named.
    """
    for cluster, own in _clusters(given):
        found = {uid: short for uid, short in sorted(crowded_out(cluster, given.ledger).items()) if uid in own}
        yield from (TooSmall(own[uid], pool, short.needs, short.free) for uid, (pool, short) in found.items())
        if not found and (given.view.final or given.knows_residents(cluster.name)):
            yield from _find(given, cluster, own)


def _clusters(given: PassInput) -> Iterator[tuple[Cluster, Mapping[str, Replica]]]:
    """Yield the clusters that publish their pools, by name, with the own replicas that have served, by identity.

    Leaving replicas are left out, and so are clusters that have no other.
    """
    serving: dict[str, list[Replica]] = {}
    for own in given.roster.counted:
        on = serving.setdefault(own.replica.cluster, [])
        if own.replica.has_served:
            on.append(own.replica)
    for name, replicas in sorted(serving.items()):
        cluster = given.cluster(name)
        if isinstance(cluster, Cluster) and cluster.pools is not None:
            yield cluster, {identity(replica): replica for replica in sorted(replicas, key=identity)}


def _find(given: PassInput, cluster: Cluster, own: Mapping[str, Replica]) -> Iterator[TooSmall]:
    """Yield the own replicas that have no room beside those that have served, as they are read or published."""
    where, crowded = layout(cluster), _crowded(given, cluster)
    for replica in own.values() if crowded else ():
        for position, group in charges(replica.engines, where):
            pool, groups = where.pools[position], crowded.get(position, ())
            known = any(each == group for each, _ in groups)
            if known and (short := shortage_of(pool.nodes, pool.hardware.capacity, groups, group, ENDLESS)):
                yield TooSmall(replica, pool.name, short.needs, short.free)
                break


def _crowded(given: PassInput, cluster: Cluster) -> dict[int, Groups]:
    """Return the groups of those pools of a cluster (by position) that have no room for them."""
    where = layout(cluster)
    if given.knows_residents(cluster.name):
        served = (given.ledger.engines(each) for each in given.ledger.residents(cluster.name) if each.has_served)
        charge = charge_of(served, where)
    else:
        charge = read_charge(cluster) or ()
    there = enumerate(zip(charge, where.pools, strict=False))
    return {
        at: groups
        for at, (groups, on) in there
        if groups and not has_room(on.nodes, on.hardware.capacity, groups, ENDLESS)
    }
