"""Which replicas hold the pools that have no room: for refusals that are reported, as far as their reader may know."""

from collections.abc import Iterator, Mapping

from modelplane.model.fleet import Cluster
from modelplane.model.placement import Holders
from modelplane.model.refusal import NoRoom, Refusal
from modelplane.scheduling.pools import layout
from modelplane.scheduling.room import holders_of
from modelplane.scheduling.steps.decisions import Decisions
from modelplane.scheduling.steps.pass_input import PassInput

#: Most needs for which the nearest pool and its holders are named.
_NEEDS = 16


def nearest_pools(refusals: Mapping[str, Refusal]) -> dict[NoRoom, tuple[str, NoRoom]]:
    """Return, for each need for room, the cluster that came nearest, with its refusal.

    A need is a refusal without its pool and its free nodes.
    """
    nearest: dict[NoRoom, tuple[str, NoRoom]] = {}
    for cluster, refusal in sorted(refusals.items()):
        if isinstance(refusal, NoRoom):
            need = refusal.need
            if need not in nearest or refusal.left > nearest[need][1].left:
                nearest[need] = cluster, refusal
    return nearest


def find_holders(given: PassInput, so_far: Decisions) -> dict[tuple[str, str], Holders]:
    """Return the holders of each pool (cluster, pool) that a refusal of this pass reports to lack room.

    The holders of a cluster that was checked by what it publishes are not known.
    """
    known = (each for each in _reported(so_far) if given.ledger.is_exact(each[0]))
    return {(cluster, pool): _on_pool(given, cluster, pool, but) for cluster, pool, but in known}


def _reported(so_far: Decisions) -> Iterator[tuple[str, str, str]]:
    """Yield (cluster, pool, replica to leave out): pools that lack room for new replicas and for edits."""
    for cluster, refusal in list(nearest_pools(so_far.refusals).values())[:_NEEDS]:
        yield cluster, refusal.pool, ""
    for edit in list(so_far.held_edits.values())[:_NEEDS]:
        if isinstance(edit.refusal, NoRoom):
            yield edit.replica.cluster, edit.refusal.pool, edit.replica.name


def _on_pool(given: PassInput, name: str, pool: str, but: str) -> Holders:
    cluster = given.cluster(name)
    if not isinstance(cluster, Cluster):
        return Holders()
    own = given.deployment.namespace
    residents = (each for each in given.ledger.residents(name) if (each.namespace, each.name) != (own, but))
    return holders_of(((each, given.ledger.engines(each)) for each in residents), layout(cluster), pool, own)
