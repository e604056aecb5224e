"""Which clusters may take a new replica, devices and room aside."""

from dataclasses import replace

import pytest

from modelplane.model.deployment import Toleration
from modelplane.model.fleet import Cluster, Effect, Taint
from modelplane.model.placement import Footprint
from modelplane.model.refusal import (
    Deleting,
    MetadataDenied,
    NoGatewayAddress,
    NoPools,
    NotAllowed,
    NotReady,
    OutsideCache,
    Refusal,
    SelectorMismatch,
    Tainted,
)
from modelplane.scheduling.matching.eligible import refuse, tolerates
from unit.scheduling.scene import Scene, cluster, deployment, places, pool, replica

HEALTHY = cluster("a", pool(1), region="eu")
WRONG_EVERYWHERE = Cluster("a", deleting=True, taints=(Taint("k", Effect.NO_SCHEDULE),))

#: Each line mends what the line before complains about.
PRECEDENCE: list[tuple[Cluster, Refusal | None]] = [
    (WRONG_EVERYWHERE, Deleting()),
    (replace(WRONG_EVERYWHERE, deleting=False), NotReady()),
    (replace(WRONG_EVERYWHERE, deleting=False, ready=True), NoGatewayAddress()),
    (replace(HEALTHY, labels={}, taints=WRONG_EVERYWHERE.taints, pools=None), SelectorMismatch("region", "eu")),
    (replace(HEALTHY, taints=WRONG_EVERYWHERE.taints, pools=None), OutsideCache("weights")),
    (
        replace(
            HEALTHY, labels={"region": "eu", "cache": "yes"}, taints=WRONG_EVERYWHERE.taints, allowed={"team": "ml"}
        ),
        NotAllowed("team", "team", "ml"),
    ),
    (
        replace(HEALTHY, labels={"region": "eu", "cache": "yes"}, taints=WRONG_EVERYWHERE.taints),
        Tainted("k", "NoSchedule"),
    ),
    (replace(HEALTHY, labels={"region": "eu", "cache": "yes"}, pools=None), NoPools()),
    (replace(HEALTHY, labels={"region": "eu", "cache": "yes"}, pools=()), NoPools()),
    (replace(HEALTHY, labels={"region": "eu", "cache": "yes"}), None),
]


@pytest.mark.parametrize(("there", "refusal"), PRECEDENCE, ids=lambda case: str(getattr(case, "reason", "")))
def test_the_first_reason_in_the_order_of_precedence_holds(there: Cluster, refusal: Refusal | None) -> None:
    ours = replace(deployment(), cluster_selector={"region": "eu"}, cache="weights")
    assert refuse(ours, there, Footprint("weights", {"cache": "yes"}), {}) == refusal


EVERYTHING, DEDICATED = Toleration(exists=True), Toleration("dedicated", value="ml")


@pytest.mark.proves("R74")
@pytest.mark.parametrize(
    ("toleration", "taint", "accepted"),
    [
        (EVERYTHING, Taint("any", Effect.NO_EXECUTE, "v"), "yes"),
        (Toleration("k", exists=True), Taint("k", Effect.NO_SCHEDULE, "v"), "yes"),
        (Toleration("k", exists=True), Taint("other", Effect.NO_SCHEDULE), "no"),
        (DEDICATED, Taint("dedicated", Effect.NO_SCHEDULE, "ml"), "yes"),
        (DEDICATED, Taint("dedicated", Effect.NO_SCHEDULE, "web"), "no"),
        (DEDICATED, Taint("dedicated", Effect.NO_SCHEDULE), "no"),
        (Toleration("k"), Taint("k", Effect.NO_SCHEDULE), "yes"),
        (replace(EVERYTHING, effect=Effect.NO_SCHEDULE), Taint("k", Effect.NO_SCHEDULE), "yes"),
        (replace(EVERYTHING, effect=Effect.NO_SCHEDULE), Taint("k", Effect.NO_EXECUTE), "no"),
    ],
)
def test_a_toleration_accepts_a_taint_as_kubernetes_has_it(toleration: Toleration, taint: Taint, accepted: str) -> None:
    assert tolerates(toleration, taint) is (accepted == "yes")


def test_every_taint_must_be_tolerated() -> None:
    there = replace(HEALTHY, taints=(Taint("k", Effect.NO_SCHEDULE), Taint("l", Effect.NO_EXECUTE)))
    one = replace(deployment(), tolerations=(Toleration("k", exists=True),))
    assert refuse(one, there, None, {}) == Tainted("l", "NoExecute")
    both = replace(one, tolerations=(*one.tolerations, Toleration("l", exists=True)))
    assert refuse(both, there, None, {}) is None


def test_pods_with_metadata_that_a_cluster_does_not_open_go_elsewhere_and_those_that_run_there_stay() -> None:
    profile = replace(deployment().profiles[0], acting=frozenset({"k8s.v1.cni.cncf.io/networks"}))
    one = replace(deployment(), profiles=(profile,))
    scene = Scene([cluster("a", pool(1)), replace(cluster("b", pool(1)), pod_metadata=("k8s.v1.cni.cncf.io",))])
    decided = scene.decide(replace(one, replicas=2))
    assert places(decided) == ["b/0"]
    assert decided.refusals["a"] == MetadataDenied("k8s.v1.cni.cncf.io/networks")
    ran = Scene([cluster("a", pool(1))], [replica(one, "a/0")])
    assert places(ran.decide(one)) == ["a/0"]
