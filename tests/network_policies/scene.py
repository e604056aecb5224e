"""A cluster with two teams, `team` and `rivals`: the NetworkPolicies composed for it, and the pods of its workloads."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modelplane.compose_cluster.gateway_kinds import APIS
from modelplane.compose_replica.stages import POLICY
from modelplane.model.names import LABEL_EGRESS, LABEL_ISOLATED, LABEL_NAMESPACE_NAME
from modelplane.step import Result
from network_policies.evaluator import Peer
from unit.compose_cache import caches
from unit.compose_cluster import clusters
from unit.compose_replica import replicas

Manifest = dict[str, Any]

RIVALS = replicas.replica()
RIVALS["metadata"]["namespace"] = "rivals"
REPLICAS = {
    "standalone": replicas.replica(),
    "gang": replicas.replica(replicas.gang()),
    "pair": replicas.pair("--port=8200"),
    "rivals": RIVALS,
}
#: Each pod: which of the composites above it is of, its composition resource, and the template in that.
PODS = {
    "engine": ("standalone", "deployment-main", "template"),
    "leader": ("gang", "leaderworkerset-main", "leaderTemplate"),
    "worker": ("gang", "leaderworkerset-main", "workerTemplate"),
    "prefill": ("pair", "deployment-reader", "template"),
    "decode": ("pair", "deployment-writer", "template"),
    "picker": ("pair", "picker", "template"),
    "download": ("cache", "job", "template"),
    "rival": ("rivals", "deployment-main", "template"),
}
#: Labels that the controller of a workload adds to its pods.
ADDED = {
    "Deployment": {"pod-template-hash": "5d59d67564"},
    "LeaderWorkerSet": {"leaderworkerset.sigs.k8s.io/name": "qwen", "leaderworkerset.sigs.k8s.io/group-index": "0"},
    "Job": {"batch.kubernetes.io/job-name": "weights"},
}


@dataclass(frozen=True, slots=True)
class Scene:
    """What Modelplane has put on a cluster: NetworkPolicies, and pods by their names in `PODS`."""

    policies: Sequence[Manifest]
    pods: Mapping[str, Peer]


def build_scene(*stacks: Mapping[str, Any], there_before: bool = False) -> Scene:
    """Return the cluster once it has settled with each `spec.stack` of its InferenceCluster, one after the other.

    `there_before` says that the namespaces of the teams existed before Modelplane.
    """
    composed = {name: _settle(body, stacks, there_before=there_before) for name, body in REPLICAS.items()}
    composed["cache"] = _download(stacks[-1])
    found = [manifest for each in composed.values() for manifest in each.values()]
    addresses = (f"10.1.0.{host}" for host in itertools.count(1))
    pods = {}
    for name, (composite, resource, template) in PODS.items():
        workload = composed[composite][resource]
        spec = workload["spec"].get("leaderWorkerTemplate", workload["spec"])
        labels = spec[template]["metadata"]["labels"] | ADDED[workload["kind"]]
        namespace = composed[composite]["namespace"]["metadata"]
        pods[name] = pod_in(namespace, next(addresses), labels)
    # Replicas of one namespace compose one and the same policy.
    made = (each for each in found if each["kind"] == "NetworkPolicy")
    policies = {(each["metadata"]["namespace"], each["metadata"]["name"]): each for each in made}
    return Scene(list(policies.values()), pods)


def pod_in(namespace: Manifest, ip: str, labels: Mapping[str, str]) -> Peer:
    """Return a pod in the namespace with this metadata; Kubernetes labels each namespace with its name."""
    name = namespace["name"]
    return Peer(ip, name, {LABEL_NAMESPACE_NAME: name, **namespace["labels"]}, labels)


def system_namespace() -> Manifest:
    """Return the metadata of the namespace in which Modelplane makes the Gateway of a cluster."""
    absent = clusters.looking("Gateway", None, "observe failed: external resource does not exist")
    served = {name: clusters.looking("APIService", {"metadata": {"name": name}}) for name in APIS}
    trusted = {"kind": "InferenceGateway", "metadata": {"name": "default"}, "status": {"caBundle": "CERTIFICATE"}}
    result = clusters.run(clusters.cluster(), clusters.reached(gateway=absent, **served), gateway=[trusted])
    metadata: Manifest = _manifests(result)["gateway-part-namespace"]["metadata"]
    return metadata


def _manifests(result: Result) -> dict[str, Manifest]:
    """Return what the Objects of a pass put on the cluster, by composition resource name."""
    bodies = {name: desired.build() for name, desired in result.desired.items()}
    applied = {name: body["spec"].get("forProvider", {}).get("manifest") for name, body in bodies.items()}
    return {name: manifest for name, manifest in applied.items() if manifest}


def _settle(body: Manifest, stacks: Sequence[Mapping[str, Any]], *, there_before: bool) -> dict[str, Manifest]:
    """Return what a replica has put on its cluster; the policy of the namespace stays once it is composed no more."""
    observed: dict[str, Manifest] = {}
    there: dict[str, Manifest] = {}
    for stack in itertools.chain.from_iterable((each, each) for each in stacks):
        result = replicas.run(body, observed, cluster=[replicas.cluster() | {"spec": {"stack": stack}}])
        first = not observed
        observed = {name: replicas.provided(desired.build()) for name, desired in result.desired.items()}
        if first and there_before:
            seen = observed["namespace"]["status"]["atProvider"]["manifest"]["metadata"]["labels"]
            for label in (LABEL_ISOLATED, LABEL_EGRESS):
                seen.pop(label, None)
        left = {name: manifest for name, manifest in there.items() if name == POLICY}
        there = left | _manifests(result)
    return there


def _download(stack: Mapping[str, Any]) -> dict[str, Manifest]:
    """Return the Job and the namespace of a cache of `team` once the download is wanted."""
    result = caches.passes(caches.cache(), 2, clusters=[caches.cluster() | {"spec": {"stack": stack}}])
    kinds = {manifest["kind"]: manifest for manifest in _manifests(result).values()}
    return {"job": kinds["Job"], "namespace": kinds["Namespace"]}
