"""Places new replicas one at a time: spread first, then balance, then a hash, each cluster re-ranked as it changes."""

import heapq
from collections import Counter

from modelplane.model.fleet import Cluster
from modelplane.model.names import digest
from modelplane.model.placement import Placement
from modelplane.model.refusal import Refusal, SearchBound
from modelplane.scheduling.eligible import refuse
from modelplane.scheduling.hardware import layout
from modelplane.scheduling.plan import Plan, Shape, plan
from modelplane.scheduling.search import Assignment, assign, prospect, settle
from modelplane.scheduling.work import Work

#: (replicas of this deployment, minus the room left, hash, name): the smallest is the cluster to place on.
_Rank = tuple[int, int, str, str]


class _Fill:
    """One filling of a pass's missing replicas."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.plans: dict[Shape, Plan] = {}
        self.refused = {c.name: refuse(work.deployment, c, work.footprint) for c in work.candidates.values()}
        self.first: dict[str, Assignment] = {}
        self.present = Counter(own.replica.cluster for own in work.roster.staying)

    def plan(self, cluster: Cluster) -> Plan:
        """Return the plan of the cluster's pools; clusters of one shape share it."""
        shape = layout(cluster).shape
        found = self.plans.get(shape)
        if found is None:
            found = self.plans[shape] = plan(self.work.deployment.engines, shape)
        return found

    def rank(self, cluster: Cluster) -> _Rank | None:
        """Return the cluster's rank, None when it has no room."""
        found = prospect(self.plan(cluster), layout(cluster), self.work.ledger.stock(cluster))
        if not found:
            return None
        self.first[cluster.name], room = found
        deployment = self.work.deployment
        tie = digest(deployment.namespace, deployment.name, cluster.name)
        return self.present[cluster.name], -room, tie, cluster.name

    def place(self, cluster: Cluster) -> None:
        """Place one replica on a cluster that was ranked."""
        stock = self.work.ledger.stock(cluster)
        ways = self.first[cluster.name]
        for way in ways:
            stock = settle(stock, way)
        self.work.ledger.put(cluster, stock)
        self.present[cluster.name] += 1
        index = self.work.roster.reserve(cluster.name)
        self.work.placed.append(Placement(cluster.name, index, tuple(way.engine for way in ways)))

    def refusal(self, cluster: Cluster) -> Refusal | None:
        """Return why the cluster takes no other replica."""
        known = self.refused[cluster.name]
        if known:
            return known
        found = assign(self.plan(cluster), layout(cluster), self.work.ledger.stock(cluster))
        return found if isinstance(found, Refusal) else None


def fill(work: Work) -> None:
    """Place what is missing; where nobody can host the next one, note every candidate's refusal and stop."""
    filling = _Fill(work)
    eligible = [cluster for cluster in work.candidates.values() if filling.refused[cluster.name] is None]
    ranks = [rank for cluster in eligible if (rank := filling.rank(cluster))]
    heapq.heapify(ranks)
    for _ in range(work.missing if ranks else 0):
        cluster = work.candidates[ranks[0][-1]]
        filling.place(cluster)
        rank = filling.rank(cluster)
        if rank:
            heapq.heapreplace(ranks, rank)
        else:
            heapq.heappop(ranks)
        if not ranks:
            break
    if work.missing:
        refusals = ((cluster.name, filling.refusal(cluster)) for cluster in work.candidates.values())
        work.refusals.update((name, refusal) for name, refusal in refusals if refusal)


def undecided(work: Work) -> bool:
    """Tell whether some candidate was given up rather than checked."""
    return any(isinstance(refusal, SearchBound) for refusal in work.refusals.values())
