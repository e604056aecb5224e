"""The volume claim that holds a ModelCache's weights on an inference cluster, and how pods mount it."""

from typing import Any

#: Whether a claim is bound, as a query on the Object.
BOUND = "has(object.status) && has(object.status.phase) && object.status.phase == 'Bound'"


def volume_claim(name: str, namespace: str, *, size_gib: int, storage_class: str) -> dict[str, Any]:
    """Return the PersistentVolumeClaim of `size_gib` GiB that all nodes can mount at once."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": f"{size_gib}Gi"}},
        },
    }


def claimed(name: str, *, read_only: bool) -> dict[str, Any]:
    """Return the volume source of a pod that mounts the claim `name`."""
    return {"persistentVolumeClaim": {"claimName": name} | ({"readOnly": True} if read_only else {})}
