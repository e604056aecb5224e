"""Why a replica composes each of its objects: one sentence for each rule, for users of the preview."""

from collections.abc import Mapping

#: The rule for each composed resource, by the longest matching prefix of its composition resource name.
RULES: Mapping[str, str] = {
    "namespace": "A team's objects live in a namespace that mirrors the team's; it stays when a replica goes.",
    "network-policy": "Says who may reach the pods of the team's namespace; it stays as that does.",
    "copy-secret-": "An engine names the Secret, so it is copied by reference; the team's replicas share the copy.",
    "copy-configmap-": "An engine names the ConfigMap, so it is copied by reference, like a Secret.",
    "resourceclaimtemplate-": "Each pod of a member with device requests claims its devices through this template; it "
    "cannot be changed, so its name carries a hash of its content.",
    "deployment-": "An engine of one Standalone member is a Deployment of its copies; a rollout needs no spare node.",
    "leaderworkerset-": "An engine of a Leader and Workers is a LeaderWorkerSet of its copies; a gang restarts whole.",
    "leaders-": "Observed, because a LeaderWorkerSet does not report which template its counts refer to.",
    "workers-": "Observed, because a LeaderWorkerSet calls itself available while a worker is pending.",
    "service": "The pods that take traffic are reached through one Service.",
    "httproute": "The cluster's gateway takes the replica's own host, and of it /v1 alone, to the replica.",
    "cluster-hold": "The provider has not marked the InferenceCluster as used by the replica; this Object repeats it.",
    "inferencepool": "A pod is chosen for each request: a prefill and decode pair needs that, copies may use it.",
    "picker": "The pool asks an endpoint picker which of its pods serves a request.",
    "picker-configmap": "How the picker chooses; it reads this once, so another content is another picker.",
    "picker-service": "The gateway finds the picker by the Service that the pool names.",
    "picker-serviceaccount": "The picker has rights of its own, which are in its Role.",
    "picker-role": "The picker watches the pool and its pods, and may do nothing else.",
    "cache-in-use-": "The engines mount what the ModelCache has staged, so it is not deleted while they do.",
    "pods": "An engine does not serve, so its pods are observed until it does.",
}


def why(resource: str) -> str:
    """Return the rule for a composed resource, "" without one."""
    fitting = [start for start in RULES if resource.startswith(start)]
    return RULES[max(fitting, key=len)] if fitting else ""
