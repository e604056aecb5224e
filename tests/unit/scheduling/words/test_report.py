"""What a deployment says about its schedule, in kube-scheduler's manner."""

import re
from dataclasses import replace

import pytest

from modelplane.model.conditions import MESSAGE_LIMIT
from modelplane.model.observation import Gap, Malformed
from modelplane.model.placement import BadSelector, CacheState, Footprint, HeldEdit, Placement, Schedule, Stamp
from modelplane.model.refusal import (
    Closest,
    Deleting,
    MetadataDenied,
    NoCacheStorage,
    NodeTooSmall,
    NodeUndeclared,
    NoDevice,
    NoGatewayAddress,
    NoPools,
    NoRoom,
    NotAllowed,
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
from modelplane.scheduling.words.report import MOST_REASONS
from modelplane.scheduling.words.wording import word
from unit.scheduling.scene import Scene, at_once, deployment, nodes, replica, request, stamped, standalone

OURS = deployment(replicas=3)
SMALL = Closest("memory >= 140Gi", "gpu.nvidia.com, NVIDIA L4", "23034Mi")


def short(*refusals: tuple[int, Refusal]) -> Schedule:
    """Return a schedule with 2 of 3 unplaced, and so many clusters refused for each reason."""
    each = [refusal for many, refusal in refusals for _ in range(many)]
    named = {f"c{at}": refusal for at, refusal in enumerate(each)}
    return Schedule(3, unplaced=2, refusals=named, candidates=len(each))


@pytest.mark.proves("R89")
def test_reasons_are_aggregated_as_kube_scheduler_does() -> None:
    schedule = short(
        (2, NoRoom("main", 2, 1, pool="h100")),
        (3, NotReady()),
        (3, NoDevice("main", "gpu", 0, SMALL, pool="l4")),
        (4, Tainted("maintenance", "NoSchedule")),
    )
    assert explain(schedule, OURS).message == (
        "1 of 3 replicas scheduled: 0/12 clusters can take another: 4 tainted (maintenance), 3 not Ready, 5"
        " have no pool that fits (3 with pool l4: request gpu needs memory >= 140Gi, the closest device "
        "(gpu.nvidia.com, NVIDIA L4) has 23034Mi; 2 with pool h100: no room for engine main: needs 2 nodes, 1 free). "
        "Free nodes by scaling something down, or add nodes. Request devices that the fleet has, or add a pool of an "
        "InferenceClass that has such devices. Tolerate the taint in spec.tolerations, or remove it from the "
        "InferenceCluster. See the conditions of the InferenceClusters that are not Ready."
    )


def test_the_only_reason_of_pools_is_not_counted_twice() -> None:
    assert explain(short((1, NotReady()), (2, NoDevice("main", "gpu", 0, SMALL, pool="l4"))), OURS).message == (
        "1 of 3 replicas scheduled: 0/3 clusters can take another: 1 not Ready, 2 have no pool that fits "
        "(pool l4: request gpu needs memory >= 140Gi, the closest device (gpu.nvidia.com, NVIDIA L4) has 23034Mi). "
        "Request devices that the fleet has, or add a pool of an InferenceClass that has such devices. See the "
        "conditions of the InferenceClusters that are not Ready."
    )


def test_pools_of_other_names_that_refuse_alike_are_one_reason() -> None:
    few = [(1, NoRoom("main", 2, 1, pool=name)) for name in ("b", "a")]
    assert [entry.message for entry in explain(short(*few), OURS).reasons] == [
        "pools a, b: no room for engine main: needs 2 nodes, 1 free"
    ]
    many = [(1, NoRoom("main", 2, 1, pool=name)) for name in "fedcba"]
    assert [entry.message for entry in explain(short(*many), OURS).reasons] == [
        "pools a, b, c and 3 more: no room for engine main: needs 2 nodes, 1 free"
    ]


@pytest.mark.proves("P69")
def test_of_several_engines_a_request_is_named_with_its_own() -> None:
    pair = deployment(standalone(name="prefill"), standalone(name="decode"), replicas=3)
    (entry,) = explain(short((1, TooFewDevices("decode", "gpu", 4, 8, pool="l4"))), pair).reasons
    assert entry.message == "pool l4: request gpu of engine decode needs 8 devices of a node, which has 4 for it"


def test_reasons_are_counted_for_the_status() -> None:
    report = explain(short((1, NotReady()), (2, Tainted("k", "NoExecute"))), OURS)
    assert report.reasons == (Counted("Tainted", 2, "tainted (k)"), Counted("NotReady", 1, "not Ready"))


def test_clusters_that_lack_room_for_the_same_need_are_one_reason() -> None:
    report = explain(short((2, NoRoom("main", 4, 1)), (1, NoRoom("main", 4, 3)), (1, NoRoom("main", 1, 0))), OURS)
    assert report.reasons == (
        Counted("NoRoom", 3, "no room for engine main: needs 4 nodes, at most 3 free"),
        Counted("NoRoom", 1, "no room for engine main: needs 1 node, 0 free"),
    )


def test_too_many_kinds_of_reasons_are_one_per_name() -> None:
    many = short(
        *((1, NoDevice("main", "gpu", 0, Closest("memory >= 80Gi", "g", f"{at}Gi"))) for at in range(MOST_REASONS + 1)),
        (2, NotReady()),
    )
    assert explain(many, OURS).reasons == (
        Counted("NoDevice", 17, "request gpu needs memory >= 80Gi, the closest device (g) has 0Gi, and others"),
        Counted("NotReady", 2, "not Ready, and others"),
    )


def test_a_long_message_is_capped_and_counts_what_it_leaves_out() -> None:
    many = short(
        *((1, NoDevice("main", "gpu", 0, Closest("productName", "g", f"{at:03} {'x' * 60}"))) for at in range(100))
    )
    message = explain(many, OURS).message
    assert len(message) <= MESSAGE_LIMIT
    shown = message.count("request gpu needs")
    assert f"and {100 - shown} more reasons). Request devices that the fleet has" in message


def test_what_is_held_and_leaving_is_said_also_after_a_long_list_of_reasons() -> None:
    many = short(
        *((1, NoDevice("main", "gpu", 0, Closest("productName", "g", f"{at:03} {'x' * 60}"))) for at in range(100))
    )
    gone = [
        Placement("a", at, (), replica(OURS, f"a/{at}"), Stamp.HOLD, leaving=True, why="y" * 200) for at in range(9)
    ]
    edits = tuple(HeldEdit(replica(OURS, f"b/{at}"), NoRoom("z" * 60, 1, 0)) for at in range(9))
    message = explain(replace(many, placements=tuple(gone), held_edits=edits), OURS).message
    assert len(message) <= MESSAGE_LIMIT
    assert "; held, because the edit does not fit: " in message
    assert "; leaving once a replacement serves: 9 more reasons. Request devices" in message


WORDS: list[tuple[Refusal, str]] = [
    (Deleting(), "being deleted"),
    (NotReady(), "not Ready"),
    (NoGatewayAddress(), "without gateway address"),
    (SelectorMismatch("region", "eu"), "without label region=eu"),
    (OutsideCache("weights"), "outside ModelCache weights"),
    (MetadataDenied("a.k8s.io/b"), "not open to pods with a.k8s.io/b"),
    (
        NodeUndeclared("main", "cpu", 500),
        "engine main needs 500m cpu on a node, and nodePools[].node.cpu of the "
        "InferenceCluster does not say what a node has",
    ),
    (NodeTooSmall("main", "memory", 2**31, 3 * 2**29), "engine main needs 2Gi memory on a node, which has 1536Mi"),
    (NotAllowed("ml", "tier", "gold"), "closed to namespace ml, which lacks label tier=gold"),
    (NoCacheStorage("weights"), "without storage class for ModelCache weights"),
    (Tainted("k", "NoSchedule"), "tainted (k)"),
    (NoPools(), "without GPU pools"),
    (NoDevice("main", "gpu", 0), "request gpu finds no device on its nodes"),
    (
        NoDevice("main", "gpu", 0, SMALL, pool="l4"),
        "pool l4: request gpu needs memory >= 140Gi, the closest device (gpu.nvidia.com, NVIDIA L4) has 23034Mi",
    ),
    (
        NoDevice("main", "gpu", 0, Closest("a in b", "d, e")),
        "request gpu needs a in b, which the closest device (d, e) does not satisfy",
    ),
    (
        NoDevice("main", "gpu", 0, Closest("a", "d, e", error="x")),
        "request gpu needs a, which fails on the closest device (d, e): x; correct the selector",
    ),
    (TooFewDevices("main", "gpu", 4, 8), "request gpu needs 8 devices of a node, which has 4 for it"),
    (
        SelectorError("a\n  b", "gpu", "no such key: x"),
        "selector `a b` fails on device gpu: no such key: x (correct it for every device of the class)",
    ),
    (NotClaimable("main"), "engine main would claim no device (request one that a DRA driver publishes)"),
    (NoRoom("main", 1, 0), "no room for engine main: needs 1 node, 0 free"),
    (
        SearchBound(20_000),
        "not decided within 20000 states of the search (narrow spec.clusterSelector or the device selectors, or "
        "request fewer devices)",
    ),
]


@pytest.mark.proves("P71")
@pytest.mark.parametrize("refusal", [each for each, _ in WORDS if each != Deleting()], ids=lambda each: each.reason)
def test_every_refusal_ends_the_message_with_what_to_do(refusal: Refusal) -> None:
    message = explain(short((2, refusal), (1, Deleting())), OURS).message
    told = re.split(r"\. |\(|; ", message)[-1]
    assert told.split()[0].lower() in VERBS, message


def test_no_other_device_is_asked_for_where_a_selector_fails_on_the_closest() -> None:
    fails = NoDevice("main", "gpu", 0, Closest("a", "d", error="x"))
    lacks = NoDevice("main", "gpu", 0, Closest("a", "d", "y"))
    asks = "Request devices"
    assert asks not in explain(short((2, fails)), OURS).message
    assert asks in explain(short((1, fails), (1, lacks)), OURS).message


@pytest.mark.parametrize(("refusal", "words"), WORDS, ids=lambda each: getattr(each, "reason", ""))
def test_every_refusal_has_its_words(refusal: Refusal, words: str) -> None:
    assert word(refusal) == words


def test_a_long_selector_is_quoted_in_part() -> None:
    assert len(word(SelectorError("x" * 10_000, "gpu", "y" * 10_000))) < 600


#: What a remedy begins with: it is an instruction.
VERBS = {"declare", "remove", "ask", "correct", "free", "narrow", "request", "see", "set", "tolerate", "widen"}
BAD = BadSelector("main", "gpu", 'devise.driver\n == "a"', 2, 7, "undeclared reference to 'devise'")


@pytest.mark.proves("R90")
@pytest.mark.parametrize(
    ("schedule", "reason", "message"),
    [
        (Schedule(3), "ReplicasScheduled", "3 of 3 replicas scheduled"),
        (Schedule(0), "ScaledToZero", "spec.replicas is 0"),
        (
            Schedule(3, unplaced=3, candidates=0),
            "NoClusters",
            "0 of 3 replicas scheduled: no InferenceCluster exists: create one",
        ),
        (
            replace(short((2, OutsideCache("weights"))), cache=Footprint("weights")),
            "NoClusters",
            "1 of 3 replicas scheduled: no InferenceCluster is selected by ModelCache team/weights: widen its "
            "spec.clusterSelector, or label a cluster for it",
        ),
        (
            Schedule(3, bad_selectors=(BAD,)),
            "InvalidNodeSelector",
            '3 of 3 replicas scheduled: engine main, request gpu, selector `devise.driver == "a"`, line 2, column 7: '
            "undeclared reference to 'devise'; correct the selector",
        ),
        (
            Schedule(3, unplaced=1, cache=Gap.ABSENT),
            "WaitingForCache",
            "2 of 3 replicas scheduled: ModelCache team/weights does not exist: create it",
        ),
        (
            Schedule(3, unplaced=1, cache=CacheState.UNRESOLVED),
            "WaitingForCache",
            "2 of 3 replicas scheduled: ModelCache team/weights has not published its clusters yet: see its conditions",
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


@pytest.mark.proves("P70")
def test_a_lack_of_room_names_the_nearest_cluster_and_pool_and_what_holds_it_others_as_a_count() -> None:
    ours, theirs = deployment(name="ours"), deployment(name="theirs", namespace="elsewhere")
    there = [replica(ours, "a/0", stamped(count=1)), replica(theirs, "a/1", stamped(count=1)), replica(theirs, "b/0")]
    scene = Scene(nodes(a=1, b=1, c=0), there)
    wanted = deployment(standalone(copies=2), name="wanted")
    (entry,) = explain(scene.decide(wanted), wanted).reasons
    assert entry == Counted(
        "NoRoom",
        3,
        "pool x: no room for engine main: needs 2 nodes, 0 free (pool x of a is held by uid-team-ours-a-0 and 1 "
        "replica of other namespaces)",
    )


@pytest.mark.parametrize("has", [0, 1])
def test_a_pool_without_room_that_nothing_holds_is_said_to_need_more_nodes(has: int) -> None:
    wanted = deployment(standalone(copies=2))
    (entry,) = explain(Scene(nodes(a=has)).decide(wanted), wanted).reasons
    remedy = "nothing holds pool x of a: raise its nodeCount or maxNodeCount"
    assert entry.message == f"pool x: no room for engine main: needs 2 nodes, {has} free ({remedy})"


def test_no_more_than_three_replicas_that_hold_a_pool_are_named() -> None:
    each = [deployment(name=f"d{at}") for at in range(5)]
    scene = Scene(nodes(a=1), [replica(one, f"a/{at}", stamped(count=1)) for at, one in enumerate(each)])
    (entry,) = explain(scene.decide(OURS), OURS).reasons
    assert entry.message.endswith("held by uid-team-d0-a-0, uid-team-d1-a-1, uid-team-d2-a-2 and 2 replicas more)")


def test_an_edit_that_does_not_fit_names_the_pool_and_what_holds_it_beside_the_replica() -> None:
    other = deployment(name="other", namespace="elsewhere")
    ours = at_once(deployment(standalone(request(4))))
    there = [replica(ours, "a/0", stamped(count=4)), replica(other, "a/1", stamped(count=4))]
    wanted = at_once(deployment())
    message = explain(Scene(nodes(a=1), there).decide(wanted), wanted).message
    assert "pool x: no room for engine main: needs 1 node, 0 free (pool x of a is held by 1 replica of other" in message
