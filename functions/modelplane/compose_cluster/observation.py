"""What is observed of a cluster: an object that always exists there, and its inference gateway."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from modelplane.compose_cluster import dns_name, gateway, gateway_kinds, identity, installation, stack
from modelplane.compose_cluster.identity import Sharing
from modelplane.compose_cluster.stack import StackReport
from modelplane.composing.messages import called, out_of_sync, sentences
from modelplane.composing.orphan import may_delete, resumed
from modelplane.kube.object import observed_only, remote_object
from modelplane.model.conditions import ClusterCondition, Condition, Reason, Status
from modelplane.model.names import SYSTEM_NAMESPACE
from modelplane.observed.fields import is_true, mapping, mappings
from modelplane.observed.remote import Remote, read_remote
from modelplane.step import Request

#: Composition resource name of the Object that shows whether the cluster answers.
PROBE = "kube-system"
_KUBE_SYSTEM = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system"}}


def probe(config: str) -> dict[str, Any]:
    """Return the Object that observes the Namespace kube-system, which every cluster has."""
    return remote_object(_KUBE_SYSTEM, observed_only(), namespace=SYSTEM_NAMESPACE, config=config)


@dataclass(frozen=True, slots=True)
class ClusterObservation:
    """What was observed of a cluster: its probe and gateway, and the InferenceCluster's status before this pass.

    `observed` names the composed resources of the control cluster. `mistaken`: why it is a wrong cluster, None if it is
    not, or is not known yet. `parts` says for each resource of the gateway whether it is as desired, `remotes` holds
    the ones on the cluster. `encrypts`: the public gateway is prepared for mutual TLS. `mark` is the installation of
    the cluster. `uid` is `status.clusterUID`, "" for none, `config_labels` are those of the ClusterProviderConfig, and
    `sharing` says which InferenceClusters have the cluster. `lasting`: what it composes for all of them stays on the
    cluster when it is deleted. `stack` is what its ServingStack says, None if none is asked for.
    `kinds` tell which kinds of the gateway the cluster has (`gateway_kinds`).
    """

    cluster: str
    observed: frozenset[str]
    probe: Remote | None
    gateway: Remote | None
    last: Mapping[str, Any]
    mistaken: Condition | None = None
    parts: Mapping[str, bool] = field(default_factory=dict)
    remotes: Mapping[str, Remote] = field(default_factory=dict)
    encrypts: bool = False
    mark: Remote | None = None
    uid: str = ""
    config_labels: Mapping[str, str] = field(default_factory=dict)
    sharing: Sharing = field(default_factory=Sharing)
    lasting: bool = False
    stack: StackReport | None = None
    kinds: Mapping[str, Remote] = field(default_factory=dict)

    @property
    def connection(self) -> Condition:
        """Return ClusterReady for the connection alone: whether the cluster answers and is the right one."""
        kind, probed = ClusterCondition.CLUSTER_READY, self.probe
        failure = out_of_sync("", {called(_KUBE_SYSTEM): probed}) if probed and probed.synced is False else ""
        if self.mistaken and self.foreign:
            return replace(self.mistaken, message=sentences(self.mistaken.message, failure))
        if failure:
            return Condition(kind, Status.FALSE, Reason.UNREACHABLE, failure)
        if self.mistaken:
            return self.mistaken
        if probed and probed.manifest:
            return Condition(kind, Status.TRUE, Reason.CLUSTER_RUNNING)
        return Condition(kind, Status.FALSE, Reason.PROVISIONING, "the cluster has not answered yet")

    @property
    def strays(self) -> bool:
        """Tell whether the kubeconfig leads to another cluster than before."""
        return identity.leads_elsewhere(self.probe, self.uid)

    @property
    def foreign(self) -> bool:
        """Tell whether nothing may be changed on the cluster: it is another one, or of another installation."""
        return self.strays or bool(self.mistaken and self.mistaken.reason is Reason.OTHER_INSTALLATION)

    @property
    def of_others(self) -> bool:
        """Tell whether nothing may be installed on the cluster: another InferenceCluster has it, or it is `foreign`."""
        duplicate = self.mistaken is not None and self.mistaken.reason is Reason.DUPLICATE_CLUSTER
        return self.foreign or duplicate or bool(self.sharing.of_another(self.cluster))

    @property
    def was_ready(self) -> bool:
        """Tell whether the last pass has said that requests reach the cluster."""
        found = (
            each for each in mappings(self.last.get("conditions")) if each.get("type") == ClusterCondition.BACKEND_READY
        )
        return any(each.get("status") == "True" for each in found)

    @property
    def is_own(self) -> bool:
        """Tell whether the cluster answers and is known to be this InferenceCluster's."""
        answers = self.connection.status is Status.TRUE
        return answers and bool(self.sharing.holder) and not self.of_others

    @property
    def address(self) -> Mapping[str, Any]:
        """Return `status.gateway`, empty while the gateway has no address."""
        last = mapping(self.last.get("gateway"))
        found = gateway.read_address(None if self.strays else self.gateway, last)
        return dns_name.with_hostname(found, last, self.cluster, self.observed)

    @property
    def lacks(self) -> tuple[str, ...] | None:
        """Return the APIs of the gateway that the cluster does not have, None while that is not known."""
        return gateway_kinds.lacking(self.kinds)

    def is_ready(self, resource: str) -> bool:
        """Tell whether an observed resource is ready; one that represents nothing on the cluster is, once it exists."""
        if resource == PROBE:
            return self.connection.status is Status.TRUE
        return bool(self.address) if resource == gateway.RESOURCE else self.parts.get(resource, True)


def observe(request: Request) -> ClusterObservation:
    """Return what this pass observes of the cluster."""

    def remote(resource: str) -> Remote | None:
        found = request.observed.get(resource)
        return read_remote(found) if found else None

    seen, last = remote(PROBE), mapping(request.composite.body.get("status"))
    mark = remote(installation.RESOURCE)
    other = installation.check(request, mark) if seen and seen.manifest else None
    parts = {name: each for name, each in request.observed.items() if name.startswith(gateway.PART)}
    remotes = {name: read_remote(each) for name, each in parts.items() if each.kind == "Object"}
    uid, shared = identity.published_uid(request, seen), {gateway.RESOURCE, installation.RESOURCE, *parts}
    return ClusterObservation(
        cluster=request.composite.name,
        observed=frozenset(request.observed),
        probe=seen,
        gateway=remote(gateway.RESOURCE),
        last=last,
        mistaken=identity.check(request, seen, identity.last_uid(request, seen)) or other,
        mark=mark,
        kinds={name: found for name in gateway_kinds.APIS if (found := remote(name))},
        stack=stack.read(request),
        uid=uid,
        config_labels=identity.config_labels(request, seen, uid),
        sharing=identity.read_sharing(request, seen, uid),
        lasting=not any(may_delete(resumed(request.observed[name].body)) for name in shared & request.observed.keys()),
        parts={
            name: is_true(each, "Ready") and (name not in remotes or remotes[name].synced is True)
            for name, each in parts.items()
        },
        encrypts=bool(gateway.read_bundle(request)),
        remotes={called(each.wanted): each for each in remotes.values()},
    )
