"""Volumes that many nodes mount, for model caches: Filestore, whose API is switched on in the project."""

from typing import Any, Final

from modelplane.clouds.cloud import LEFT_BEHIND, Asked, Managed
from modelplane.clouds.gke import kinds, network
from modelplane.clouds.names import Limits

#: Name of the StorageClass.
CLASS: Final = "modelplane-rwx"
#: Composition resource names.
API, INSIDE = "filestore-api", "storage-class"
_SERVICE: Final = "file.googleapis.com"
#: Of the object on the control cluster alone.
_LIMITS: Final = Limits(63)


def resources(asked: Asked) -> dict[str, Managed]:
    """Return the API of Filestore. It stays on: others in the project may use it too."""
    fields = {"service": _SERVICE, "disableOnDestroy": False}
    called = _LIMITS.name(asked.cluster, asked.key, API)
    return {API: Managed(kinds.PROJECT_SERVICE, called, fields, policies=LEFT_BEHIND)}


def inside(asked: Asked) -> dict[str, dict[str, Any]]:
    """Return the StorageClass. Each volume of it is an instance of Filestore, of 1 TiB at least."""
    return {
        INSIDE: {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": CLASS},
            "provisioner": "filestore.csi.storage.gke.io",
            "parameters": {"tier": "zonal", "network": network.of_files(asked)},
            "volumeBindingMode": "WaitForFirstConsumer",
            "allowVolumeExpansion": True,
            "reclaimPolicy": "Delete",
        }
    }
