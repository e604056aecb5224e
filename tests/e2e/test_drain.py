"""Whatever makes a pod go, it answers on for the drain first, and its devices are taken until it is gone."""

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import pytest

from e2e.fleet import SOON, Fleet
from e2e.scenes import engine
from modelplane.model.names import tenant_namespace
from modelplane_dev.plane.api import Manifest
from modelplane_dev.plane.control_plane import DEPLOYMENT, INFERENCE_CLUSTER
from modelplane_dev.plane.inference import POD
from modelplane_dev.plane.waiting import eventually

#: Seconds of the drain; the played kubelets are asked what they do a fraction of a second late.
DRAIN = 8
_IN_PLACE = {"maxSurge": 0, "maxUnavailable": 1}


def _edited(image: str) -> dict[str, object]:
    found = engine(8)
    found["members"][0]["template"]["spec"]["containers"][0]["image"] = image
    return {"engines": [found]}


def _change(fleet: Fleet, **spec: object) -> None:
    fleet.plane.hub.api.patch(DEPLOYMENT, "llama", {"spec": spec}, fleet.tag)


def _taint(fleet: Fleet) -> None:
    taints = [{"key": "maintenance", "effect": "NoExecute"}]
    fleet.plane.hub.api.patch(INFERENCE_CLUSTER, _here(fleet), {"spec": {"taints": taints}})


def _drain_node(fleet: Fleet) -> None:
    here = _here(fleet)
    [pod] = fleet.pods(here)
    patient = f"--timeout={SOON:.0f}s"
    fleet.clusters[here].cluster.kubectl("drain", pod["spec"]["nodeName"], "--delete-emptydir-data", patient)


class Cause(NamedTuple):
    """What makes a pod go, whether its replica goes with it, and the sites: a replacement wants another one."""

    act: Callable[[Fleet], None]
    with_replica: bool = False
    sites: tuple[str, ...] = ("east",)


CAUSES: Mapping[str, Cause] = {
    "a scale-down": Cause(lambda fleet: _change(fleet, replicas=0), with_replica=True),
    "an eviction": Cause(_taint, with_replica=True, sites=("east", "west")),
    "a surge": Cause(lambda fleet: _change(fleet, **_edited("engine:v2")), with_replica=True, sites=("east", "west")),
    "a change in place": Cause(lambda fleet: _change(fleet, rollout=_IN_PLACE, **_edited("engine:v2"))),
    "the end of the deployment": Cause(lambda fleet: fleet.plane.hub.api.delete(DEPLOYMENT, "llama", fleet.tag)),
    "kubectl drain": Cause(_drain_node),
}


def _here(fleet: Fleet) -> str:
    return str(fleet.replica("llama")["spec"]["clusterName"])


def _pod(fleet: Fleet, cluster: str, name: str) -> Manifest | None:
    return fleet.clusters[cluster].cluster.api.get(POD, name, tenant_namespace(fleet.tag))


#: What is tried by `make soak` alone. That a replica goes after its pod is tested of a scale-down, that another serves
#: first in test_moves.py and test_rollouts.py, that all goes with its deployment in test_deletion.py.
AT_LENGTH = ("an eviction", "a surge", "the end of the deployment")


@pytest.mark.parametrize(
    "cause", [pytest.param(cause, marks=pytest.mark.soak if cause in AT_LENGTH else ()) for cause in CAUSES]
)
def test_a_pod_that_goes_answers_on_for_the_drain_and_is_charged_until_it_is_gone(fleet: Fleet, cause: str) -> None:
    act, with_replica, sites = CAUSES[cause]
    for site in sites:
        fleet.add_cluster(site)
    fleet.deploy("llama", drainSeconds=DRAIN, engines=[engine(8)])
    fleet.wait_ready("llama")
    here, replica = _here(fleet), fleet.replica("llama")["metadata"]["name"]
    [before] = fleet.pods(here)
    name = before["metadata"]["name"]
    began = time.monotonic()
    act(fleet)

    def terminating() -> None:
        nonlocal began
        asked = time.monotonic()  # not later: the pod may be asked to go while its answer is on the way
        found = _pod(fleet, here, name)
        if found and "deletionTimestamp" not in found["metadata"]:
            began = asked
        assert found is None or "deletionTimestamp" in found["metadata"], "the pod is not asked to go"

    def gone() -> None:
        names = {each["metadata"]["name"] for each in fleet.replicas("llama")}
        if with_replica and _pod(fleet, here, name) and replica not in names:
            raise RuntimeError("the replica went before its pod")
        assert _pod(fleet, here, name) is None, "the pod is still there"

    eventually(terminating, within=SOON, every=0.1)
    eventually(gone, within=SOON, every=0.1)
    lasted = time.monotonic() - began
    assert lasted > DRAIN - 1, f"the pod was gone after {lasted:.1f} s"
