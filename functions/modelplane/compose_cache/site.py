"""Where a cache is staged: one cluster, the team's namespace there, and what the cache has on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.kube.copy import key_copy
from modelplane.kube.namespace import tenant
from modelplane.kube.object import KEEP, Handling, remote_object
from modelplane.model.names import API_VERSION, tenant_namespace


@dataclass(frozen=True, slots=True)
class Site:
    """One cluster of a cache. `config` is its ClusterProviderConfig."""

    team: str
    cluster: str
    config: str

    @property
    def namespace(self) -> str:
        """Return the namespace on the cluster."""
        return tenant_namespace(self.team)

    @property
    def _uses(self) -> dict[str, str]:
        """Return what the Objects depend on: a deleted cluster stays, with its kubeconfig, until they have gone."""
        return {"apiVersion": API_VERSION, "kind": "InferenceCluster", "name": self.cluster}

    def place(self, manifest: Mapping[str, Any], *, ready_when: str) -> dict[str, Any]:
        """Return the Object that puts `manifest` on the cluster."""
        handling = Handling(ready_when=ready_when, watch=True, used_by=self._uses)
        return remote_object(manifest, handling, namespace=self.team, config=self.config)

    def place_key(self, secret: Mapping[str, Any], key: str, name: str) -> dict[str, Any]:
        """Return the Object that keeps one key of a Secret of the team in the Secret `name` on the cluster."""
        handling = Handling(watch=True, used_by=self._uses)
        return key_copy(secret, key, self.namespace, handling, config=self.config, name=name)

    def place_namespace(self) -> dict[str, Any]:
        """Return the Object of the namespace, which stays on the cluster: others of the team live in it."""
        return remote_object(tenant(self.team), KEEP, namespace=self.team, config=self.config)
