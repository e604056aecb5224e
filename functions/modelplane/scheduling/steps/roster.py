"""The deployment's own replicas, each with its (cluster, index)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain

from modelplane.model.deployment import Deployment, Profile
from modelplane.model.names import place_of_resource
from modelplane.model.observation import Gap
from modelplane.model.placement import EndCause, FleetView, Stamp
from modelplane.model.replica import Replica, StampedEngine
from modelplane.model.serving import Serving, stands_in
from modelplane.scheduling.room import identity, seniority


@dataclass(slots=True, eq=False)
class OwnReplica:
    """A replica of the deployment: what is seen of it, and what the pass has decided about it so far."""

    replica: Replica
    index: int
    #: It is in a list and not among the observed resources, so it must be composed before it can end.
    listed_only: bool = False
    #: What the pass does with its spec, the engines that it then has, and why they are not those asked for.
    stamp: Stamp = Stamp.APPLY
    engines: tuple[StampedEngine, ...] = ()
    why: str = ""
    #: The cause for which it goes once others serve, and the one for which it goes now.
    leaving: EndCause | None = None
    ending: EndCause | None = None
    #: What can be seen of whether it serves, and whether its cluster answers.
    serving: Serving = Serving.NOT
    reachable: bool = True
    #: It has served with a spec that is no longer what the deployment asks for.
    outdated: bool = False
    #: Only a new replica can take its place.
    surge_only: bool = False
    #: It goes on to serve while it is changed in place, one copy after the other.
    by_copy: bool = False
    #: It keeps the engines that it was placed with: it is pinned, or its ClusterModel cannot be used.
    kept: bool = False
    #: The claim of the cache that it should mount.
    volume: str = ""
    #: The profile that it runs on, None where the deployment no longer has it; its position in the order of preference,
    #: and among all profiles of the ClusterModel, including those that cannot be used.
    profile: Profile | None = None
    rank: int = 0
    place: int = 0

    @property
    def counted(self) -> bool:
        """Tell whether it counts towards spec.replicas."""
        return self.leaving is None and self.ending is None

    @property
    def serves_now(self) -> bool:
        """Tell whether it is seen to serve with its present spec and all its copies."""
        return self.serving is Serving.NOW

    def serves_as(self, copies: int) -> bool:
        """Tell whether it serves with all its copies, or with as many as another one, which may end for it."""
        return self.serves_now or (self.serving is Serving.PARTLY and stands_in(self.replica, copies))

    @property
    def moving(self) -> bool:
        """Return whether it has to go once others serve, other than for a rollout, which has a budget of its own."""
        return self.leaving not in (None, EndCause.ROLLED_OUT) and self.ending is None

    def run_on(self, profile: Profile | None, deployment: Deployment) -> None:
        """Record the profile that it runs on; a profile that cannot be used keeps its place."""
        self.profile, self.rank = profile, deployment.rank_of(profile)
        self.place = deployment.place_of(profile.name if profile else self.replica.profile)

    def hold(self, why: str) -> None:
        """Leave its spec unchanged."""
        self.stamp, self.engines, self.why = Stamp.HOLD, self.replica.engines, why

    def leave(self, cause: EndCause, why: str) -> None:
        """Keep it unchanged until others serve."""
        self.hold(why)
        self.leaving = cause


@dataclass(slots=True)
class Roster:
    """The deployment's replicas, oldest first, and every (cluster, index) that a new one must not take."""

    members: list[OwnReplica] = field(default_factory=list)
    taken: dict[str, set[int]] = field(default_factory=dict)

    @property
    def counted(self) -> list[OwnReplica]:
        """Return those that count towards spec.replicas."""
        return [own for own in self.members if own.counted]

    def reserve(self, cluster: str) -> int:
        """Return the lowest free index of a cluster, and take it."""
        used = self.taken.setdefault(cluster, set())
        index = next(index for index in range(len(used) + 1) if index not in used)
        used.add(index)
        return index


def _known_index(replica: Replica) -> int | None:
    """Return the index: from the resource name, which is Crossplane's key, else from the label, which can be edited."""
    cluster, index = place_of_resource(replica.resource) or ("", None)
    return index if cluster == replica.cluster else replica.index


def _ours(deployment: Deployment, view: FleetView) -> Iterable[tuple[Replica, bool]]:
    """Yield the deployment's replicas, each with whether it is only in a list of replicas."""
    observed = {identity(replica) for replica in view.own}
    resources = {replica.resource for replica in view.own if replica.resource}
    yield from ((replica, False) for replica in view.own)
    if isinstance(view.siblings, Gap) or not deployment.uid:
        return
    listed = {identity(replica): replica for replica in chain(view.siblings, *view.residents.values())}
    for replica in listed.values():
        mine = replica.owner == deployment.uid and replica.namespace == deployment.namespace
        if mine and identity(replica) not in observed and (replica.deleting or replica.resource not in resources):
            yield replica, True


def _let_go(replica: Replica, view: FleetView) -> bool:
    """Tell whether a replica that is only in a list was ended by an earlier pass.

    Lists come from a cache that lags and show a replica for a while after it is gone; composing it again would revive
    it pass after pass. The deployment's own status is current: a replica that it does not list was ended. A replica
    that serves is adopted in any case: it may have been restored from a backup, and what serves is never lost.
    """
    return not (replica.has_served or view.listed is None or replica.name in view.listed)


def find_profile(deployment: Deployment, replica: Replica) -> Profile | None:
    """Return the profile of its deployment that a replica runs on, None where it no longer exists.

    It is found by the name stamped on the replica, else (a replica that is older than the ClusterModel) by the content
    of its pods.
    """
    named = deployment.find_profile(replica.profile)
    return named or next((each for each in deployment.profiles if each.content == replica.content), None)


def build_roster(deployment: Deployment, view: FleetView) -> Roster:
    """Return the roster; a replica without an index gets a free one."""
    roster = Roster()
    unnumbered: list[tuple[Replica, bool]] = []
    for replica, listed_only in sorted(_ours(deployment, view), key=lambda each: seniority(each[0])):
        index = _known_index(replica)
        used = roster.taken.setdefault(replica.cluster, set())
        if replica.deleting or replica.ending or (listed_only and _let_go(replica, view)):
            used.update(() if index is None else (index,))
        elif index is None:
            unnumbered.append((replica, listed_only))
        else:
            roster.members.append(OwnReplica(replica, index, listed_only))
    for own in roster.members:
        roster.taken[own.replica.cluster].add(own.index)
    roster.members.extend(
        OwnReplica(replica, roster.reserve(replica.cluster), listed_only) for replica, listed_only in unnumbered
    )
    for own in roster.members:
        own.run_on(find_profile(deployment, own.replica), deployment)
    return roster
