"""Whether an inference cluster has the kinds that its gateway is made of, by the APIService of each API group.

An Object of a kind that the cluster lacks only reports an error in the words of its client. Every cluster has the kind
APIService, and one of them for each version of a group whose CRDs are installed, whoever has installed them.
"""

from collections.abc import Mapping
from typing import Any, Final

from modelplane.kube.gateway.kinds import ENVOY_API, GATEWAY_API
from modelplane.kube.object import observed_only, remote_object
from modelplane.model.names import SYSTEM_NAMESPACE
from modelplane.observed.remote import Remote
from modelplane.step import Manifest

#: The API that each Object is about, by composition resource name.
APIS: Final[Mapping[str, str]] = {"gateway-kinds": GATEWAY_API, "envoy-kinds": ENVOY_API}


def _api_service(api_version: str) -> dict[str, Any]:
    group, _, version = api_version.partition("/")
    metadata = {"name": f"{version}.{group}"}
    return {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": metadata}


def bodies(config: str) -> dict[str, Manifest]:
    """Return the Objects that observe the APIServices."""
    return {
        resource: remote_object(_api_service(api), observed_only(), namespace=SYSTEM_NAMESPACE, config=config)
        for resource, api in APIS.items()
    }


def lacking(remotes: Mapping[str, Remote]) -> tuple[str, ...] | None:
    """Return the API versions that the cluster lacks, None while that is not known; `remotes` are by resource name."""
    found = {api: remotes.get(resource) or Remote() for resource, api in APIS.items()}
    if not all(each.absent or (each.manifest and each.synced is not False) for each in found.values()):
        return None
    return tuple(api for api, each in found.items() if each.absent)
