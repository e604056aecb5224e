"""How an edit reaches the replicas that run: `spec.rollout` of a ModelDeployment, and the budgets that it sets."""

from dataclasses import dataclass
from typing import Final

#: The number of the way in which pod templates are composed: raised whenever a template of an engine or an endpoint
#: picker changes for unchanged input.
BUILDER: Final = 5


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of replicas, or with `percent` a percentage of spec.replicas."""

    value: int
    percent: bool = False

    def of(self, replicas: int) -> int:
        """Return the number of replicas; a percentage is rounded up, as Kubernetes does for a surge."""
        return -(-self.value * replicas // 100) if self.percent else self.value


#: What both budgets are when they are not given.
QUARTER = Amount(25, percent=True)


@dataclass(frozen=True, slots=True)
class RolloutBudget:
    """Most replicas that may be above spec.replicas, and that may be not serving, by the rollout's own doing."""

    surge: int
    unavailable: int


@dataclass(frozen=True, slots=True)
class Rollout:
    """`spec.rollout` of a ModelDeployment; its fields' meaning is in docs/scheduling.md, "Rollout"."""

    max_surge: Amount = QUARTER
    max_unavailable: Amount = QUARTER
    paused: bool = False
    follow_selectors: bool = False
    follow_upgrades: bool = False

    def budget(self, replicas: int) -> RolloutBudget:
        """Return the budgets for so many replicas.

        A percentage never lets the rollout take the last replica, a number may. Two budgets of nothing would never
        end: then one replica at a time is changed in place.
        """
        surge, unavailable = self.max_surge.of(replicas), self.max_unavailable.of(replicas)
        if self.max_unavailable.percent:
            unavailable = min(unavailable, max(0, replicas - 1))
        return RolloutBudget(surge, unavailable) if surge or unavailable else RolloutBudget(0, 1)
