"""What may end a replica (docs/scheduling.md, "What may end a replica"): nothing else in a pass ends one.

| cause | what lets it | when it ends |
|---|---|---|
| SCALE_DOWN | the owner asks for fewer | now, in the order of `surplus` |
| EVICTED | `must_leave`: an untolerated NoExecute taint | once others serve, or every candidate was asked and is full |
| REPLACED | `must_leave`, or its pools are gone or no longer match | once others serve (`dismiss`) |
| ROLLED_OUT | an edit, and more than are asked for | once the new one serves; now, if it never served |
| YIELDED | it never served and others that came before take its room | now |
| DUPLICATE | an older one has its cluster and index | now |
"""

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster, Effect
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import EndCause
from modelplane.model.serving import Serving
from modelplane.scheduling.matching import repelling
from modelplane.scheduling.room import seniority
from modelplane.scheduling.steps.decisions import Decisions
from modelplane.scheduling.steps.pass_input import PassInput
from modelplane.scheduling.steps.roster import OwnReplica

#: Which of the leaving replicas are needed first until others serve.
_NEEDED = (Serving.NOW, Serving.PARTLY, Serving.UNSEEN, Serving.NOT)
_WAY_OUT = ": scale down to end it before"
_NONE_MATCHES = ", and no cluster matches spec.clusterSelector: correct the selector, or "
_WAYS_OUT = ": scale down, or taint the cluster NoExecute, to end it before"


def end_duplicates(given: PassInput, so_far: Decisions) -> Decisions:
    """End the younger of two replicas with one cluster and index."""
    seen: set[tuple[str, int]] = set()
    for own in given.roster.members:
        place = own.replica.cluster, own.index
        if place in seen:
            own.leave(EndCause.DUPLICATE, f"an older replica has index {own.index} on cluster {own.replica.cluster}")
            own.ending = EndCause.DUPLICATE
        seen.add(place)
    return so_far


def end_all(given: PassInput, so_far: Decisions) -> Decisions:
    """End every replica: the owner asks for none."""
    for own in given.roster.members:
        own.hold("spec.replicas is 0")
        own.ending = own.ending or EndCause.SCALE_DOWN
    return so_far


def must_leave(
    cluster: Cluster | Gap | Malformed | None, name: str, deployment: Deployment
) -> tuple[EndCause, str] | None:
    """Return the cause for which a replica has to leave a cluster, by the cluster alone; None if it may stay."""
    if cluster is Gap.ABSENT:
        return EndCause.REPLACED, f"cluster {name} does not exist"
    if not isinstance(cluster, Cluster):
        return None
    if taint := repelling(deployment, cluster, Effect.NO_EXECUTE) if cluster.taints else None:
        return EndCause.EVICTED, f"cluster {name} is tainted {taint.key} NoExecute"
    return (EndCause.REPLACED, f"cluster {name} is being deleted") if cluster.deleting else None


def give_up(own: OwnReplica) -> None:
    """End a replica that never served and yields its room to older ones."""
    own.ending = EndCause.YIELDED


def scale_down(given: PassInput, so_far: Decisions) -> Decisions:
    """End the replicas above the number asked for; during a rollout the outdated ones go first."""
    replicas = given.deployment.replicas
    never_served, leaving = given.rollout_step.surplus()
    for own in never_served:
        own.ending = EndCause.ROLLED_OUT
    for own in leaving:
        own.leave(EndCause.ROLLED_OUT, "")
    for own in surplus(given.roster.counted, replicas):
        own.ending = EndCause.SCALE_DOWN
    return so_far


def needed_until_others_serve(leaving: Sequence[OwnReplica], needed: int) -> list[OwnReplica]:
    """Return the leaving replicas that do not end yet: `needed` of them, first those that serve, then the oldest.

    One that cannot be seen does not end for others to stay, but others do not end on the strength of it either.
    """
    return sorted(leaving, key=lambda own: (_NEEDED.index(own.serving), seniority(own.replica)))[:needed]


def dismiss(given: PassInput, so_far: Decisions) -> Decisions:
    """End the leaving replicas that are no longer needed; all are needed while a candidate was not asked for room."""
    for own in given.rollout_step.settled_leaving():
        own.ending = EndCause.ROLLED_OUT
    counted, leaving = given.roster.counted, [own for own in given.roster.members if own.moving]
    # A replica that is only listed may be gone, because lists lag: no other replica may end on the strength of it.
    most = max((own.replica.copies for own in leaving), default=0)
    serving = sum(own.serves_as(most) and not own.listed_only for own in counted)
    short = max(0, given.deployment.replicas - serving)
    oldest = needed_until_others_serve([own for own in leaving if own.replica.has_served], short)
    needed, missing = set(oldest), given.missing(so_far.placed)
    if missing and so_far.checked:
        pending = len(counted) - serving + len(so_far.placed)
        needed -= set([own for own in oldest if own.leaving is EndCause.EVICTED][pending:])
    elif missing:
        needed |= {own for own in leaving if not own.replica.has_served}
    for own in leaving:
        if own not in needed:
            own.ending = own.leaving
        elif missing:
            there = isinstance(given.cluster(own.replica.cluster), Cluster)
            way = _WAYS_OUT if there and own.leaving is not EndCause.EVICTED else _WAY_OUT
            own.why += _NONE_MATCHES + way.removeprefix(": ") if given.selects_none else way
    return so_far


def surplus(counted: Sequence[OwnReplica], replicas: int) -> list[OwnReplica]:
    """Return the replicas to end so that `replicas` are left, in the order in which they go.

    Replicas that never served go first, then those that were last seen not to serve, then those that serve, and last
    those that cannot be seen. Among the latter two, those that never served with their present spec go first, then
    those of the last profile in the ClusterModel. Then come those on the cluster with the most of them, then the latest
    cluster name, then the highest index.
    """
    on_cluster = Counter(own.replica.cluster for own in counted)
    alike: dict[tuple[bool, Serving, bool, int], list[OwnReplica]] = {}
    for each in counted:
        worth = (False, 0) if each.serving is Serving.NOT else (each.replica.proven, -each.place)
        alike.setdefault((each.replica.has_served, each.serving, *worth), []).append(each)
    removed: list[OwnReplica] = []
    for key in sorted(alike):
        removals = _removals(alike[key], on_cluster)
        while len(counted) - len(removed) > replicas and (own := next(removals, None)):
            removed.append(own)
    return removed


def _removals(some: Sequence[OwnReplica], on_cluster: Counter[str]) -> Iterator[OwnReplica]:
    """Yield replicas in the order in which they go; `on_cluster` counts all replicas and is updated."""
    by_cluster: dict[str, list[OwnReplica]] = {}
    for own in sorted(some, key=lambda own: own.index):
        by_cluster.setdefault(own.replica.cluster, []).append(own)
    names = sorted(by_cluster, reverse=True)
    ranks = [(-on_cluster[name], place) for place, name in enumerate(names)]
    heapq.heapify(ranks)
    while ranks:
        _, place = ranks[0]
        name = names[place]
        on_cluster[name] -= 1
        own = by_cluster[name].pop()
        if by_cluster[name]:
            heapq.heapreplace(ranks, (-on_cluster[name], place))
        else:
            heapq.heappop(ranks)
        yield own
