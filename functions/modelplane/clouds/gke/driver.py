"""Installs NVIDIA's driver on GPU nodes: GKE's own installation is off, since it would bring its device plugin too."""

from typing import Any, Final

from modelplane.model.names import LABEL_GPU

#: Composition resource name.
RESOURCE: Final = "driver-installer"
_NAME: Final = "mp-nvidia-driver-installer"
#: On the node: where the driver is put, and what the installer of Container-Optimized OS needs besides.
_FOLDERS: Final = {
    "driver": ("/home/kubernetes/bin/nvidia", "/usr/local/nvidia"),
    "icd": ("/home/kubernetes/bin/nvidia/vulkan/icd.d", "/etc/vulkan/icd.d"),
    "devices": ("/dev", "/dev"),
    "root": ("/", "/root"),
    "tools": ("/var/lib/cos-tools", "/build/cos-tools"),
    "config": ("/etc/nvidia", "/etc/nvidia"),
}
_ENVIRONMENT: Final = {
    "NVIDIA_INSTALL_DIR_HOST": "/home/kubernetes/bin/nvidia",
    "NVIDIA_INSTALL_DIR_CONTAINER": "/usr/local/nvidia",
    "VULKAN_ICD_DIR_HOST": "/home/kubernetes/bin/nvidia/vulkan/icd.d",
    "VULKAN_ICD_DIR_CONTAINER": "/etc/vulkan/icd.d",
    "ROOT_MOUNT_DIR": "/root",
    "COS_TOOLS_DIR_HOST": "/var/lib/cos-tools",
    "COS_TOOLS_DIR_CONTAINER": "/build/cos-tools",
}


def installer() -> dict[str, Any]:
    """Return the DaemonSet that runs the installer which each node has as an image, and then does nothing."""
    labels = {"app.kubernetes.io/name": _NAME}
    on_gpus = {"matchExpressions": [{"key": LABEL_GPU, "operator": "Exists"}]}
    install = {
        "name": "install",
        "image": "cos-nvidia-installer:fixed",
        "imagePullPolicy": "Never",
        "securityContext": {"privileged": True},
        "resources": {"requests": {"cpu": "150m"}},
        "env": [{"name": name, "value": value} for name, value in _ENVIRONMENT.items()],
        "volumeMounts": [{"name": name, "mountPath": path} for name, (_, path) in _FOLDERS.items()],
    }
    pod = {
        "priorityClassName": "system-node-critical",
        "hostNetwork": True,
        "hostPID": True,
        "tolerations": [{"operator": "Exists"}],
        "affinity": {
            "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [on_gpus]}}
        },
        "initContainers": [install],
        "containers": [{"name": "pause", "image": "gke.gcr.io/pause:3.8"}],
        "volumes": [{"name": name, "hostPath": {"path": path}} for name, (path, _) in _FOLDERS.items()],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": _NAME, "namespace": "kube-system", "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "updateStrategy": {"type": "RollingUpdate"},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
