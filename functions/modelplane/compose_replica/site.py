"""Where a replica is composed: its cluster, its namespace there, and the names of what it becomes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modelplane.kube.copy import source_copy
from modelplane.kube.namespace import tenant
from modelplane.kube.object import KEEP, Handling, remote_object
from modelplane.model.names import (
    API_VERSION,
    LABEL_DEPLOYMENT,
    LABEL_SERVING,
    WORKLOAD_NAME_LIMIT,
    replica_hostname,
    tenant_namespace,
    workload_name,
)

_DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Site:
    """A ModelReplica's place.

    `config` is its ClusterProviderConfig, `deployment` "" for a hand-written replica, `volume` the claim that holds its
    weights, "" for none.
    """

    replica: str
    team: str
    cluster: str
    config: str
    deployment: str = ""
    volume: str = ""

    @property
    def namespace(self) -> str:
        """Return the namespace on the cluster."""
        return tenant_namespace(self.team)

    @property
    def name(self) -> str:
        """Return the name on the cluster: the replica's own where it is a legal name of a Service, else a safe one."""
        fits = len(self.replica) <= WORKLOAD_NAME_LIMIT and _DNS_1035.fullmatch(self.replica)
        return self.replica if fits else workload_name(self.replica, self.team, self.replica)

    @property
    def hostname(self) -> str:
        """Return the host the replica answers to on its cluster's gateway."""
        return replica_hostname(self.replica, self.team, self.cluster)

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of everything the replica has on the cluster."""
        own = {LABEL_SERVING: self.replica}
        return own | ({LABEL_DEPLOYMENT: self.deployment} if self.deployment else {})

    def workload(self, engine: str) -> str:
        """Return the name of an engine's workload on the cluster."""
        return workload_name(f"{self.replica}-{engine}", self.team, self.replica, engine)

    def place(
        self, manifest: Mapping[str, Any], *, ready_when: str | None = None, watch: bool = False
    ) -> dict[str, Any]:
        """Return the Object that puts `manifest` on the cluster.

        It refers to its InferenceCluster, so that a deleted cluster stays, with its kubeconfig, until the Object has
        gone.
        """
        handling = Handling(ready_when=ready_when, watch=watch, used_by=self._uses)
        return remote_object(manifest, handling, namespace=self.team, config=self.config)

    def place_copy(self, original: Mapping[str, Any], name: str, owners: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the Object `name` that copies a Secret or ConfigMap of the team, and follows it at once."""
        handling = Handling(watch=True, used_by=self._uses)
        return source_copy(original, self.namespace, handling, config=self.config, name=name, owners=owners)

    @property
    def _uses(self) -> dict[str, str]:
        return {"apiVersion": API_VERSION, "kind": "InferenceCluster", "name": self.cluster}

    def look(self, manifest: Mapping[str, Any], handling: Handling) -> dict[str, Any]:
        """Return the Object that looks at what somebody else made on the cluster."""
        return remote_object(manifest, handling, namespace=self.team, config=self.config)

    def place_namespace(self) -> dict[str, Any]:
        """Return the Object of the namespace, which stays on the cluster: other replicas of the team live in it."""
        return remote_object(tenant(self.team), KEEP, namespace=self.team, config=self.config)
