"""Where a team's objects go on an inference cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from modelplane.composing.namespace import is_closed, read_mark, wanted_mark
from modelplane.kube.collection import collection
from modelplane.kube.copy import key_copy, source_copy
from modelplane.kube.namespace import closed, opened, tenant
from modelplane.kube.object import CLAIMED, ORPHANED, Handling, observed_only, remote_object
from modelplane.model.fleet import Walls
from modelplane.model.names import API_VERSION, tenant_namespace
from modelplane.observed.remote import Remote


@dataclass(frozen=True, slots=True)
class Site:
    """One cluster of a team: `team` is its namespace on the control cluster, `config` the ClusterProviderConfig.

    `walls` are those between the teams on the cluster.
    """

    team: str
    cluster: str
    config: str
    walls: Walls = field(default_factory=Walls)

    @property
    def namespace(self) -> str:
        """Return the team's namespace on the cluster."""
        return tenant_namespace(self.team)

    @property
    def _used(self) -> dict[str, str]:
        """Return what Objects depend on: a deleted InferenceCluster stays, with its kubeconfig, until they go."""
        return {"apiVersion": API_VERSION, "kind": "InferenceCluster", "name": self.cluster}

    def place(
        self, manifest: Mapping[str, Any], *, ready_when: str | None = None, watch: bool = False
    ) -> dict[str, Any]:
        """Return the Object that puts `manifest` on the cluster; `ready_when` and `watch` as in `Handling`."""
        handling = Handling(ready_when=ready_when, watch=watch, seldom=True)
        return remote_object(manifest, handling, namespace=self.team, config=self.config)

    def place_keeping_cluster(
        self, manifest: Mapping[str, Any], *, ready_when: str | None = None, watch: bool = False
    ) -> dict[str, Any]:
        """Return the same Object, as long as which exists the InferenceCluster does too.

        Of a replica's Objects one does that, and it is not watched: the provider writes a finalizer into the
        InferenceCluster for each, and looks at all that are watched whenever anything of the InferenceCluster changes.
        """
        handling = Handling(ready_when=ready_when, watch=watch, used_by=self._used, seldom=True)
        return remote_object(manifest, handling, namespace=self.team, config=self.config)

    def place_workload(self, manifest: Mapping[str, Any], *, ready_when: str) -> dict[str, Any]:
        """Return the Object of what runs an engine's pods: it follows the cluster at once, and goes after its pods.

        The provider looks at it each minute, too: that is how the replica learns that its cluster does not answer.
        """
        handling = Handling(ready_when=ready_when, watch=True, pods_first=True)
        return remote_object(manifest, handling, namespace=self.team, config=self.config)

    def place_copy(self, original: Mapping[str, Any], name: str, owners: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the Object `name` that copies a Secret or ConfigMap of the team, and follows it at once."""
        handling = Handling(watch=True, seldom=True)
        return source_copy(original, self.namespace, handling, config=self.config, name=name, owners=owners)

    def place_key(self, secret: Mapping[str, Any], key: str, name: str) -> dict[str, Any]:
        """Return the Object that keeps one key of a Secret of the team in the Secret `name` on the cluster."""
        handling = Handling(watch=True, used_by=self._used)
        return key_copy(secret, key, self.namespace, handling, config=self.config, name=name)

    def place_pull_secret(self, secret: Mapping[str, Any], key: str, name: str) -> dict[str, Any]:
        """Return the Object that keeps a pull secret of the team, whose content is in `key`, in the Secret `name`."""
        handling, kind = Handling(watch=True, used_by=self._used), secret["type"]
        return key_copy(secret, key, self.namespace, handling, config=self.config, name=name, kind=kind)

    def place_namespace(self, seen: Remote | None) -> dict[str, Any]:
        """Return the Object of the namespace, which is always orphaned: the team's other objects live in it.

        `seen` is that Object as it is observed. Until it shows the namespace, one that is there is left as it is.
        """
        return self._namespace(seen, ORPHANED if seen and seen.manifest is not None else CLAIMED)

    def claim_namespace(self, seen: Remote | None) -> dict[str, Any]:
        """Return the Object that makes the namespace where there is none, and changes none that is there."""
        return self._namespace(seen, CLAIMED)

    def _namespace(self, seen: Remote | None, handling: Handling) -> dict[str, Any]:
        mark, enforces = wanted_mark(self.walls, seen), self.walls.enforces_pod_security
        namespace = tenant(self.team, mark, enforces_pod_security=enforces)
        return remote_object(namespace, handling, namespace=self.team, config=self.config)

    def place_network_policy(self, seen: Remote | None, *, composed: bool) -> dict[str, Any] | None:
        """Return the Object of the namespace's NetworkPolicy, None where it needs none.

        It is orphaned as the namespace is: the team's pods share it. So where it has been `composed`, or the namespace
        `seen` says so, it is there though the namespace is open, and lets everything in.
        """
        if is_closed(self.walls, seen):
            policy = closed(self.team, self.walls.gateway_cidrs)
        elif composed or read_mark(seen):
            policy = opened(self.team)
        else:
            return None
        return remote_object(policy, ORPHANED, namespace=self.team, config=self.config)

    def observe(self, manifest: Mapping[str, Any], *, ready_when: str) -> dict[str, Any]:
        """Return the Object that only observes what a controller on the cluster makes."""
        handling = observed_only(ready_when=ready_when, watch=True, seldom=True)
        return remote_object(manifest, handling, namespace=self.team, config=self.config)

    def observe_pods(self, selector: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
        """Return the collection that makes an Object with `labels` of each pod that the label selector selects."""
        pods = {"apiVersion": "v1", "kind": "Pod", "namespace": self.namespace, "selector": dict(selector)}
        return collection(pods, namespace=self.team, config=self.config, labels=labels)
