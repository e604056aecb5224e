"""What goes wrong around a serving replica without a reason for its end."""

from collections.abc import Callable, Mapping
from typing import Any

from given.manifests import cluster, hardware, in_place, member
from modelplane.preview import ControlPlane

Disturbance = Callable[[ControlPlane], None]


def _patch(kind: str, status: Any, name: str = "eu") -> Disturbance:
    return lambda control: control.patch_status(kind, None, name, status)


def _apply(*objects: dict[str, Any]) -> Disturbance:
    def apply(control: ControlPlane) -> None:
        for obj in objects:
            control.apply(obj)

    return apply


def _not_ready(control: ControlPlane) -> None:
    ready = {"type": "Ready", "status": "False", "reason": "Unreachable"}
    control.patch_status("InferenceCluster", None, "eu", {"conditions": [ready]})
    control.reconcile("ModelDeployment", "team", "chat")


def _objects(status: Any) -> Disturbance:
    """Return what patches the status of every Object on the clusters."""

    def patch(control: ControlPlane) -> None:
        for obj in control.list("Object"):
            control.patch_status("Object", obj["metadata"]["namespace"], obj["metadata"]["name"], status)

    return patch


def _garble_replicas(control: ControlPlane) -> None:
    garbled = [{"type": "Synced", "observedGeneration": {}}, {"type": ["Ready"]}, "Ready"]
    for replica in control.list("ModelReplica"):
        status = {"conditions": garbled, "workloads": "none", "servedEngines": {}}
        control.patch_status("ModelReplica", "team", replica["metadata"]["name"], status)


def _forget(kind: str, namespace: str | None, name: str) -> Disturbance:
    def forget(control: ControlPlane) -> None:
        control.delete(kind, namespace, name)

    return forget


def _without_replicas() -> dict[str, Any]:
    body = in_place()
    del body["spec"]["replicas"]
    return body


def _broken_selector() -> dict[str, Any]:
    return in_place(member(nodeSelector={"devices": [{"name": "gpu", "selectors": [{"cel": "device.("}]}]}))


STALE = {"type": "Synced", "status": "False", "reason": "ReconcileError", "message": "connection refused"}

DISTURBANCES: Mapping[str, Disturbance] = {
    "a typo in a selector": _apply(_broken_selector()),
    "a selector that matches nothing": _apply(in_place(member(memory="900Gi"))),
    "a class that is missing": _forget("InferenceClass", None, "gpu-class"),
    "a class that is malformed": _apply(hardware(memory="much")),
    "a cache that is missing": _apply(in_place(modelCacheRef={"name": "nothing"})),
    "a cluster that is not ready for a pass": _not_ready,
    "a cluster selector narrowed to nothing": _apply(in_place(clusterSelector={"matchLabels": {"no": "where"}})),
    "no way to the cluster": _patch("InferenceCluster", {"providerConfigRef": None}),
    "a cluster without status": _patch("InferenceCluster", None),
    "a malformed way to the cluster": _patch("InferenceCluster", {"providerConfigRef": {"name": 7}}),
    "malformed pools": _patch("InferenceCluster", {"gpuPools": "none"}),
    "no address": _patch("InferenceCluster", {"gateway": None}),
    "a claim of other content": _apply(in_place(member(memory="20Gi"))),
    "no number of replicas": _apply(_without_replicas()),
    "a pool renamed, and nowhere else to go": _apply(
        cluster("eu", 1, pool="renamed", taints=[{"key": "closed", "effect": "NoSchedule"}])
    ),
    "a taint against new replicas": _apply(cluster("eu", 1, taints=[{"key": "closed", "effect": "NoSchedule"}])),
    "an unreachable cluster": _objects({"conditions": [STALE]}),
    "objects without status": _objects(None),
    "objects with a malformed status": _objects({"atProvider": {"manifest": "gone"}, "conditions": "none"}),
    "objects whose status is of other shapes": _objects(
        {"atProvider": {"manifest": {"kind": ["gone"]}}, "conditions": [{"type": {}, "observedGeneration": []}]}
    ),
    "a replica with a malformed status": _garble_replicas,
    "a way to the cluster that is not observed": _forget(
        "ClusterProviderConfig.kubernetes.m.crossplane.io", None, "eu"
    ),
    "a class that is gone and back": _apply(hardware()),
    "the deployment as it was": _apply(in_place()),
    "the cluster as it was": _apply(cluster("eu", 1)),
}


def serving() -> ControlPlane:
    """Return a control plane at rest, where one replica serves on the one full cluster."""
    control = ControlPlane([hardware(), cluster("eu", 1), in_place()])
    assert control.settle()
    assert [replica["status"]["served"] for replica in control.list("ModelReplica")] == [True]
    return control


def workloads(control: ControlPlane) -> set[str]:
    """Return the uids of the Objects that run engines and are not being deleted."""
    return {
        obj["metadata"]["uid"]
        for obj in control.list("Object")
        if obj["spec"]["forProvider"]["manifest"]["kind"] in {"Deployment", "LeaderWorkerSet"}
        and not obj["metadata"].get("deletionTimestamp")
    }
