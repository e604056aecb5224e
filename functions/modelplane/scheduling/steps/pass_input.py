"""What one scheduling pass decides by: the deployment, the view, and what is derived from both before any step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import BadSelector, CacheState, FleetView, Footprint, Needs, Placement
from modelplane.model.replica import Replica
from modelplane.scheduling.matching import Options, bad_selectors, lacking
from modelplane.scheduling.room import Ledger, holding, identity
from modelplane.scheduling.search_budget import SearchBudget
from modelplane.scheduling.steps.own_pools import OwnPools
from modelplane.scheduling.steps.rollout import RolloutStep
from modelplane.scheduling.steps.roster import OwnReplica, Roster, build_roster


@dataclass(frozen=True, slots=True)
class PassInput:
    """The input of the steps. What they decide they return (`Decisions`), or record of a replica (`OwnReplica`).

    Three parts keep accounts that the steps write to: `roster`, `ledger` and `budget`.
    """

    deployment: Deployment
    view: FleetView
    #: The deployment's own replicas, and the indices that are taken.
    roster: Roster
    bad_selectors: tuple[BadSelector, ...]
    #: The candidates that carry the labels that the deployment and its ClusterModel ask for, by name.
    candidates: Mapping[str, Cluster]
    #: What each cluster is charged with, the replicas included that this pass places.
    ledger: Ledger
    #: The states that searches have left.
    budget: SearchBudget
    #: The options for the engines of each profile, by its name.
    options: Mapping[str, Options]
    own_pools: OwnPools
    #: The budgets of a rollout.
    rollout_step: RolloutStep

    def cluster(self, name: str) -> Cluster | Gap | Malformed | None:
        """Return a cluster that was fetched by name or as a candidate; None when it was not fetched."""
        return _find_cluster(self.view, self.candidates, name)

    def published(self, own: OwnReplica) -> Cluster | None:
        """Return the cluster of a replica, None unless it is known with its pools."""
        cluster = self.cluster(own.replica.cluster)
        return cluster if isinstance(cluster, Cluster) and cluster.pools is not None else None

    def staged_volume(self, cluster: str) -> str:
        """Return the claim on which the deployment's cache is staged on a cluster, "" where none is."""
        return self.footprint.volumes.get(cluster, "") if self.footprint else ""

    def volume_of(self, own: OwnReplica) -> str:
        """Return the claim that a replica should mount: the staged one, else its present one of the same cache."""
        kept = own.replica.volume if own.replica.cache == self.deployment.cache else ""
        return self.staged_volume(own.replica.cluster) or kept

    def missing(self, placed: Sequence[Placement]) -> int:
        """Return how many replicas are still to be placed beside the present ones and those that this pass places."""
        return max(0, self.deployment.replicas - len(self.roster.counted) - len(placed))

    @property
    def reconsiders(self) -> bool:
        """Tell whether to check again which better profiles replicas could run on: the ClusterModel was edited."""
        return self.deployment.resolution.edited and any(own.rank for own in self.roster.counted)

    @property
    def selects_none(self) -> bool:
        """Tell whether no cluster carries the labels of spec.clusterSelector."""
        alone = self.footprint is None or not self.footprint.selector
        looked = not isinstance(self.view.candidates, Gap)
        return bool(self.deployment.cluster_selector) and alone and looked and not self.candidates

    @property
    def invalid(self) -> str:
        """Return why the deployment's spec cannot be applied to any replica, "" when it can."""
        if self.deployment.over_bound:
            return "the spec of the deployment is over a bound: make it smaller, ReplicasScheduled names the field"
        if self.deployment.resolution.problem:
            return self.deployment.resolution.problem
        return (
            "a selector of the deployment does not compile: correct it, ReplicasScheduled says where"
            if self.bad_selectors
            else ""
        )

    @property
    def holds_new(self) -> bool:
        """Tell whether nothing new may be placed, because the spec or the cache is invalid."""
        return bool(self.invalid) or (
            self.deployment.cache is not None
            and not isinstance(self.view.cache, Footprint)
            and self.view.cache not in (Gap.NOT_FETCHED, CacheState.NOT_REQUIRED)
        )

    @property
    def footprint(self) -> Footprint | None:
        """Return the labels that the cache restricts candidates to, None without a cache."""
        cache = self.view.cache
        return cache if self.deployment.cache is not None and isinstance(cache, Footprint) else None

    @property
    def namespace(self) -> Mapping[str, str]:
        """Return the labels of the deployment's namespace, which are fetched where a candidate asks for some."""
        return self.view.namespace if not isinstance(self.view.namespace, Gap) else {}

    @property
    def _asks_for_namespace(self) -> bool:
        asks = any(cluster.allowed is not None for cluster in self.candidates.values())
        return asks and self.view.namespace is Gap.NOT_FETCHED

    def needs_to_place(self, placed: Sequence[Placement] = (), *, surging: bool = False) -> Needs:
        """Return what must be fetched before anything new is placed; empty if all is there, or nothing may be placed.

        `surging`: a rollout may place a replica though none is missing.
        """
        if self.holds_new or not (self.missing(placed) or surging):
            return Needs()
        return Needs(
            candidates=self.view.candidates is Gap.NOT_FETCHED,
            siblings=self.view.siblings is Gap.NOT_FETCHED,
            cache=self.deployment.cache is not None and self.footprint is None,
            namespace=self._asks_for_namespace,
        )

    def knows_residents(self, cluster: str) -> bool:
        """Tell whether every replica of a cluster was fetched."""
        return cluster in self.view.residents


def _find_cluster(view: FleetView, candidates: Mapping[str, Cluster], name: str) -> Cluster | Gap | Malformed | None:
    found = view.clusters.get(name, Gap.NOT_FETCHED)
    return candidates.get(name) if found is Gap.NOT_FETCHED else found


def _replicas(view: FleetView) -> list[Replica]:
    """Return every replica of the view once, the own ones as observed, which is never older than a list.

    A listed replica with the name of an observed one is that one, even if its uid is that of a predecessor.
    """
    lists = [*view.residents.values(), *(() if isinstance(view.siblings, Gap) else (view.siblings,))]
    observed = {(replica.owner, replica.name) for replica in view.own}
    found = {identity(each): each for listed in lists for each in listed if (each.owner, each.name) not in observed}
    found.update((identity(replica), replica) for replica in view.own)
    return list(found.values())


def begin(deployment: Deployment, view: FleetView) -> PassInput:
    """Return the input of a pass over the view."""
    listed = () if isinstance(view.candidates, Gap) else view.candidates
    wanted = {**deployment.resolution.selector, **deployment.cluster_selector}
    roster = build_roster(deployment, view)
    budget = SearchBudget(len(listed) + len(view.clusters))
    options = {profile.name: Options(profile, budget) for profile in deployment.profiles}
    candidates = {c.name: c for c in sorted(listed, key=lambda c: c.name) if not wanted or not lacking(c, wanted)}
    return PassInput(
        deployment=deployment,
        view=view,
        roster=roster,
        bad_selectors=() if deployment.over_bound else bad_selectors(deployment),
        candidates=candidates,
        ledger=Ledger(holding(_replicas(view), partial(_find_cluster, view, candidates)), view.residents),
        budget=budget,
        options=options,
        own_pools=OwnPools(options),
        rollout_step=RolloutStep(roster.members, deployment.rollout, deployment.replicas),
    )
