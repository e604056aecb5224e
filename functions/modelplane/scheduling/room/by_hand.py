"""Replicas written by hand that have never served: which of them may run, and so hold room.

A ModelReplica written by hand names its pools without the scheduler. One that can never be bound there, or that has no
room beside the replicas before it, holds nothing: compose-replica composes nothing for it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import ClaimKind, Cluster, Effect
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import Holders
from modelplane.model.refusal import NoRoom, Refusal, Tainted
from modelplane.model.replica import Claim, Replica, StampedMember
from modelplane.scheduling.matching import find_not_allowed, repelling
from modelplane.scheduling.pools import Layout, lacking, layout
from modelplane.scheduling.room.charge import can_claim
from modelplane.scheduling.room.ledger import Ledger, holders_of, identity
from modelplane.scheduling.room.precedence import has_room, yielding
from modelplane.scheduling.words import count, listed, word


def has_to_fit(replica: Replica) -> bool:
    """Tell whether a replica is written by hand and has never served; once it has served it keeps its room."""
    return not replica.owner and not replica.has_served


def find_misfit(replica: Replica, cluster: Cluster) -> str:
    """Return why a replica can never be bound on its cluster, "" where it can or the pools are not known."""
    where = layout(cluster)
    members = ((engine.name, member) for engine in replica.engines for member in engine.members)
    found = (_misfit(name, member, where, cluster.name) for name, member in members)
    return "" if cluster.pools is None else next((each for each in found if each), "")


def _misfit(engine: str, member: StampedMember, where: Layout, cluster: str) -> str:
    if member.pool not in where.positions:
        pools = listed(sorted(where.positions)) or "none"
        return f"engine {engine} names pool {member.pool}, cluster {cluster} publishes {pools}"
    if member.whole_nodes:
        return f"engine {engine} has more selectors than are evaluated"
    asked = (_unclaimable(claim, member.pool, where) for claim in member.claims)
    lacks = lacking(engine, member.asked, where.pools[where.positions[member.pool]].hardware.node)
    unclaimable = next((f"engine {engine}: {each}" for each in asked if each), "")
    return unclaimable or (word(lacks, pools=[member.pool]) if lacks else "")


def _unclaimable(claim: Claim, pool: str, where: Layout) -> str:
    hardware = where.pools[where.positions[pool]].hardware
    if can_claim(claim, hardware):
        return ""
    classes = {each.device_class or "" for each in hardware.devices if each.claim is ClaimKind.DRA}
    if claim.device_class not in classes:
        declared = listed(sorted(classes)) or "none"
        return f"request {claim.name} names DeviceClass {claim.device_class}, pool {pool} declares {declared}"
    needs = count(claim.count, "device")
    return f"request {claim.name} needs {needs} that satisfy its selectors, no node of pool {pool} has as many"


def find_closed(replica: Replica, cluster: Cluster, namespace: Mapping[str, str]) -> Refusal | None:
    """Return why a cluster takes no hand-written replica of a namespace with these labels, None where it does.

    A ModelReplica has no tolerations, so every taint repels it.
    """
    team = Deployment(replica.namespace, replica.name, "", ())
    if refusal := find_not_allowed(replica.namespace, cluster, namespace):
        return refusal
    taint = repelling(team, cluster, Effect.NO_SCHEDULE, Effect.NO_EXECUTE)
    return Tainted(taint.key, taint.effect) if taint else None


def find_no_room(replica: Replica, cluster: Cluster, residents: Iterable[Replica]) -> tuple[NoRoom, Holders] | None:
    """Return the refusal of a replica that has no room beside those before it in `precedence`, None where it has room.

    The second value names what holds the pool that is short: the replicas that have served or have room there.
    """
    others = [each for each in residents if identity(each) != identity(replica)]
    # An earlier pass may have refused it for a reason that is gone.
    there = _bindable([*others, replace(replica, refused=False)], cluster)
    refused = yielding(cluster, Ledger(there))
    short = refused.get(identity(replica))
    if short is None:
        return None
    pool, shortage = short
    kept = ((each, each.engines) for each in there if each.has_served or identity(each) not in refused)
    holders = holders_of(kept, layout(cluster), pool, replica.namespace)
    return NoRoom(replica.engines[0].name, shortage.needs, shortage.free, pool=pool), holders


def _bindable(residents: Iterable[Replica], cluster: Cluster) -> list[Replica]:
    there = (each for each in residents if each.cluster == cluster.name)
    return [each for each in there if not (has_to_fit(each) and (each.refused or find_misfit(each, cluster)))]


def holding(
    replicas: Iterable[Replica], find_cluster: Callable[[str], Cluster | Gap | Malformed | None]
) -> list[Replica]:
    """Return the replicas that hold room: all, without hand-written ones that hold none on a cluster that is known."""
    everything = list(replicas)
    kept = {identity(each): each for each in everything}
    for name in sorted({each.cluster for each in everything if has_to_fit(each)}):
        cluster = find_cluster(name)
        if isinstance(cluster, Cluster) and cluster.pools is not None:
            there = [each for each in everything if each.cluster == name]
            bindable = _bindable(there, cluster)
            stays = {identity(each) for each in bindable}
            if not has_room(layout(cluster), tuple(each.engines for each in bindable)):
                stays -= yielding(cluster, Ledger(bindable)).keys()
            for each in there:
                if has_to_fit(each) and identity(each) not in stays:
                    del kept[identity(each)]
    return list(kept.values())
