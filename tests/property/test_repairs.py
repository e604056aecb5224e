"""What has crashed is repaired by its fix, whatever the budgets and the room: a correct spec serves in the end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from property.repairs import RepairHistory
from property.strategies import examples


@pytest.mark.proves("R48")
@given(st.data())
@examples(60)
def test_an_edit_that_fixes_what_crashes_makes_every_replica_serve_in_the_end(data: st.DataObject) -> None:
    history = RepairHistory(data.draw)
    for _ in range(data.draw(st.integers(1, 5))):
        history.happen(history.crash, history.crash, history.observe_all, history.flap, history.reconcile)
    history.observe_all()
    history.fix()
    for _ in range(3 * history.deployment.replicas + 4):
        history.rounds(1)
    assert {replica.uid for replica in history.own()} <= history.serving.keys()


@pytest.mark.proves("R48")
@given(st.data())
@examples(40)
def test_while_replicas_that_crashed_are_repaired_those_that_serve_go_on_within_the_budget(data: st.DataObject) -> None:
    history = RepairHistory(data.draw)
    history.crash()
    history.observe_all()
    least = min(history.deployment.replicas - history.budget.unavailable, history.count())
    history.fix()
    for _ in range(10):
        history.happen(history.reconcile, history.reconcile, history.pass_some, history.load_some, history.observe_all)
        assert history.count() >= least
