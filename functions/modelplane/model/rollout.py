"""How an edit reaches existing replicas: `spec.rollout` of a ModelDeployment, and the budgets that it sets.

`Rollout.budget` is how many replicas may change at once; `scheduling.steps.rollout` chooses which do.
"""

from dataclasses import dataclass
from typing import Final

#: The version of the code that composes pod templates: raised whenever a template of an engine or an endpoint picker
#: changes for unchanged input.
BUILDER: Final = 6


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of replicas, or with `percent` a percentage of spec.replicas."""

    value: int
    percent: bool = False

    def of(self, replicas: int) -> int:
        """Return the number of replicas; a percentage is rounded up, as Kubernetes does for a surge."""
        return -(-self.value * replicas // 100) if self.percent else self.value


#: The default of both budgets.
QUARTER = Amount(25, percent=True)


@dataclass(frozen=True, slots=True)
class RolloutBudget:
    """The most replicas above spec.replicas, and the most that do not serve, that a rollout may cause."""

    surge: int
    unavailable: int


@dataclass(frozen=True, slots=True)
class Rollout:
    """`spec.rollout` of a ModelDeployment (docs/scheduling.md, "Rollout")."""

    max_surge: Amount = QUARTER
    max_unavailable: Amount = QUARTER
    paused: bool = False
    follow_selectors: bool = False
    follow_upgrades: bool = False

    def budget(self, replicas: int) -> RolloutBudget:
        """Return the budgets for a number of replicas.

        A percentage of maxUnavailable never allows the last replica to be taken, a number may. With two budgets of 0 a
        rollout would never end, so one replica at a time is then changed in place.
        """
        surge, unavailable = self.max_surge.of(replicas), self.max_unavailable.of(replicas)
        if self.max_unavailable.percent:
            unavailable = min(unavailable, max(0, replicas - 1))
        return RolloutBudget(surge, unavailable) if surge or unavailable else RolloutBudget(0, 1)
