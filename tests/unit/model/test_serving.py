"""What can be seen of whether a replica serves."""

from dataclasses import replace

import pytest

from modelplane.model.fleet import Cluster
from modelplane.model.observation import Gap, Malformed
from modelplane.model.replica import Replica
from modelplane.model.serving import Serving, see_serving, stands_in, was_ready
from unit.scheduling.scene import cluster, deployment, pool, replica, stamped

THERE = cluster("a", pool(1))
CUT_OFF = replace(THERE, answers=False)
READY = replica(deployment(), "a/0")
NEW = replica(deployment(), "a/0", serves=False)
CRASHED = replace(READY, ready=False)
CHANGED = replace(READY, engines=(stamped(count=4),))
STALE = replace(READY, stale=True)


@pytest.mark.proves("R10")
@pytest.mark.parametrize(
    ("given", "there", "seen"),
    [
        (READY, THERE, Serving.NOW),
        (replace(READY, served_engines=None), THERE, Serving.NOW),
        (replace(READY, engines=(stamped(copies=2),)), THERE, Serving.NOW),
        (CRASHED, THERE, Serving.NOT),
        (CHANGED, THERE, Serving.PARTLY),
        (replace(READY, content="v2"), THERE, Serving.PARTLY),
        (replace(CHANGED, stale=True), THERE, Serving.PARTLY),
        (replace(CHANGED, ready=False, stale=True), THERE, Serving.NOT),
        (replace(CRASHED, stale=True), THERE, Serving.NOT),
        (STALE, THERE, Serving.UNSEEN),
        (replace(READY, complete=False), THERE, Serving.PARTLY),
        (replace(CHANGED, complete=False), THERE, Serving.PARTLY),
        (replace(CRASHED, complete=False), THERE, Serving.NOT),
        (replace(NEW, ready=True, complete=False), THERE, Serving.NOT),
        (replace(READY, complete=False), CUT_OFF, Serving.UNSEEN),
        (NEW, THERE, Serving.NOT),
        (READY, CUT_OFF, Serving.UNSEEN),
        (CRASHED, CUT_OFF, Serving.NOT),
        (CHANGED, CUT_OFF, Serving.UNSEEN),
        (replace(CHANGED, stale=True), CUT_OFF, Serving.UNSEEN),
        (replace(CHANGED, complete=False), CUT_OFF, Serving.UNSEEN),
        (replace(CHANGED, ready=False), CUT_OFF, Serving.NOT),
        (NEW, CUT_OFF, Serving.NOT),
        (READY, Gap.ABSENT, Serving.UNSEEN),
        (READY, Malformed("InferenceCluster", "a", "status", "is no object"), Serving.UNSEEN),
        (READY, replace(THERE, ready=False, address=None), Serving.NOW),
    ],
)
def test_a_replica_serves_now_if_it_is_ready_with_its_present_pods_on_a_cluster_that_answers(
    given: object, there: Cluster | Gap | Malformed, seen: Serving
) -> None:
    assert see_serving(given, there) is seen  # type: ignore[arg-type]


def test_what_was_ready_for_an_earlier_spec_was_not_ready() -> None:
    assert [was_ready(each) for each in (READY, STALE, CRASHED)] == [True, False, False]


#: A new replica of which one of two copies serves, and has never had both.
HALF = replace(READY, complete=False, served_engines=None, copies=1)


@pytest.mark.parametrize(
    ("given", "copies", "expected"),
    [
        (READY, 2, True),
        (replace(READY, complete=False, copies=1), 2, True),
        (HALF, 2, False),
        (HALF, 1, True),
        (replace(HALF, ready=False), 1, False),
        (replace(READY, content="v2"), 1, False),
    ],
    ids=["complete", "was complete", "too few copies", "as many copies", "none serves", "copies of earlier pods"],
)
def test_a_replica_stands_in_for_another_once_it_was_complete_or_has_as_many_copies(
    given: Replica, copies: int, expected: bool
) -> None:
    assert stands_in(given, copies) is expected
