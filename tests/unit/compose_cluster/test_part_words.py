"""What is said of a part that does not come up, by the states that provider-helm and Kubernetes report of it.

The texts are those of Helm 3.21 and of provider-helm 1.3.0 on real API servers, shortened.
"""

import copy
from dataclasses import dataclass, field
from typing import Any

import pytest

from modelplane.stack import Part
from unit.compose_cluster.stacks import Cluster, condition, counted, message, states, synced

MANAGER = "mp-lws-controller-manager"
PRESENT = "If the cluster has LeaderWorkerSet already, set spec.stack.lws to Present"
FOREIGN = (
    'failed to install release: unable to continue with install: ClusterRole "mp-lws-manager-role" in namespace "" '
    "exists and cannot be imported into the current release: invalid ownership metadata"
)
NO_KIND = (
    "failed to install release: unable to build kubernetes objects from release manifest: resource mapping not found "
    'for name: "a" namespace: "lws-system" from "": no matches for kind "Certificate" in version "cert-manager.io/v1" '
    "ensure CRDs are installed first"
)
NO_CHART = "failed to pull chart: registry/lws@sha256:aaaa: not found"
LATE = 'ReplicaSet "mp-lws-controller-manager-5d" has timed out progressing.'


@dataclass(frozen=True)
class Case:
    """What is observed of LeaderWorkerSet, and what is said of it."""

    release: dict[str, Any] = field(default_factory=dict)
    error: str = ""
    pods: dict[str, Any] | None = None
    state: str = "Failed"
    serves: bool = False
    words: str = ""


def release(state: str, revision: int, description: str, failed: int = 0) -> dict[str, Any]:
    """Return the status of a Release."""
    seen = {"state": state, "revision": revision, "releaseDescription": description}
    return {"atProvider": seen, **({"failed": failed} if failed else {})}


def stalled(kind: str, text: str) -> dict[str, Any]:
    """Return a Deployment none of whose pods comes up, with a condition."""
    status = {"Progressing": "False", "ReplicaFailure": "True"}[kind]
    found = counted("Deployment", 0, 1)
    return {**found, "status": {**found["status"], "conditions": [{"type": kind, "status": status, "message": text}]}}


CASES: dict[str, Case] = {
    "the limit of tries is reached: Synced, without a message": Case(
        release=release("failed", 1, 'Release "mp-lws" failed: failed post-install: timed out', 3),
        words='revision 1 of release mp-lws failed, and none of 3 further tries is left: Release "mp-lws" failed: '
        "failed post-install: timed out. Remove the cause, then let it be tried again, on the cluster: kubectl delete "
        f"secret sh.helm.release.v1.mp-lws.v1 -n lws-system. {PRESENT}",
    ),
    "a try has failed, and others are left": Case(
        release=release("failed", 1, "a webhook did not answer", 1),
        state="Installing",
        words="try 2 of 4 failed: a webhook did not answer",
    ),
    "killed while installing, at the limit": Case(
        release=release("pending-install", 1, "Initial install underway", 3),
        error="failed to upgrade release: another operation (install/upgrade/rollback) is in progress",
        words="Helm was stopped in pending-install of revision 1 of release mp-lws: Initial install underway. Let it "
        f"begin anew, on the cluster: kubectl delete secret sh.helm.release.v1.mp-lws.v1 -n lws-system. {PRESENT}",
    ),
    "killed while installing, which heals": Case(
        release=release("pending-install", 1, "Initial install underway", 1),
        error="failed to upgrade release: another operation (install/upgrade/rollback) is in progress",
        state="Installing",
        words="failed to upgrade release: another operation (install/upgrade/rollback) is in progress",
    ),
    "killed in a rollback, which never heals": Case(
        release=release("pending-rollback", 4, "Rollback to 2", 1),
        words="Helm was stopped in pending-rollback of revision 4 of release mp-lws: Rollback to 2. Let it begin anew, "
        f"on the cluster: kubectl delete secret sh.helm.release.v1.mp-lws.v4 -n lws-system. {PRESENT}",
    ),
    "an object is somebody else's": Case(
        error=FOREIGN,
        words=f"{FOREIGN}. The object was not made by this release: delete it on the cluster if nothing needs it. It "
        f"is tried again every minute. {PRESENT}",
    ),
    "a kind is missing": Case(
        error=NO_KIND,
        words=f"{NO_KIND}. The cluster lacks this kind: install the CRD that defines it. It is tried again every "
        f"minute. {PRESENT}",
    ),
    "the registry has no such chart, or not by that digest": Case(
        error=NO_CHART,
        words=f"{NO_CHART}. See that the registry has chart lws in version v0.8.0, and what MODELPLANE_CHARTS and "
        "MODELPLANE_CHART_DIGESTS in install/functions.yaml say of it. It is tried again every minute. " + PRESENT,
    ),
    "an image is not pulled, or no node takes the pod": Case(
        release=release("deployed", 1, "Install complete"),
        pods=stalled("Progressing", LATE),
        words=f"Deployment lws-system/{MANAGER}: 0 of 1 pods are available: {LATE[:-1]}. An image that cannot be "
        "pulled, or no node that has room, are what it usually is: kubectl describe pods -n lws-system",
    ),
    "the cluster admits no pod": Case(
        release=release("deployed", 1, "Install complete"),
        pods=stalled("ReplicaFailure", 'pods "a" is forbidden: exceeded quota'),
        words=f'Deployment lws-system/{MANAGER}: 0 of 1 pods are available: pods "a" is forbidden: exceeded quota. An '
        "image that cannot be pulled, or no node that has room, are what it usually is: kubectl describe pods -n "
        "lws-system",
    ),
    "pods are starting": Case(
        release=release("deployed", 1, "Install complete"),
        pods=counted("Deployment", 0, 1),
        state="Installing",
        words=f"Deployment lws-system/{MANAGER}: 0 of 1 pods are available. Look at them: kubectl get pods -n "
        "lws-system",
    ),
    "an upgrade that cannot be begun": Case(
        release=release("deployed", 2, "Upgrade complete"),
        error=NO_CHART,
        pods=counted("Deployment", 1, 1),
        state="Running",
        serves=True,
        words=f"what is installed stays as it is: {NO_CHART}. See that the registry has chart lws in version v0.8.0, "
        "and what MODELPLANE_CHARTS and MODELPLANE_CHART_DIGESTS in install/functions.yaml say of it. It is tried "
        "again every minute",
    ),
    "an upgrade that has failed for good, while the pods of before run": Case(
        release=release("failed", 2, "Upgrade failed", 3),
        pods=counted("Deployment", 1, 1),
        serves=True,
        words="revision 2 of release mp-lws failed, and none of 3 further tries is left: Upgrade failed. Remove the "
        "cause, then let it be tried again, on the cluster: kubectl delete secret sh.helm.release.v1.mp-lws.v2 -n "
        f"lws-system. {PRESENT}",
    ),
}


def observed(case: Case) -> Cluster:
    """Return a cluster on which all else runs."""
    cluster = Cluster(pods={MANAGER: 0})
    cluster.settle()
    cluster.composed["release-lws"]["status"] = {**copy.deepcopy(case.release), "conditions": synced(case.error)}
    there = cluster.composed[f"workload-{MANAGER}"]["status"]
    if case.pods is None:
        there |= {"conditions": synced("cannot observe: external resource does not exist")}
    else:
        there["atProvider"]["manifest"] |= case.pods
    return cluster


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_part_that_does_not_come_up_says_why_in_the_words_of_the_provider_and_what_to_do(case: Case) -> None:
    cluster = observed(case)
    before = cluster.installing()
    result = cluster.decide()
    assert message(result, Part.LWS) == case.words
    assert (states(result)["lws"], (result.status or {})["serves"]) == (case.state, case.serves)
    reason = {"Failed": "PartFailed", "Installing": "Installing", "Running": "PartsRunning"}[case.state]
    assert condition(result).reason == reason
    assert f"LeaderWorkerSet: {case.words}" in condition(result).message
    cluster.turn()
    assert cluster.installing() == before, "once the cause is gone it goes on by itself"


def test_what_is_said_of_several_parts_in_the_same_words_is_said_once() -> None:
    cluster = Cluster()
    cluster.settle()
    for name in ("release-lws", "release-gateway-helm"):
        cluster.composed[name]["status"]["conditions"] = synced("dial tcp: i/o timeout")
    result = cluster.decide()
    assert condition(result).status == "True"
    assert condition(result).message == (
        "Envoy Gateway, LeaderWorkerSet: what is installed stays as it is: dial tcp: i/o timeout. It is tried again "
        "every minute."
    )
