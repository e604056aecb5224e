"""What each edit of a serving deployment takes down, in which order, and that no node is ever needed twice."""

from typing import Any

import pytest

from given.manifests import Manifest, cache, cluster, gang, hardware, in_place, member, prefill_decode
from modelplane.preview import ControlPlane
from unit.compose_replica.journal import journal

TAINT: dict[str, Any] = {"taints": [{"key": "k", "effect": "NoExecute"}]}
TOLERATION: dict[str, Any] = {"tolerations": [{"key": "k", "operator": "Exists"}]}
CLOSED: dict[str, Any] = {"taints": [{"key": "closed", "effect": "NoSchedule"}]}

#: The nodes of the cluster, the deployment as it serves, the edits, and what each pass that changes something does:
#: `-` goes, `~` is changed in place, `+` comes. Within a pass what goes goes first.
ON_ONE_CLUSTER: dict[str, tuple[int, Manifest, list[Manifest], list[list[str]]]] = {
    "one pod becomes a gang": (
        2,
        in_place(),
        [in_place(*gang())],
        [["- deployment-main on eu", "+ leaderworkerset-main on eu"]],
    ),
    "a gang becomes one pod": (
        2,
        in_place(*gang()),
        [in_place()],
        [["- leaderworkerset-main on eu", "+ deployment-main on eu"]],
    ),
    "one pod becomes a gang that does not fit": (1, in_place(), [in_place(*gang())], []),
    "an engine is renamed on a full pool": (
        1,
        in_place(),
        [in_place(engine="other")],
        [["- deployment-main on eu", "+ claims on eu", "+ deployment-other on eu"], ["- claims on eu"]],
    ),
    "a pod takes more devices of its node": (
        1,
        in_place(member(gpus=4)),
        [in_place(member(gpus=8))],
        [["~ deployment-main on eu", "+ claims on eu"], ["- claims on eu"]],
    ),
    "a selector is edited and still matches": (
        1,
        in_place(),
        [in_place(member(memory="20Gi"))],
        [["~ deployment-main on eu", "+ claims on eu"], ["- claims on eu"]],
    ),
    "a selector is edited and matches nothing": (1, in_place(), [in_place(member(memory="200Gi"))], []),
    "a selector is edited and does not compile": (
        1,
        in_place(),
        [in_place(member(nodeSelector={"devices": [{"name": "gpu", "selectors": [{"cel": "device.("}]}]}))],
        [],
    ),
    "copies that fit": (2, in_place(), [in_place(copies=2)], [["~ deployment-main on eu"]]),
    "copies that do not fit": (2, in_place(copies=2), [in_place(copies=3)], []),
    "fewer copies": (2, in_place(copies=2), [in_place(copies=1)], [["~ deployment-main on eu"]]),
    "workers that fit": (
        3,
        in_place(*gang(1)),
        [in_place(*gang(2))],
        [["~ leaderworkerset-main on eu"]],
    ),
    "workers that do not fit": (2, in_place(*gang(1)), [in_place(*gang(2))], []),
    "one engine becomes a prefill and a decode engine": (
        2,
        in_place(),
        [prefill_decode()],
        [
            [
                "- deployment-main on eu",
                "+ claims on eu",
                "+ claims on eu",
                "+ deployment-decode on eu",
                "+ deployment-prefill on eu",
            ],
            ["- claims on eu"],
        ],
    ),
    "a prefill and a decode engine become one": (
        2,
        prefill_decode(),
        [in_place()],
        [
            ["- deployment-decode on eu", "- deployment-prefill on eu", "+ claims on eu", "+ deployment-main on eu"],
            ["- claims on eu", "- claims on eu"],
        ],
    ),
    "a cache that does not exist": (1, in_place(), [in_place(modelCacheRef={"name": "nothing"})], []),
    "a parked deployment": (
        1,
        in_place(),
        [in_place(replicas=0)],
        [["- deployment-main on eu"], ["- claims on eu"]],
    ),
}


@pytest.mark.parametrize(("nodes", "serving", "edits", "expected"), ON_ONE_CLUSTER.values(), ids=ON_ONE_CLUSTER)
def test_an_edit_takes_down_what_it_asks_for_and_nothing_else(
    nodes: int, serving: Manifest, edits: list[Manifest], expected: list[list[str]]
) -> None:
    control = ControlPlane([hardware(), cluster("eu", nodes), serving])
    assert control.settle()
    assert [replica["status"]["served"] for replica in control.list("ModelReplica")] == [True]
    assert journal(control, edits, {"eu": nodes}) == expected


STORAGE = {"source": "Existing", "existing": {"secretRef": {"name": "eu"}, "cache": {"storageClassName": "rwx"}}}
CACHED: dict[str, Any] = {"modelCacheRef": {"name": "weights"}}


def _mounts(control: ControlPlane) -> list[bool]:
    """Return of each Deployment whether its pods mount a volume claim."""
    manifests = [obj["spec"]["forProvider"]["manifest"] for obj in control.list("Object")]
    pods = [each["spec"]["template"]["spec"] for each in manifests if each["kind"] == "Deployment"]
    return [any("persistentVolumeClaim" in volume for volume in pod["volumes"]) for pod in pods]


@pytest.mark.parametrize("staged", [True, False])
def test_a_cache_that_is_added_changes_the_workload_in_place_once_it_is_staged(staged: bool) -> None:
    control = ControlPlane([hardware(), cluster("eu", 1, cluster=STORAGE), in_place(), *([cache()] if staged else [])])
    assert control.settle()
    assert journal(control, [in_place(**CACHED)], {"eu": 1}) == ([["~ deployment-main on eu"]] if staged else [])
    assert _mounts(control) == [staged]
    assert journal(control, [cache()], {"eu": 1}) == ([] if staged else [["~ deployment-main on eu"]])
    assert _mounts(control) == [True]
    assert journal(control, [in_place()], {"eu": 1}) == [["~ deployment-main on eu"]]
    assert _mounts(control) == [False]


def _tolerated(*more: Any) -> ControlPlane:
    """Return a control plane where a deployment serves on `eu`, which is tainted, because it tolerates that."""
    control = ControlPlane([hardware(), cluster("eu", 1, **TAINT), *more, in_place(**TOLERATION)])
    assert control.settle()
    assert [replica["spec"]["clusterName"] for replica in control.list("ModelReplica")] == ["eu"]
    return control


def test_where_a_toleration_is_removed_the_replacement_serves_before_the_replica_goes() -> None:
    control = _tolerated(cluster("us", 1, **CLOSED))
    assert journal(control, [cluster("us", 1), in_place()], {"eu": 1, "us": 1}) == [
        ["+ claims on us", "+ deployment-main on us"],
        ["- deployment-main on eu"],
        ["- claims on eu"],
    ]


def test_where_a_toleration_is_removed_and_nothing_else_fits_the_replica_goes_at_once() -> None:
    control = _tolerated(cluster("us", 1, **CLOSED))
    assert journal(control, [in_place()], {"eu": 1, "us": 1}) == [["- deployment-main on eu"], ["- claims on eu"]]


def test_a_pool_that_is_renamed_is_another_pool_whose_replica_serves_before_the_old_one_goes() -> None:
    control = ControlPlane([hardware(), cluster("eu", 1), in_place()])
    assert control.settle()
    assert journal(control, [cluster("eu", 1, pool="renamed")], {"eu": 2}) == [
        ["+ claims on eu", "+ deployment-main on eu"],
        ["- deployment-main on eu"],
        ["- claims on eu"],
    ]
