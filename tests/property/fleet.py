"""A fleet that is played: it answers what a pass needs, carries out what the pass decided, and lets replicas serve."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.names import replica_name, replica_resource
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import CacheState, FleetView, Footprint, Guess, Needs, Placement, Schedule, Stamp
from modelplane.model.replica import Replica
from modelplane.schedule.rounds import CALLS, Rounds
from modelplane.scheduling import schedule
from property.oracles.taints import carries
from publishing import published

#: Puts a fetched list into some order.
Order = Callable[[Iterable[Any]], list[Any]]


@dataclass(frozen=True)
class Snapshot:
    """The fleet at one moment; `listed`: the replicas in each deployment's status, by the deployment's uid."""

    clusters: Mapping[str, Cluster] = field(default_factory=dict)
    replicas: tuple[Replica, ...] = ()
    cache: Footprint | CacheState | Gap | Malformed = CacheState.NOT_REQUIRED
    listed: Mapping[str, frozenset[str]] = field(default_factory=dict)


def merge(one: Needs, two: Needs) -> Needs:
    """Return everything that either asks for."""
    return Needs(
        one.clusters | two.clusters,
        one.residents | two.residents,
        one.candidates or two.candidates,
        one.siblings or two.siblings,
        one.cache or two.cache,
    )


def answer(
    deployment: Deployment,
    needs: Needs,
    own: tuple[Replica, ...],
    seen: Snapshot,
    order: Order = list,
    *,
    charged: Iterable[Replica] | None = None,
) -> FleetView:
    """Return the view that fetching `needs` from `seen` gives; `order` is the order of lists.

    `charged` are the replicas as they stood when the clusters published what they take, those of `seen` if not given.
    """
    ledgers = tuple(seen.replicas if charged is None else charged)
    cache = seen.cache if deployment.cache is None or needs.cache else Gap.NOT_FETCHED
    candidates: tuple[Cluster, ...] | Gap = Gap.NOT_FETCHED
    if needs.candidates:
        footprint = seen.cache.selector if isinstance(seen.cache, Footprint) else {}
        carrying = [
            published(cluster, ledgers)
            for cluster in seen.clusters.values()
            if carries(cluster, deployment.cluster_selector) and carries(cluster, footprint)
        ]
        candidates = tuple(order(carrying))
    return FleetView(
        own=tuple(order(own)),
        clusters={name: seen.clusters.get(name, Gap.ABSENT) for name in order(needs.clusters)},
        candidates=candidates,
        residents={
            name: tuple(order(r for r in seen.replicas if r.cluster == name)) for name in order(needs.residents)
        },
        siblings=tuple(order(r for r in seen.replicas if r.owner == deployment.uid))
        if needs.siblings
        else Gap.NOT_FETCHED,
        cache=cache,
        listed=seen.listed.get(deployment.uid),
    )


@dataclass
class Decided:
    """What a pass decided, and what it asked for on the way."""

    schedule: Schedule
    needs: Needs
    rounds: int


def observed(deployment: Deployment, replicas: Iterable[Replica]) -> tuple[Replica, ...]:
    """Return the deployment's composed replicas: one that is being deleted is no longer among them."""
    return tuple(r for r in replicas if r.owner == deployment.uid and not r.deleting)


def decide(
    deployment: Deployment,
    now: Snapshot,
    *,
    others_as_of: Snapshot | None = None,
    lists_as_of: Snapshot | None = None,
    charged_as_of: Snapshot | None = None,
    order: Order = list,
) -> Decided:
    """Run one pass, answering what it needs until it decides.

    Others' objects, every replica that is fetched, or what clusters publish may be as they were earlier; what is
    observed is of now.
    """
    own = observed(deployment, now.replicas)
    seen = now
    if others_as_of is not None:
        mine = [r for r in now.replicas if r.owner == deployment.uid]
        seen = replace(now, replicas=(*mine, *(r for r in others_as_of.replicas if r.owner != deployment.uid)))
    if lists_as_of is not None:
        seen = replace(now, replicas=lists_as_of.replicas)
    charged = None if charged_as_of is None else charged_as_of.replicas
    needs, shortlist, guess = Needs(), frozenset[str](), Guess()
    for rounds in map(Rounds, range(CALLS)):
        view = answer(deployment, needs, own, seen, order, charged=charged)
        view = replace(_narrowed(view, shortlist, guess), final=rounds.final)
        outcome = schedule(deployment, view)
        if isinstance(outcome, Schedule):
            return Decided(outcome, needs, rounds.calls + 1)
        asked = merge(needs, outcome)
        assert asked != needs or view.shortlisted is not None, f"asks again for what it has: {outcome}"
        narrow = outcome.shortlist if rounds.may_narrow else None
        shortlist, guess = (frozenset(), Guess()) if narrow is None else (asked.residents, narrow)
        needs = asked
    raise AssertionError(f"no decision within {CALLS} calls: {needs}")


def _narrowed(view: FleetView, shortlist: frozenset[str], guess: Guess) -> FleetView:
    """Return the view with no more candidates than those of a shortlist, all if there is none."""
    if not shortlist or isinstance(view.candidates, Gap):
        return view
    return replace(view, candidates=tuple(c for c in view.candidates if c.name in shortlist), shortlisted=guess)


def _name(deployment: Deployment, placement: Placement) -> str:
    return replica_name(deployment.namespace, deployment.name, placement.cluster, placement.index)


def _by_word_of(replica: Replica, deployment: Deployment, placement: Placement) -> Replica:
    """Return a replica with the fields that say by whose word its pods are made."""
    profile = deployment.find_profile(placement.profile)
    model = deployment.model.name if deployment.model else ""
    given = replace(replica, model=model, digest=profile.digest if profile else "", choice=deployment.choice)
    reverts = placement.stamp is Stamp.REVERT
    found = replica.served_interface if reverts else profile.interface if profile else replica.interface
    return replace(given, interface=found)


class Fleet:
    """A fleet in motion. Its clock ticks a second per write, and every new replica gets a uid of its own."""

    def __init__(self, clusters: Mapping[str, Cluster], replicas: Iterable[Replica] = ()) -> None:
        self.clusters = dict(clusters)
        self.replicas = {replica.uid: replica for replica in replicas}
        self.cache: Footprint | CacheState | Gap | Malformed = CacheState.NOT_REQUIRED
        self._listed: dict[str, frozenset[str]] = {}
        self._clock = 3600 if self.replicas else 0
        self._born = len(self.replicas)

    def snapshot(self) -> Snapshot:
        """Return the fleet as it is now."""
        return Snapshot(dict(self.clusters), tuple(self.replicas.values()), self.cache, dict(self._listed))

    def own(self, deployment: Deployment) -> tuple[Replica, ...]:
        """Return the deployment's replicas that are not being deleted."""
        return observed(deployment, self.replicas.values())

    def tick(self) -> None:
        """Let a second pass."""
        self._clock += 1

    def carry_out(
        self, deployment: Deployment, decided: Schedule, *, linger: bool = False, drain: bool = False
    ) -> None:
        """Compose what was decided; what ended goes, or stays with a deletion timestamp if it may `linger`.

        With `drain`, what has served stays as one that ends, until `finish`.
        """
        for end in decided.ending:
            gone = self.replicas.pop(end.replica.uid, None)
            if linger and gone is not None:
                self.replicas[gone.uid] = replace(gone, deleting=True)
            elif drain and gone is not None and gone.has_served:
                self.replicas[gone.uid] = replace(gone, ending=True)
        for placement in decided.placements:
            if placement.replica is None or placement.replica.uid not in self.replicas:
                self._compose(deployment, placement)
            elif placement.stamp is not Stamp.HOLD:
                now = self.replicas[placement.replica.uid]
                edited = replace(
                    now,
                    engines=placement.engines,
                    content=self._content(deployment, placement),
                    profile=placement.profile,
                )
                self.replicas[now.uid] = self._stamped(edited, deployment, placement)
        self._listed[deployment.uid] = frozenset(
            p.replica.name if p.replica else _name(deployment, p) for p in decided.placements
        )

    @staticmethod
    def _content(deployment: Deployment, placement: Placement) -> str:
        """Return what the pods of a replica are made of from now on."""
        if placement.stamp is Stamp.REVERT and placement.replica is not None:
            return placement.replica.served_content
        profile = deployment.find_profile(placement.profile)
        assert profile is not None, placement
        return profile.content

    @staticmethod
    def _stamped(replica: Replica, deployment: Deployment, placement: Placement) -> Replica:
        """Return a replica with the volume and the builder that it was given: it has not served with others."""
        if placement.stamp is not Stamp.APPLY:
            return replica
        moves = replica.volume not in ("", placement.volume)
        rebuilt = replica.outdated_builder and deployment.rollout.follow_upgrades
        given = replace(replica, volume=placement.volume, cache=deployment.cache or "")
        given = _by_word_of(given, deployment, placement)
        given = replace(given, outdated_builder=replica.outdated_builder and not rebuilt)
        return replace(given, served_content="") if moves or rebuilt else given

    def _compose(self, deployment: Deployment, placement: Placement) -> None:
        self._born += 1
        uid = f"uid-{self._born * 7919 % 997:03}-{self._clock}-{self._born}"
        born = Replica(
            deployment.namespace,
            _name(deployment, placement),
            uid,
            placement.cluster,
            placement.engines,
            owner=deployment.uid,
            resource=replica_resource(placement.cluster, placement.index),
            index=placement.index,
            content=self._content(deployment, placement),
            profile=placement.profile,
            volume=placement.volume,
            cache=deployment.cache or "",
            created=f"2024-06-01T{self._clock // 3600:02}:{self._clock // 60 % 60:02}:{self._clock % 60:02}Z",
        )
        self.replicas[uid] = _by_word_of(born, deployment, placement)

    def serve(self, uids: Iterable[str] | None = None) -> None:
        """Let replicas (all, or these) become Ready with the engines they have."""
        for uid in list(self.replicas) if uids is None else uids:
            replica = self.replicas[uid]
            if not replica.deleting:
                now = replace(replica, ready=True, has_served=True)
                now = replace(now, served_engines=now.engines, served_content=now.content)
                self.replicas[uid] = replace(now, served_interface=now.interface)

    def finish(self) -> None:
        """Let the last pod of every replica that ends be gone."""
        self.replicas = {uid: replica for uid, replica in self.replicas.items() if not replica.ending}

    def bury(self) -> None:
        """Let every replica that is being deleted be gone."""
        self.replicas = {uid: replica for uid, replica in self.replicas.items() if not replica.deleting}
