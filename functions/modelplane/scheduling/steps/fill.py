"""Places new replicas one at a time, each cluster re-ranked as it changes.

The best profile comes first, then what leaves the nodes of gangs whole, then spread, then the least capable devices
that suffice, then balance, then a hash.
"""

import heapq
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, NamedTuple

from modelplane.model.fleet import Cluster
from modelplane.model.names import digest
from modelplane.model.placement import Needs, Placement
from modelplane.model.rank import Choice, Rank
from modelplane.model.refusal import Answer, MetadataDenied, NoCacheStorage, NotChecked, Refusal, SelectorMismatch
from modelplane.scheduling.matching import denied, lacking, refuse, rule_out, stamp
from modelplane.scheduling.pools import Layout, Shape, Sizes, layout
from modelplane.scheduling.room import Assignment, Fits, fits_in_order, with_placed
from modelplane.scheduling.steps.decisions import Decisions, Filled, Refused
from modelplane.scheduling.steps.pass_input import PassInput
from modelplane.scheduling.steps.rank import capability, takes_gang_node
from modelplane.scheduling.steps.shortlist import find_spares, is_confirmed, shortlist, verify

_UNKNOWN: Final = (True, Fraction(0))


class _ClusterFits(NamedTuple):
    """The assignments on which a cluster takes further replicas, of the first profile that it hosts."""

    profile: int
    fits: Fits


class _Taken(NamedTuple):
    """What an assignment takes: whether a part of a gang's node, and how capable devices, None where not known."""

    part: bool
    capability: Fraction | None


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on placements: profiles up to this rank, devices up to this capability; None is no limit."""

    profile: int | None = None
    capability: Fraction | None = None


class Filling:
    """One filling of a pass's missing replicas. `refused`: why a cluster takes no other, None for one that may.

    `of_profiles`: for each profile, why clusters do not host it.
    """

    def __init__(self, given: PassInput, limit: Limit) -> None:
        self.given = given
        self.limit = limit
        self.profiles = given.deployment.profiles[: None if limit.profile is None else limit.profile + 1]
        self.names = tuple(each.name for each in self.profiles)
        self.refused = {
            c.name: refuse(given.deployment, c, given.footprint, given.namespace) for c in given.candidates.values()
        }
        self._refuse_unstaged()
        self.of_profiles: list[dict[str, Refusal]] = [{} for _ in self.profiles]
        #: The fits of each cluster that was ranked; empty where they must be found again.
        self.fits: dict[str, _ClusterFits] = {}
        #: What assignments take, which clusters that are alike share.
        self._taken: dict[tuple[int, int, Shape, Sizes], tuple[Assignment, _Taken]] = {}
        self.present = Counter(own.replica.cluster for own in given.roster.counted)

    def _refuse_unstaged(self) -> None:
        """Refuse the clusters on which the cache can never be staged, as long as there are others."""
        footprint = self.given.footprint
        if footprint is None:
            return
        without = [name for name, refusal in self.refused.items() if refusal is None and not self._may_stage(name)]
        if any(refusal is None and name not in without for name, refusal in self.refused.items()):
            self.refused |= dict.fromkeys(without, NoCacheStorage(footprint.cache))

    def _may_stage(self, name: str) -> bool:
        return self.given.candidates[name].stages_caches or bool(self.given.staged_volume(name))

    def rank(self, cluster: Cluster) -> Rank | None:
        """Return the cluster's rank, None when it has no room or none was found within the budget."""
        found = self.fits.get(cluster.name)
        if found is None or not found.fits:
            found = self._find_fits(cluster)
            if found is None:
                return None
            self.fits[cluster.name] = found
        where, chosen = layout(cluster), found.fits[0][0]
        part, taken = self._find_taken(found.profile, chosen, where)
        capable = _UNKNOWN if taken is None else (False, taken)
        # The room of a cluster whose replicas are neither known nor published is unknown. A cluster that was full when
        # its replicas were last read comes after all others.
        known = self.given.ledger.knows_charges(cluster)
        room = sum([times for _, times in found.fits]) if known else 0
        full = 0 if known else self.given.view.found_full.get(cluster.name, 0)
        tie = digest(self.given.deployment.namespace, self.given.deployment.name, cluster.name)
        return Rank(full, found.profile, part, self.present[cluster.name], capable, -room, tie, cluster.name)

    def _find_fits(self, cluster: Cluster) -> _ClusterFits | None:
        """Return the fits of the first profile that a cluster hosts; note why it does not host the others."""
        where, given = layout(cluster), self.given
        for at, profile in enumerate(self.profiles):
            if label := lacking(cluster, profile.cluster_selector):
                self.of_profiles[at][cluster.name] = SelectorMismatch(*label, profile=profile.name)
                continue
            if key := denied(profile, cluster):
                self.of_profiles[at][cluster.name] = MetadataDenied(key, profile=profile.name)
                continue
            options = given.options[profile.name].on(where.shape)
            found = fits_in_order(options, where, given.ledger.charge(cluster), given.budget)
            if isinstance(found, Refusal):
                self.of_profiles[at][cluster.name] = found
            elif not self._is_too_capable(at, found[0][0], where):
                return _ClusterFits(at, found)
        return None

    def _is_too_capable(self, at: int, chosen: Assignment, where: Layout) -> bool:
        """Tell whether an assignment takes devices that are known to be more capable than what is allowed."""
        if self.limit.capability is None:
            return False
        taken = self._find_taken(at, chosen, where).capability
        return taken is not None and taken > self.limit.capability

    def _find_taken(self, at: int, chosen: Assignment, where: Layout) -> _Taken:
        """Return what an assignment of a profile takes."""
        key = at, id(chosen), where.shape, where.sizes
        known = self._taken.get(key)
        if known is None:
            engines = self.profiles[at].engines
            found = _Taken(takes_gang_node(engines, chosen, where), capability(stamp(engines, chosen, where), where))
            # The assignment is kept with the result, because its identity is the key.
            known = self._taken[key] = chosen, found
        return known[1]

    def place(self, cluster: Cluster, best: Rank, second: Rank | None) -> Placement:
        """Return one more replica on the cluster that ranks best, which the ledger charges from now on."""
        charge = self.given.ledger.charge(cluster)
        at, ((chosen, times), *others) = self.fits[cluster.name]
        self.fits[cluster.name] = _ClusterFits(at, ((chosen, times - 1), *others) if times > 1 else tuple(others))
        for option in chosen:
            charge = with_placed(charge, option)
        self.present[cluster.name] += 1
        index = self.given.roster.reserve(cluster.name)
        profile, volume = self.profiles[at], self.given.staged_volume(cluster.name)
        engines = stamp(profile.engines, chosen, layout(cluster))
        self.given.ledger.put(cluster, engines, charge)
        choice = Choice(best, second, self.names, self.given.view.shortlisted is None)
        return Placement(cluster.name, index, engines, profile=profile.name, volume=volume, choice=choice)

    def ranks(self) -> list[Rank]:
        """Return the ranks of the clusters that may take a replica; in the final call, of exactly known ones only."""
        found = []
        for cluster in self.given.candidates.values():
            rank = self.rank(cluster) if self.refused[cluster.name] is None else None
            if rank and self.given.view.final and not self.given.ledger.is_exact(cluster.name):
                self.refused[cluster.name] = NotChecked()
            elif rank:
                found.append(rank)
        return found

    def refusals(self) -> dict[str, dict[str, Refusal]]:
        """Return for each profile why each cluster cannot take another replica on it, a cluster's own reason first."""
        own = {name: refusal for name, refusal in self.refused.items() if refusal}
        return {
            profile.name: {name: own.get(name) or found[name] for name in self.refused if name in own or name in found}
            for profile, found in zip(self.profiles, self.of_profiles, strict=True)
        }


_ANYTHING: Final = Limit()


def rank_all(given: PassInput, limit: Limit) -> tuple[Filling, list[Rank]]:
    """Return a filling, and the rank of each candidate that can take another replica in it."""
    filling = Filling(given, limit)
    return filling, filling.ranks()


def fill(given: PassInput, missing: int, limit: Limit = _ANYTHING) -> Filled:
    """Place so many replicas, until no candidate can host the next one.

    The best profile that any candidate hosts comes before everything else in the rank. Nothing is placed while a search
    is postponed: its cluster may be the better one.
    """
    filling, ranks = rank_all(given, limit)
    heapq.heapify(ranks)
    placed: list[Placement] = []
    unread: list[str] = []
    for _ in range(missing if ranks and not given.budget.postponed else 0):
        best, second = ranks[0], min(ranks[1:3], default=None)
        cluster = given.candidates[best.cluster]
        if not given.ledger.is_exact(cluster.name):
            unread.append(cluster.name)
        placed.append(filling.place(cluster, best, second))
        rank = filling.rank(cluster)
        if rank:
            heapq.heapreplace(ranks, rank)
        else:
            heapq.heappop(ranks)
        if not ranks or given.budget.postponed:
            break
    if given.budget.postponed:
        return Filled((), filling.refusals())
    spares = find_spares(given, ranks) if unread else ()
    return Filled(tuple(placed), filling.refusals(), tuple(unread), tuple(spares))


def place(given: PassInput, so_far: Decisions) -> Decisions | Needs:
    """Place what is missing on the candidates."""
    needs = given.needs_to_place()
    if needs or not given.missing(()) or given.holds_new:
        return needs or so_far
    filled = fill(given, given.missing(()))
    if filled.unread:
        return shortlist(given, filled)
    guessed, confirmed, missing = given.view.shortlisted, is_confirmed(given, filled), given.missing(filled.placed)
    if guessed is not None and not (given.view.final or given.budget.postponed) and (missing or not confirmed):
        return Needs(candidates=True)
    if not given.budget.postponed and (unclear := verify(given, filled)):
        return unclear
    unasked, checked = _ask(given, filled.refused) if missing else ({}, False)
    return replace(
        so_far,
        placed=filled.placed,
        refusals=next(iter(filled.refused.values()), {}) if missing else {},
        profile_refusals=filled.refused if given.deployment.model else {},
        why=dict(guessed.why) if guessed is not None and confirmed else {},
        unasked=unasked,
        checked=checked,
    )


def _ask(given: PassInput, refused: Refused) -> tuple[dict[str, Refusal], bool]:
    """Return the candidates that could not be asked for room, and whether every one was asked and none has any.

    A cluster that is ruled out whatever its state has not to be asked.
    """
    answers, unasked = set[Answer](), dict[str, Refusal]()
    for name, cluster in given.candidates.items():
        refusals = [of_profile[name] for of_profile in refused.values() if name in of_profile]
        unanswered = next((each for each in refusals if each.answer is Answer.NONE), None)
        ruled_out = rule_out(given.deployment, cluster, given.footprint, given.namespace) if unanswered else None
        if unanswered and not ruled_out:
            unasked[name] = unanswered
        answers |= {each.answer for each in ([ruled_out] if ruled_out else refusals)}
    return unasked, Answer.NO in answers and not unasked and given.view.shortlisted is None
