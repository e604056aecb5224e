"""What a pool of an InferenceClass looks like on a real cluster: nodes, ResourceSlices and DeviceClasses."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from modelplane.model.names import GPU_TAINT, LABEL_POOL

DRA = "resource.k8s.io/v1"
_ROOM = {"cpu": "192", "memory": "2Ti", "pods": "110"}


def node(name: str, **labels: str) -> dict[str, Any]:
    """Return a node of the fake kubelet; labels as `{key: value}` are added."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                **labels,
            },
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
    }


def taints(pool: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the taints of a pool's nodes: those that its `tolerations` tolerate, else that of NVIDIA's nodes."""
    tolerated = pool.get("tolerations") or [{"key": GPU_TAINT}]
    return [
        {"key": each["key"], "value": each.get("value", "present"), "effect": each.get("effect", "NoSchedule")}
        for each in tolerated
    ]


def gpu_node(name: str, pool: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node of a pool of an InferenceCluster as an operator labels and taints it."""
    return {**node(name, **{LABEL_POOL: pool["name"]}), "spec": {"taints": taints(pool)}}


def node_status(pool: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a node of the fake kubelet has besides devices: what its pool declares, else more than enough."""
    room = {**_ROOM, **(pool.get("node") or {})}
    return {"status": {"capacity": room, "allocatable": room}}


def claimed(inference_class: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the devices of a class that a DRA driver publishes; Synthetic ones exist only in the class."""
    return [device for device in inference_class["spec"]["devices"] if device.get("claim", "DRA") == "DRA"]


def slices(node_name: str, inference_class: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return one ResourceSlice for each driver of a node, with the devices exactly as the class declares them."""
    by_driver: dict[str, list[dict[str, Any]]] = {}
    for device in claimed(inference_class):
        content = {key: device[key] for key in ("attributes", "capacity") if device.get(key)}
        names = (f"{device['name']}-{number}" for number in range(device.get("count", 1)))
        by_driver.setdefault(device["driver"], []).extend({"name": name, **content} for name in names)
    for driver, devices in by_driver.items():
        yield {
            "apiVersion": DRA,
            "kind": "ResourceSlice",
            "metadata": {"name": f"{node_name}-{driver}"},
            "spec": {
                "driver": driver,
                "nodeName": node_name,
                "pool": {"name": node_name, "generation": 1, "resourceSliceCount": 1},
                "devices": devices,
            },
        }


def device_classes(classes: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Return the DeviceClasses that the devices of InferenceClasses are claimed through."""
    drivers: dict[str, set[str]] = {}
    for inference_class in classes:
        for device in claimed(inference_class):
            drivers.setdefault(device["deviceClassName"], set()).add(device["driver"])
    for name, all_of_it in sorted(drivers.items()):
        expression = " || ".join(f'device.driver == "{driver}"' for driver in sorted(all_of_it))
        yield {
            "apiVersion": DRA,
            "kind": "DeviceClass",
            "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": expression}}]},
        }
