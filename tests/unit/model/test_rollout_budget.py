"""What `spec.rollout` comes to for a number of replicas."""

import pytest

from modelplane.model.rollout import QUARTER, Amount, Rollout, RolloutBudget


@pytest.mark.proves("R43", "P76")
@pytest.mark.parametrize(
    ("replicas", "budget"),
    [
        (1, RolloutBudget(surge=1, unavailable=0)),
        (2, RolloutBudget(surge=1, unavailable=1)),
        (4, RolloutBudget(surge=1, unavailable=1)),
        (5, RolloutBudget(surge=2, unavailable=2)),
        (500, RolloutBudget(surge=125, unavailable=125)),
    ],
)
def test_a_quarter_is_rounded_up_and_never_takes_the_last_replica(replicas: int, budget: RolloutBudget) -> None:
    assert Rollout().budget(replicas) == budget


@pytest.mark.parametrize(
    ("surge", "unavailable", "replicas", "budget"),
    [
        (Amount(3), Amount(0), 2, RolloutBudget(3, 0)),
        (Amount(0), Amount(2), 2, RolloutBudget(0, 2)),
        (Amount(0), Amount(100, percent=True), 3, RolloutBudget(0, 2)),
        (QUARTER, Amount(1), 1, RolloutBudget(1, 1)),
    ],
)
def test_a_number_counts_as_it_is_also_where_it_takes_the_last_replica(
    surge: Amount, unavailable: Amount, replicas: int, budget: RolloutBudget
) -> None:
    assert Rollout(max_surge=surge, max_unavailable=unavailable).budget(replicas) == budget


@pytest.mark.parametrize("nothing", [Amount(0), Amount(0, percent=True)])
@pytest.mark.parametrize("unavailable", [Amount(0), Amount(0, percent=True), QUARTER])
def test_two_budgets_of_nothing_change_one_replica_in_place(nothing: Amount, unavailable: Amount) -> None:
    assert Rollout(max_surge=nothing, max_unavailable=unavailable).budget(1) == RolloutBudget(surge=0, unavailable=1)
