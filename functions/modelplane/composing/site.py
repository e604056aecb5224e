"""Builds the Objects of a team on an inference cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from modelplane.composing.namespace import (
    find_egress,
    is_closed,
    read_mark,
    shared_handling,
    wanted_egress,
    wanted_mark,
)
from modelplane.kube.copy import owned, source_copy
from modelplane.kube.namespace import closed, opened, reaching_api_server, tenant
from modelplane.kube.object import CLAIMED, Handling, collection, observed_only, remote_object
from modelplane.model.fleet import Egress, TeamIsolation
from modelplane.model.names import API_VERSION, OBSERVE_ONLY, tenant_namespace
from modelplane.observed.remote import Remote


@dataclass(frozen=True, slots=True)
class Site:
    """One team on one cluster: `team` is its namespace on the control cluster, `config` the ClusterProviderConfig.

    `isolation` is that of the teams on the cluster.
    """

    team: str
    cluster: str
    config: str
    isolation: TeamIsolation = field(default_factory=TeamIsolation)

    @property
    def namespace(self) -> str:
        """Return the team's namespace on the cluster."""
        return tenant_namespace(self.team)

    @property
    def _used(self) -> dict[str, str]:
        """Return the reference that keeps a deleted InferenceCluster, and its kubeconfig, until the Object goes."""
        return {"apiVersion": API_VERSION, "kind": "InferenceCluster", "name": self.cluster}

    def place(
        self, manifest: Mapping[str, Any], *, ready_when: str | None = None, watch: bool = False
    ) -> dict[str, Any]:
        """Return the Object that applies `manifest` to the cluster; `ready_when` and `watch` as in `Handling`."""
        return self._placed(manifest, Handling(ready_when=ready_when, watch=watch, seldom=True))

    def _placed(self, manifest: Mapping[str, Any], handling: Handling) -> dict[str, Any]:
        return remote_object(manifest, handling, namespace=self.team, config=self.config)

    def place_keeping_cluster(
        self, manifest: Mapping[str, Any], *, ready_when: str | None = None, watch: bool = False
    ) -> dict[str, Any]:
        """Return the same Object with a reference that keeps the InferenceCluster as long as the Object exists.

        Only one of a replica's Objects has it, and it is not watched: the provider writes a finalizer into the
        InferenceCluster for each such Object, and reconciles all watched ones whenever the InferenceCluster changes.
        """
        handling = Handling(ready_when=ready_when, watch=watch, used_by=self._used, seldom=True)
        return self._placed(manifest, handling)

    def keep_cluster(self) -> dict[str, Any]:
        """Return an Object with that reference that does nothing else: it observes the team's namespace."""
        handling = Handling(policies=OBSERVE_ONLY, used_by=self._used, seldom=True)
        manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}
        return self._placed(manifest, handling)

    def place_workload(self, manifest: Mapping[str, Any], *, ready_when: str) -> dict[str, Any]:
        """Return the Object of a workload: it is watched, and is deleted only after the workload's pods.

        The provider also polls it every minute, so that the replica learns when its cluster does not answer.
        """
        handling = Handling(ready_when=ready_when, watch=True, pods_first=True)
        return self._placed(manifest, handling)

    def place_copy(self, original: Mapping[str, Any], name: str, owners: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the Object `name` that copies a Secret or ConfigMap of the team, and is updated with it at once."""
        handling = Handling(watch=True, seldom=True)
        made = source_copy(original, handling, namespace=self.namespace, config=self.config)
        return owned(made, name, owners)

    def place_key(self, secret: Mapping[str, Any], key: str, name: str, typed: str = "Opaque") -> dict[str, Any]:
        """Return the Object that copies one key of a Secret of the team to a Secret on the cluster, of this type."""
        handling, at = Handling(watch=True, used_by=self._used), self.namespace
        return source_copy(secret, handling, namespace=at, config=self.config, called=name, key=key, typed=typed)

    def place_namespace(self, seen: Remote | None) -> dict[str, Any]:
        """Return the Object of the namespace, which is always left behind: the team's other objects are in it.

        `seen` is the observed Object. Until it shows the namespace, an existing namespace is not changed.
        """
        if seen is None or seen.manifest is None:
            return self.claim_namespace(seen)
        namespace = self._namespace(seen)
        return self._placed(namespace, shared_handling(namespace, seen))

    def claim_namespace(self, seen: Remote | None) -> dict[str, Any]:
        """Return the Object that creates the namespace if it is absent, and never changes an existing one."""
        return self._placed(self._namespace(seen), CLAIMED)

    def _namespace(self, seen: Remote | None) -> dict[str, Any]:
        mark, egress = wanted_mark(self.isolation, seen), wanted_egress(self.isolation, seen)
        return tenant(self.team, mark, egress, enforces_pod_security=self.isolation.enforces_pod_security)

    def place_network_policy(self, seen: Remote | None, policy: Remote | None) -> dict[str, Any] | None:
        """Return the Object of the namespace's NetworkPolicy, None if it needs none.

        `seen` is the observed Object of the namespace, `policy` that of the NetworkPolicy. It is left behind like the
        namespace, because the team's pods share it. So if there is one, or the namespace is marked, the NetworkPolicy
        stays when the namespace is opened, and then allows everything.
        """
        if is_closed(self.isolation, seen):
            isolation, egress = self.isolation, find_egress(self.isolation, seen)
            wanted = closed(self.team, isolation.gateway_cidrs, egress=egress, egress_cidrs=isolation.egress_cidrs)
        elif policy or read_mark(seen):
            wanted = opened(self.team)
        else:
            return None
        return self._placed(wanted, shared_handling(wanted, policy))

    def place_way_to_api_server(self, seen: Remote | None, name: str, pods: Mapping[str, str]) -> dict[str, Any] | None:
        """Return the Object of the NetworkPolicy by which pods reach the API server, None where nothing keeps them.

        `seen` is as in `place_network_policy`; the pods are those with these labels.
        """
        egress = find_egress(self.isolation, seen)
        if egress is Egress.NONE or not is_closed(self.isolation, seen):
            return None
        return self.place(reaching_api_server(name, self.team, pods, egress, self.isolation.egress_cidrs))

    def observe(self, manifest: Mapping[str, Any], *, ready_when: str) -> dict[str, Any]:
        """Return the Object that only observes an object that a controller on the cluster creates."""
        return self._placed(manifest, observed_only(ready_when=ready_when, watch=True, seldom=True))

    def observe_pods(self, selector: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
        """Return the collection that creates an Object with `labels` for each pod that the label selector selects."""
        pods = {"apiVersion": "v1", "kind": "Pod", "namespace": self.namespace, "selector": dict(selector)}
        return collection(pods, namespace=self.team, config=self.config, labels=labels)
