"""How an edit reaches existing replicas (docs/scheduling.md, "Rollout"): which are outdated, and which change now.

Nothing is stored between passes: a surge shows as replicas above spec.replicas, a change in place as a replica that has
served, but not with its present spec.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from modelplane.model.deployment import Deployment
from modelplane.model.placement import EndCause, Stamp
from modelplane.model.replica import StampedEngine, same_pods
from modelplane.model.rollout import Rollout
from modelplane.model.serving import Serving, is_broken, stands_in
from modelplane.scheduling.room import seniority
from modelplane.scheduling.steps.roster import OwnReplica

Engines = tuple[StampedEngine, ...]
#: Places a replica that replaces this one; returns whether that was possible.
Surge = Callable[[OwnReplica], bool]
#: Changes a replica in place where that is possible.
Change = Callable[[OwnReplica], None]


def is_updated(own: OwnReplica, deployment: Deployment, wanted: Engines) -> bool:
    """Tell whether a replica carries the engines that would be stamped on its own pools now."""
    behind = deployment.rollout.follow_upgrades and own.replica.outdated_builder
    same_content = own.profile is not None and own.replica.content == own.profile.content
    return same_content and same_pods(own.replica.engines, wanted) and not behind and not changes_volume(own)


def changes_volume(own: OwnReplica) -> bool:
    """Tell whether a replica mounts a claim other than the one on which its cache is staged now."""
    return bool(own.volume and own.replica.volume) and own.volume != own.replica.volume


def carries(own: OwnReplica, deployment: Deployment) -> bool:
    """Tell whether a replica's spec was as asked before this pass."""
    if own.kept:
        return True
    if own.stamp is Stamp.HOLD and _is_edited(own, deployment):
        return False
    return own.engines == own.replica.engines and is_updated(own, deployment, own.engines)


def _is_edited(own: OwnReplica, deployment: Deployment) -> bool:
    """Tell whether a held replica has another revision or number of copies than is asked for."""
    replica, profile = own.replica, own.profile
    if profile is None or replica.revision not in ("", deployment.revision_of(profile)):
        return True
    asked = {engine.name: engine.copies for engine in profile.engines}
    return {engine.name: engine.copies for engine in replica.engines} != asked


def _youngest_first(members: Iterable[OwnReplica]) -> list[OwnReplica]:
    return sorted(members, key=lambda own: seniority(own.replica), reverse=True)


def _idle_first(own: OwnReplica) -> Serving:
    """Return the sort key: replicas that are seen not to serve come first, those that cannot be seen last."""
    return own.serving


@dataclass(frozen=True, slots=True)
class RolloutStep:
    """One step of a rollout: which replicas may change within its budgets, and in which order."""

    members: Sequence[OwnReplica]
    rollout: Rollout
    replicas: int

    def surplus(self) -> tuple[list[OwnReplica], list[OwnReplica]]:
        """Return the outdated replicas above `replicas` that go: those that go at once, and those that wait for others.

        Replicas that never served with their present spec, and do not serve with an earlier one, come first and go at
        once. Then come those that do not serve now, then those that serve, the youngest first, and last those that
        cannot be seen. A surge continues in this order from pass to pass, whichever replica it was started for.
        """
        counted = [own for own in self.members if own.counted]
        above = max(0, len(counted) - self.replicas)
        outdated = [own for own in _youngest_first(counted) if own.outdated]
        idle = [own for own in outdated if own.serving is Serving.NOT and not own.replica.proven][:above]
        others = sorted((own for own in outdated if own not in idle), key=_idle_first)
        return idle, others[: above - len(idle)]

    @property
    def surges_under_way(self) -> int:
        """Return the larger of two counts: replicas that leave for a new one, new ones that did not serve yet."""
        leaving = sum(own.leaving is EndCause.ROLLED_OUT and own.ending is None for own in self.members)
        return max(leaving, sum(own.counted and not (own.outdated or own.replica.has_served) for own in self.members))

    @property
    def waiting(self) -> list[OwnReplica]:
        """Return the outdated replicas that may change, in order: those that do not serve now first, then the youngest.

        Left out are replicas on clusters that do not answer, and those that revert a growth.
        """
        if self.rollout.paused:
            return []
        waiting = [own for own in _youngest_first(self.members) if own.counted and own.outdated]
        may = [own for own in waiting if own.reachable and own.stamp is not Stamp.REVERT]
        return sorted(may, key=_idle_first)

    def may_surge(self, own: OwnReplica) -> bool:
        """Tell whether the budget allows a new replica beside this one; always, for one that can only surge."""
        most = self.rollout.budget(self.replicas).surge
        return self.surges_under_way < max(most, 1 if own.surge_only else 0)

    def may_change(self, own: OwnReplica) -> bool:
        """Tell whether the budget allows a change in place: enough others serve, or this one does not serve.

        A replica that does not serve waits only for changed or new ones that do not serve yet. Otherwise a deployment
        of which too few replicas serve could never be repaired by an edit.
        """
        unavailable = self.rollout.budget(self.replicas).unavailable
        others = sum(each.serves_now for each in self.members if each.ending is None and each is not own)
        return others >= self.replicas - unavailable or (own.serving is Serving.NOT and self._starting < unavailable)

    def may_repair(self, own: OwnReplica) -> bool:
        """Tell whether a broken replica may be changed in place, whatever the budget: it has nothing to lose.

        One is repaired after the other, the next when that serves, so that an edit that breaks replicas breaks one.
        Where none of the deployment serves, all may be.
        """
        if not is_broken(own.replica):
            return False
        others = [each for each in self.members if each.ending is None and each is not own]
        idle = [each for each in others if each.serving is Serving.NOT]
        starting = any(
            each.counted and each.reachable and not each.outdated and (each in idle or not each.replica.proven)
            for each in others
        )
        return not starting or len(idle) == len(others)

    def may_change_by_copy(self, own: OwnReplica) -> bool:
        """Tell whether a replica that serves on meanwhile may be changed in place, which takes nothing down.

        Only one is at a time: the next when it has all its copies, so that an edit that breaks copies breaks one.
        """
        return own.by_copy and not self._changed

    @property
    def _starting(self) -> int:
        """Return how many replicas are as asked, or about to be placed, and do not serve yet."""
        return self._changed + max(0, self.replicas - sum(own.counted for own in self.members))

    @property
    def _changed(self) -> int:
        """Return how many replicas are as asked and do not serve with all their copies yet."""
        counted = (own for own in self.members if own.counted)
        return sum(own.reachable and not (own.outdated or own.serves_now) for own in counted)

    def take(self, surge: Surge, change: Change) -> bool:
        """Change as many replicas as the budgets allow: by surge where there is room, else in place.

        Tells whether a surge found no place.
        """
        in_place_first, no_room = self.rollout.budget(self.replicas).surge == 0, False
        for own in self.waiting:
            tried = self.may_surge(own)
            if tried and surge(own):
                continue
            no_room |= tried
            may = (tried or in_place_first) and (self.may_change(own) or self.may_change_by_copy(own))
            may = may or self.may_repair(own)
            if may and not own.surge_only:
                change(own)
        return no_room

    def settled_leaving(self) -> list[OwnReplica]:
        """Return the replicas that leave for a new one and may go, because enough new ones have stood in for them.

        A serving replica goes only while as many others serve as the budget asks for: the rollout must not turn a flap
        or a lost cluster into an outage. An outdated one that stays and serves alike stands in too, or scale-down would
        never end one of two that serve with the pods of an earlier spec.
        """
        counted = [own for own in self.members if own.counted and not own.listed_only]
        leaving = [own for own in self.members if own.leaving is EndCause.ROLLED_OUT and not own.ending]
        leaving = sorted(_youngest_first(leaving), key=_idle_first)
        going: list[OwnReplica] = []
        for at, own in enumerate(leaving):
            copies = own.replica.copies
            alike = [each for each in counted if each.outdated and each.serving is own.serving]
            standing = sum(stands_in(each.replica, copies) or each in alike for each in counted)
            if at >= len(leaving) - max(0, self.replicas - standing):
                continue
            rest = (each for each in self.members if not each.ending and each not in (own, *going))
            others = sum(each.serves_as(copies) or each in alike for each in rest)
            if own.serving is Serving.NOT or others >= self.replicas - self.rollout.budget(self.replicas).unavailable:
                going.append(own)
        return going
