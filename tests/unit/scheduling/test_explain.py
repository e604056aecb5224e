"""What a deployment says about its schedule, in kube-scheduler's manner."""

from dataclasses import replace

import pytest

from modelplane.model.conditions import MESSAGE_LIMIT
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import BadSelector, CacheState, Footprint, HeldEdit, Placement, Schedule, Stamp
from modelplane.model.refusal import (
    Deleting,
    NoDevice,
    NoGatewayAddress,
    NoPools,
    NoRoom,
    NotClaimable,
    NotReady,
    OutsideCache,
    Refusal,
    SearchBound,
    SelectorError,
    SelectorMismatch,
    Tainted,
    TooFewDevices,
)
from modelplane.scheduling import Counted, explain
from modelplane.scheduling.explain import MOST_REASONS
from modelplane.scheduling.wording import word
from unit.scheduling.scene import deployment, replica

OURS = deployment(replicas=3)


def short(*refusals: tuple[int, Refusal]) -> Schedule:
    """Return a schedule with 2 of 3 unplaced, and so many clusters refused for each reason."""
    each = [refusal for many, refusal in refusals for _ in range(many)]
    named = {f"c{at}": refusal for at, refusal in enumerate(each)}
    return Schedule(3, unplaced=2, refusals=named, candidates=len(each))


def test_reasons_are_aggregated_as_kube_scheduler_does() -> None:
    schedule = short(
        (2, NoRoom("main", 2, 1)),
        (3, NotReady()),
        (3, NoDevice("main", "gpu", 0, "memory 24Gi")),
        (4, Tainted("maintenance", "NoSchedule")),
    )
    assert explain(schedule, OURS).message == (
        "1 of 3 replicas scheduled: 0/12 clusters can take another: 4 tainted (maintenance), 3 not Ready, 5 have no "
        "pool that fits (3 no device for request gpu: memory 24Gi, 2 NoRoom: needs 2 nodes, 1 free)"
    )


def test_reasons_are_counted_for_the_status() -> None:
    report = explain(short((1, NotReady()), (2, Tainted("k", "NoExecute"))), OURS)
    assert report.reasons == (Counted("Tainted", 2, "tainted (k)"), Counted("NotReady", 1, "not Ready"))


def test_clusters_that_lack_room_for_the_same_need_are_one_reason() -> None:
    report = explain(short((2, NoRoom("main", 4, 1)), (1, NoRoom("main", 4, 3)), (1, NoRoom("main", 1, 0))), OURS)
    assert report.reasons == (
        Counted("NoRoom", 3, "NoRoom: needs 4 nodes, at most 3 free"),
        Counted("NoRoom", 1, "NoRoom: needs 1 node, 0 free"),
    )


def test_too_many_kinds_of_reasons_are_one_per_name() -> None:
    many = short(
        *((1, NoDevice("main", "gpu", 0, f"memory {at}Gi")) for at in range(MOST_REASONS + 1)), (2, NotReady())
    )
    assert explain(many, OURS).reasons == (
        Counted("NoDevice", 17, "no device for request gpu: memory 0Gi, and others"),
        Counted("NotReady", 2, "not Ready, and others"),
    )


def test_a_long_message_is_capped_and_counts_what_it_leaves_out() -> None:
    many = short(*((1, NoDevice("main", "gpu", 0, f"productName {at:03} {'x' * 60}")) for at in range(100)))
    message = explain(many, OURS).message
    assert len(message) <= MESSAGE_LIMIT
    assert message.endswith(" more reasons)")
    shown = message.count("no device for request")
    assert f"and {100 - shown} more reasons)" in message


def test_what_is_kept_is_said_also_after_a_long_list_of_reasons() -> None:
    many = short(*((1, NoDevice("main", "gpu", 0, f"productName {at:03} {'x' * 60}")) for at in range(100)))
    gone = [
        Placement("a", at, (), replica(OURS, f"a/{at}"), Stamp.HOLD, leaving=True, why="y" * 200) for at in range(9)
    ]
    edits = tuple(HeldEdit(replica(OURS, f"b/{at}"), NoRoom("z" * 60, 1, 0)) for at in range(9))
    message = explain(replace(many, placements=tuple(gone), held_edits=edits), OURS).message
    assert len(message) <= MESSAGE_LIMIT
    assert "; edit withheld from " in message
    assert message.endswith("; kept until a replacement serves: 9 more reasons")


WORDS: list[tuple[Refusal, str]] = [
    (Deleting(), "being deleted"),
    (NotReady(), "not Ready"),
    (NoGatewayAddress(), "without gateway address"),
    (SelectorMismatch("region", "eu"), "without label region=eu"),
    (OutsideCache("weights"), "outside ModelCache weights"),
    (Tainted("k", "NoSchedule"), "tainted (k)"),
    (NoPools(), "without GPU pools"),
    (NoDevice("main", "gpu", 0), "no device for request gpu"),
    (TooFewDevices("main", "gpu", 4, 8), "too few devices for request gpu: has 4, needs 8"),
    (SelectorError("a\n  b", "gpu", "no such key: x"), "selector error on device gpu: a b: no such key: x"),
    (NotClaimable("main"), "NotClaimable: engine main would claim no real device"),
    (NoRoom("main", 1, 0), "NoRoom: needs 1 node, 0 free"),
    (SearchBound(20_000), "SearchBound: gave up after 20000 ways to arrange the engines"),
]


@pytest.mark.parametrize(("refusal", "words"), WORDS, ids=lambda each: getattr(each, "reason", ""))
def test_every_refusal_has_its_words(refusal: Refusal, words: str) -> None:
    assert word(refusal) == words


def test_a_long_selector_is_quoted_in_part() -> None:
    assert len(word(SelectorError("x" * 10_000, "gpu", "y" * 10_000))) < 300


BAD = BadSelector("main", "gpu", 1, 2, 7, "undeclared reference to 'devise'")


@pytest.mark.parametrize(
    ("schedule", "reason", "message"),
    [
        (Schedule(3), "ReplicasScheduled", "3 of 3 replicas scheduled"),
        (Schedule(0), "ScaledToZero", "spec.replicas is 0"),
        (Schedule(3, unplaced=3, candidates=0), "NoClusters", "0 of 3 replicas scheduled: there is no cluster"),
        (
            replace(short((2, OutsideCache("weights"))), cache=Footprint("weights")),
            "NoClusters",
            "1 of 3 replicas scheduled: there is no cluster within ModelCache weights",
        ),
        (
            Schedule(3, bad_selectors=(BAD,)),
            "InvalidNodeSelector",
            "3 of 3 replicas scheduled: engine main, request gpu, selector 1, line 2, column 7: undeclared reference "
            "to 'devise'",
        ),
        (
            Schedule(3, unplaced=1, cache=Gap.ABSENT),
            "WaitingForCache",
            "2 of 3 replicas scheduled: ModelCache weights does not exist",
        ),
        (
            Schedule(3, unplaced=1, cache=CacheState.UNRESOLVED),
            "WaitingForCache",
            "2 of 3 replicas scheduled: ModelCache weights has not said yet which clusters it matches",
        ),
        (
            Schedule(3, unplaced=1, cache=Malformed("ModelCache", "weights", "spec.source", "is no text")),
            "WaitingForCache",
            "2 of 3 replicas scheduled: ModelCache weights: spec.source: is no text",
        ),
        (Schedule(3, cache=Gap.ABSENT), "ReplicasScheduled", "3 of 3 replicas scheduled"),
    ],
)
def test_the_condition_has_the_reason_and_message_of_its_cause(schedule: Schedule, reason: str, message: str) -> None:
    report = explain(schedule, replace(OURS, cache="weights"))
    assert (report.reason, report.message) == (reason, message)
    assert report.scheduled is (reason in {"ReplicasScheduled", "ScaledToZero"})
