"""How an edit reaches the replicas that run (docs/scheduling.md, "Rollout"): what is outdated, and what changes now.

Nothing is stored between passes: a surge is known by the replicas above spec.replicas, a change in place by a replica
that has served, and not with what it carries now.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from modelplane.model.deployment import Deployment
from modelplane.model.placement import EndCause, Stamp
from modelplane.model.replica import StampedEngine, same_pods
from modelplane.model.rollout import Rollout
from modelplane.scheduling.roster import OwnReplica, seniority

Engines = tuple[StampedEngine, ...]
#: Carries out a change of a replica; tells whether it could.
Change = Callable[[OwnReplica], bool]


def is_updated(own: OwnReplica, deployment: Deployment, wanted: Engines) -> bool:
    """Tell whether a replica carries what would be stamped on its own pools now."""
    behind = deployment.rollout.follow_upgrades and own.replica.outdated_builder
    same_content = own.profile is not None and own.replica.content == own.profile.content
    return same_content and same_pods(own.replica.engines, wanted) and not behind and not changes_volume(own)


def changes_volume(own: OwnReplica) -> bool:
    """Tell whether a replica mounts another claim than the one on which its cache is staged now."""
    return bool(own.volume and own.replica.volume) and own.volume != own.replica.volume


def carries(own: OwnReplica, deployment: Deployment) -> bool:
    """Tell whether a replica has all that is asked for in its spec already, before this pass writes anything."""
    if own.kept:
        return True
    if own.stamp is Stamp.HOLD and _is_edited(own, deployment):
        return False
    return own.engines == own.replica.engines and is_updated(own, deployment, own.engines)


def _is_edited(own: OwnReplica, deployment: Deployment) -> bool:
    """Tell whether a replica that is held was given another revision or number of copies than is asked for."""
    replica, profile = own.replica, own.profile
    if profile is None or replica.revision not in ("", deployment.revision_of(profile)):
        return True
    asked = {engine.name: engine.copies for engine in profile.engines}
    return {engine.name: engine.copies for engine in replica.engines} != asked


def _youngest_first(members: Iterable[OwnReplica]) -> list[OwnReplica]:
    return sorted(members, key=lambda own: seniority(own.replica), reverse=True)


def _idle_first(own: OwnReplica) -> tuple[bool, bool]:
    """Return the key that sorts what is seen not to serve before what does, and what cannot be seen last."""
    return not own.reachable, own.serves_now


@dataclass(slots=True)
class RolloutStep:
    """One step of a rollout.

    `no_room`: a surge was tried and found no place. `too_large`: because a response cannot carry another replica.
    """

    members: Sequence[OwnReplica]
    rollout: Rollout
    replicas: int
    no_room: bool = False
    too_large: bool = False

    def surplus(self) -> tuple[list[OwnReplica], list[OwnReplica]]:
        """Return which of those above `replicas` go because they are outdated: at once, and once others serve.

        First those that never served with what they carry, which go at once; then the others: those that do not serve
        now, then the youngest, last those on clusters that do not answer. That is how a surge goes on from pass to
        pass, for whichever of them it was begun.
        """
        counted = [own for own in self.members if own.counted]
        above = max(0, len(counted) - self.replicas)
        outdated = [own for own in _youngest_first(counted) if own.outdated]
        unproven = [own for own in outdated if not own.replica.proven][:above]
        proven = sorted((own for own in outdated if own.replica.proven), key=_idle_first)
        return unproven, proven[: above - len(unproven)]

    @property
    def surges_under_way(self) -> int:
        """Return how many replicas are leaving for a new one, or new ones have not served yet, whichever is more."""
        leaving = sum(own.leaving is EndCause.ROLLED_OUT and own.ending is None for own in self.members)
        return max(leaving, sum(own.counted and not (own.outdated or own.replica.serves) for own in self.members))

    @property
    def waiting(self) -> list[OwnReplica]:
        """Return the outdated replicas that may change, in order: those that do not serve now, then the youngest.

        One on a cluster that does not answer is passed over, and one that returns to its size before a growth.
        """
        if self.rollout.paused:
            return []
        waiting = [own for own in _youngest_first(self.members) if own.counted and own.outdated]
        may = [own for own in waiting if own.reachable and own.stamp is not Stamp.REVERT]
        return sorted(may, key=_idle_first)

    def may_surge(self, own: OwnReplica) -> bool:
        """Tell whether the budget lets a new replica be started beside this one; one that can only surge always may."""
        most = self.rollout.budget(self.replicas).surge
        return self.surges_under_way < max(most, 1 if own.surge_only else 0)

    def may_change(self, own: OwnReplica) -> bool:
        """Tell whether the budget lets a replica change in place: enough others serve now, or it takes nothing down.

        One that does not serve now waits only for those that were changed, or are new, and do not serve yet. Else
        nothing would ever be changed where too few serve to begin with, and an edit could not repair that.
        """
        unavailable = self.rollout.budget(self.replicas).unavailable
        others = sum(each.serves_now for each in self.members if each.ending is None and each is not own)
        return others >= self.replicas - unavailable or (not own.serves_now and self._starting < unavailable)

    @property
    def _starting(self) -> int:
        """Return how many replicas are as asked, or about to be placed so, and do not serve yet."""
        counted = [own for own in self.members if own.counted]
        changed = sum(own.reachable and not (own.outdated or own.serves_now) for own in counted)
        return changed + max(0, self.replicas - len(counted))

    def take(self, surge: Change, change: Change) -> None:
        """Change what the budgets allow: beside the old replica where there is room, else in place."""
        in_place_first = self.rollout.budget(self.replicas).surge == 0
        for own in self.waiting:
            tried = self.may_surge(own)
            if tried and surge(own):
                continue
            self.no_room |= tried
            if not own.surge_only and (tried or in_place_first) and self.may_change(own):
                change(own)

    def settled_leaving(self) -> list[OwnReplica]:
        """Return the replicas leaving for a new one that may go: enough have served with what they carry since.

        One that serves goes only while as many others serve as the budget asks for: a flap or a lost cluster must not
        become an outage by the rollout's own doing.
        """
        counted = [own for own in self.members if own.counted and not own.listed_only]
        needed = max(0, self.replicas - sum(own.replica.proven for own in counted))
        leaving = [own for own in self.members if own.leaving is EndCause.ROLLED_OUT and not own.ending]
        leaving = sorted(_youngest_first(leaving), key=_idle_first)
        going: list[OwnReplica] = []
        for own in leaving[: max(0, len(leaving) - needed)]:
            others = sum(each.serves_now for each in self.members if not each.ending and each not in (own, *going))
            if not own.serves_now or others >= self.replicas - self.rollout.budget(self.replicas).unavailable:
                going.append(own)
        return going
