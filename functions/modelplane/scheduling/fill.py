"""Places new replicas one at a time, each cluster re-ranked as it changes.

Spread comes first, then the least capable devices that suffice, then balance, then a hash.
"""

import heapq
from collections import Counter
from fractions import Fraction
from typing import Final

from modelplane.model.fleet import Cluster
from modelplane.model.names import digest
from modelplane.model.placement import Needs, Placement
from modelplane.model.refusal import NoCacheStorage, OutsideCache, Refusal, SearchBound
from modelplane.scheduling.capability import capability
from modelplane.scheduling.eligible import refuse
from modelplane.scheduling.hardware import Layout, Shape, layout
from modelplane.scheduling.hosting import with_placed
from modelplane.scheduling.options import stamp
from modelplane.scheduling.search import Assignment, Fits, fits_in_order
from modelplane.scheduling.work import Work

#: (replicas of this deployment, how capable the devices are, minus the room left, hash, name): the smallest is the
#: cluster to place on. What is not known of devices sorts after all that is.
_Rank = tuple[int, tuple[bool, Fraction], int, str, str]
_UNKNOWN: Final = (True, Fraction(0))


class _Fill:
    """One filling of a pass's missing replicas. `refused`: why a cluster takes no other, None for one that may."""

    def __init__(self, work: Work, most: Fraction | None) -> None:
        self.work = work
        self.most = most
        self.refused = {c.name: refuse(work.deployment, c, work.footprint) for c in work.candidates.values()}
        self._refuse_unstaged()
        #: On which assignments each cluster that was ranked takes further replicas; () where it is asked again.
        self.fits: dict[str, Fits] = {}
        #: How capable the devices of assignments are, which clusters share that are alike.
        self._capabilities: dict[tuple[int, Shape], tuple[Assignment, Fraction | None]] = {}
        self.present = Counter(own.replica.cluster for own in work.roster.counted)

    def _refuse_unstaged(self) -> None:
        """Refuse the clusters on which the cache can never be staged, as long as there are others."""
        footprint = self.work.footprint
        if footprint is None:
            return
        without = [name for name, refusal in self.refused.items() if refusal is None and not self._may_stage(name)]
        if any(refusal is None and name not in without for name, refusal in self.refused.items()):
            self.refused |= dict.fromkeys(without, NoCacheStorage(footprint.cache))

    def _may_stage(self, name: str) -> bool:
        return self.work.candidates[name].stages_caches or bool(self.work.staged_volume(name))

    def rank(self, cluster: Cluster) -> _Rank | None:
        """Return the cluster's rank, None when it has no room, or none was found within the budget."""
        where, work = layout(cluster), self.work
        fits = self.fits.get(cluster.name)
        if not fits:
            options = work.options[work.profile.name].on(where.shape)
            found = fits_in_order(options, where, work.ledger.stock(cluster), work.budget)
            if isinstance(found, Refusal):
                self.refused[cluster.name] = found
                return None
            fits = self.fits[cluster.name] = found
        taken = self._capability(fits[0][0], where)
        if self.most is not None and taken is not None and taken > self.most:
            return None
        capable = _UNKNOWN if taken is None else (False, taken)
        room = sum([times for _, times in fits])
        tie = digest(work.deployment.namespace, work.deployment.name, cluster.name)
        return self.present[cluster.name], capable, -room, tie, cluster.name

    def _capability(self, chosen: Assignment, where: Layout) -> Fraction | None:
        """Return how capable the devices are that an assignment takes, None where it is not known."""
        key = id(chosen), where.shape
        known = self._capabilities.get(key)
        if known is None:
            found = capability(stamp(self.work.profile.engines, chosen, where), where)
            # What is found is kept with the assignment, whose identity is the key.
            known = self._capabilities[key] = chosen, found
        return known[1]

    def place(self, cluster: Cluster) -> None:
        """Place one replica on a cluster that was ranked."""
        stock = self.work.ledger.stock(cluster)
        (chosen, times), *others = self.fits[cluster.name]
        self.fits[cluster.name] = ((chosen, times - 1), *others) if times > 1 else tuple(others)
        for option in chosen:
            stock = with_placed(stock, option)
        self.present[cluster.name] += 1
        index = self.work.roster.reserve(cluster.name)
        profile, volume = self.work.profile, self.work.staged_volume(cluster.name)
        engines = stamp(profile.engines, chosen, layout(cluster))
        self.work.ledger.put(cluster, engines, stock)
        self.work.placed.append(Placement(cluster.name, index, engines, profile=profile.name, volume=volume))


def fill(work: Work, refused: dict[str, Refusal], most: Fraction | None = None) -> None:
    """Place what is missing, until no candidate can host the next one; then note in `refused` why each cannot.

    `most` is the `capability` of the devices that a replica may take, None for any.
    """
    filling = _Fill(work, most)
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
        refused.update((name, refusal) for name, refusal in filling.refused.items() if refusal)


def place(work: Work) -> Needs | None:
    """Place what is missing on the candidates."""
    needs = work.needs_to_place()
    if needs or not work.missing or work.holds_new:
        return needs
    fill(work, work.refusals)
    refusals = [work.refusals.get(name) for name in work.candidates]
    undecided = any(isinstance(refusal, SearchBound) for refusal in refusals)
    work.checked = any(not isinstance(refusal, OutsideCache) for refusal in refusals) and not undecided
    return None
