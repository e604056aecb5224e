"""Which gangs an edit may replace at a time, by what is observed of them.

A StatefulSet of Kubernetes 1.35 updates no pod below its partition, and none while maxUnavailable are not available.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from unit.compose_replica import replicas as given
from unit.compose_replica.test_gang import stateful_set

pytestmark = pytest.mark.proves("P127")

COPIES = 3
ONE_BY_ONE = {"maxSurge": 0, "maxUnavailable": 1}
TEMPLATE = "modelplane.ai/template"
RESOURCE = "leaderworkerset-main"
Observed = dict[str, dict[str, Any]]
Change = Callable[[Observed], None]
#: Of a gang: made of the last edit's templates or of those before, and whether its pods are ready.
UP, OLD, STARTING, BROKEN = ("new", True), ("old", True), ("new", False), ("old", False)


def _body(nodes: int, **fields: Any) -> dict[str, Any]:
    return given.replica(given.gang(copies=COPIES, nodes=nodes), **fields)


BODY = _body(2)
SETTLED = given.serving(BODY)


def _there(found: Observed, resource: str) -> dict[str, Any]:
    manifest: dict[str, Any] = found[resource]["status"]["atProvider"]["manifest"]
    return manifest


def _seen(*gangs: tuple[str, bool]) -> Observed:
    """Return what is observed once the StatefulSet of the leaders has acted on the edit; `gangs` by index."""
    found = copy.deepcopy(SETTLED)
    gang = _there(found, RESOURCE)
    new = gang["spec"]["leaderWorkerTemplate"]["leaderTemplate"]["metadata"]["annotations"][TEMPLATE]
    ready = sum(serves for _, serves in gangs)
    updated = sum(made == "new" for made, _ in gangs)
    gang["status"] = {"replicas": COPIES, "readyReplicas": ready, "updatedReplicas": updated}
    found["leaders-main"]["status"]["atProvider"] = {"manifest": stateful_set(COPIES, ready, new)}
    for index, (made, serves) in enumerate(gangs):
        workers = stateful_set(2, 2 if serves else 0, {"new": new, "old": "00000000"}[made])
        found[f"workers-{index}-main"]["status"]["atProvider"] = {"manifest": workers}
    return found


def _composed(observed: Observed, body: dict[str, Any] = BODY) -> dict[str, Any]:
    """Return the rolling update that a pass composes."""
    gang = given.manifest_of(given.run(body, observed), RESOURCE)
    found: dict[str, Any] = gang["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]
    return found


def _only_from(partition: int) -> dict[str, Any]:
    return {"maxSurge": 0, "maxUnavailable": COPIES + 1, "partition": partition}


GANGS: dict[str, tuple[tuple[tuple[str, bool], ...], int]] = {
    "the highest gang is broken": ((OLD, OLD, BROKEN), 2),
    "the two highest are broken": ((OLD, BROKEN, BROKEN), 1),
    "one is replaced and starts, the next is broken": ((OLD, BROKEN, STARTING), 1),
    "one is replaced and serves, the next is broken": ((OLD, BROKEN, UP), 1),
    "all that were broken are replaced": ((OLD, STARTING, STARTING), 0),
    "an ordinary edit": ((OLD, OLD, STARTING), 0),
    "all serve": ((OLD, OLD, OLD), 0),
    "a broken gang is below one that serves": ((OLD, BROKEN, OLD), 0),
    "the first and the last are broken": ((BROKEN, OLD, BROKEN), 2),
    "all look broken, and so may the view of them be": ((BROKEN, BROKEN, BROKEN), 1),
}


@pytest.mark.parametrize(("gangs", "partition"), GANGS.values(), ids=GANGS)
def test_the_highest_gangs_are_replaced_at_once_while_they_are_broken_and_an_edit_has_not_reached_them(
    gangs: tuple[tuple[str, bool], ...], partition: int
) -> None:
    assert _composed(_seen(*gangs)) == (_only_from(partition) if partition else ONE_BY_ONE)


def _without(resource: str) -> Change:
    def change(found: Observed) -> None:
        found[resource]["status"] = {"conditions": [given.synced("False", "external resource does not exist")]}

    return change


def _unsynced(resource: str) -> Change:
    return lambda found: found[resource]["status"].update(conditions=[given.synced("False", "no route to host")])


def _unapplied(found: Observed) -> None:
    found[RESOURCE]["status"]["conditions"] = []


def _set(resource: str, part: str, **fields: Any) -> Change:
    return lambda found: _there(found, resource)[part].update(fields)


UNKNOWN: dict[str, Change] = {
    "its workers were never seen": _without("workers-2-main"),
    "the cluster does not answer for its workers": _unsynced("workers-2-main"),
    "its workers' StatefulSet has not seen its spec": _set("workers-2-main", "status", observedGeneration=0),
    "the StatefulSet of the leaders was never seen": _without("leaders-main"),
    "the cluster does not answer for the leaders": _unsynced("leaders-main"),
    "the StatefulSet of the leaders has not acted on the edit": _set("leaders-main", "status", observedGeneration=0),
    "the StatefulSet of the leaders has earlier templates": _set("leaders-main", "spec", template={}),
    "the number of copies is being changed": _set("leaders-main", "spec", replicas=2),
    "the leader of the gang is ready": _set("leaders-main", "status", readyReplicas=3),
    "the edit is not applied yet": _unapplied,
    "the cluster does not answer": _unsynced(RESOURCE),
}


@pytest.mark.parametrize("change", UNKNOWN.values(), ids=UNKNOWN)
def test_nothing_is_replaced_at_once_of_which_it_is_not_known_that_it_is_broken(change: Change) -> None:
    observed = _seen(OLD, OLD, BROKEN)
    change(observed)
    assert _composed(observed) == ONE_BY_ONE


def _raised(observed: Observed) -> Observed:
    strategy = observed[RESOURCE]["spec"]["forProvider"]["manifest"]["spec"]["rolloutStrategy"]
    strategy["rollingUpdateConfiguration"] = _only_from(2)
    return observed


def test_it_stays_so_while_that_is_being_applied() -> None:
    observed = _raised(_seen(OLD, OLD, BROKEN))
    _unapplied(observed)
    assert _composed(observed) == _only_from(2)


def test_the_next_edit_ends_it_in_the_same_change() -> None:
    served = given.run(BODY, SETTLED).status
    edited = _body(3, status=served)
    observed = _raised(_seen(OLD, OLD, BROKEN))
    changed = given.manifest_of(given.run(edited, observed), RESOURCE)
    assert changed["spec"]["leaderWorkerTemplate"]["size"] == 4
    assert _composed(observed, edited) == ONE_BY_ONE


def test_gangs_that_are_lost_meanwhile_are_not_replaced_with_those() -> None:
    assert _composed(_raised(_seen(BROKEN, BROKEN, BROKEN))) == _only_from(1)


def test_gangs_whose_workers_are_not_observed_are_replaced_one_after_the_other() -> None:
    body = given.replica(given.gang(copies=34))
    observed = given.serving(body)
    _there(observed, RESOURCE)["status"].update(readyReplicas=33, updatedReplicas=0)
    assert _composed(observed, body) == ONE_BY_ONE
