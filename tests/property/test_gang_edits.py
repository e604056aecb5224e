"""Edits take down one gang of a replica at most, whatever order the parties act in, and a good one reaches all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from property.played_gangs import PlayedGangs
from property.strategies import examples

pytestmark = pytest.mark.proves("P127")

_SINGLE = ("edit", "edit_badly", "reconcile", "provide", "control_gangs", "control_leaders")
_STEPS = (*_SINGLE, *3 * ("deploy", "control", "control", "load", "observe", "observe"))


@pytest.mark.proves("R54")
@given(st.integers(2, 4), st.lists(st.sampled_from(_STEPS), min_size=20, max_size=40))
@examples(20)
def test_good_and_bad_edits_take_down_one_gang_at_most_and_a_good_one_reaches_all(
    copies: int, steps: list[str]
) -> None:
    world = PlayedGangs(copies)
    for step in steps:
        getattr(world, step)()
    world.edit()
    world.settle()
    assert world.done
    assert world.least >= copies - 1


@pytest.mark.proves("P30")
def test_a_bad_edit_breaks_one_gang_and_the_next_one_repairs_it_while_the_others_serve() -> None:
    world = PlayedGangs(3)
    world.edit_badly()
    world.settle()
    assert [gang is not None and gang.ready for gang in world.gangs] == [True, True, False]
    world.edit()
    world.settle()
    assert world.done
    assert world.least == 2


def test_an_edit_takes_down_no_gang_of_which_it_is_not_seen_yet_that_it_serves() -> None:
    world = PlayedGangs(2)
    begun, come_up = ("edit", "deploy", "control", "control", "observe"), ("load", "control")
    for step in (*begun, *come_up, "edit", "deploy", "control", "control"):
        getattr(world, step)()
    assert world.least == 1
