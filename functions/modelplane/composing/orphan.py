"""The policies of a cluster's Objects: whether they write there, and whether they leave there what they represent.

An abandoned cluster, which has the annotation `modelplane.ai/abandon: "true"`, keeps its workloads when their Objects
are deleted. The provider then deletes an Object without connecting to the cluster.

While the kubeconfig leads to another cluster, or to one of another installation, the Objects only observe: otherwise
they would be applied to that cluster, and deleted there. An annotation keeps their former policies, which they have
again afterwards.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from modelplane.kube.object import ORPHANED
from modelplane.model.names import ANNOTATION_POLICIES, OBSERVE_ONLY, provider_config
from modelplane.model.observation import Gap
from modelplane.observed.cluster import is_abandoned, is_foreign
from modelplane.observed.fields import mapping, text
from modelplane.step import Object

_ALL: Final = "*"
_DELETING = frozenset({_ALL, "Delete"})
#: Kinds of objects that a team shares on a cluster, and that are always orphaned.
_SHARED = frozenset({"Namespace", "NetworkPolicy"})


class Policy(Enum):
    """What the Objects of a cluster do there."""

    MANAGED = "managed"
    #: They leave what they represent there when they are deleted.
    ORPHANED = "orphaned"
    #: They only observe.
    OBSERVED = "observed"


def policy_of(cluster: Object | Gap, *, leaves: bool | None = None) -> Policy | None:
    """Return the policy of a cluster's Objects, None if the cluster is absent or not fetched.

    `leaves`: they leave behind what they represent; by default if the cluster is abandoned.
    """
    if not isinstance(cluster, Object):
        return None
    if is_foreign(cluster):
        return Policy.OBSERVED
    return Policy.ORPHANED if (is_abandoned(cluster) if leaves is None else leaves) else Policy.MANAGED


def is_orphaning(cluster: Object | Gap) -> bool | None:
    """Return whether the cluster is annotated as abandoned, None if the cluster is absent or not fetched."""
    if not isinstance(cluster, Object):
        return None
    return is_abandoned(cluster)


def waits(cluster: Object | Gap) -> bool:
    """Tell whether everything on a cluster stays until the kubeconfig leads there again; not if it is abandoned."""
    return policy_of(cluster) is Policy.OBSERVED and not is_orphaning(cluster)


def _policies(body: Mapping[str, Any]) -> list[str]:
    return list(body["spec"].get("managementPolicies") or [_ALL])


def _annotations(body: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(body.get("metadata")).get("annotations"))


def only_observes(body: Mapping[str, Any]) -> bool:
    """Tell whether an Object represents what others manage; one that only observes for now does not."""
    return _policies(body) == list(OBSERVE_ONLY) and ANNOTATION_POLICIES not in _annotations(body)


def may_delete(body: Mapping[str, Any]) -> bool:
    """Tell whether deleting a composed resource deletes an object on a cluster."""
    return body["kind"] == "Object" and bool(set(_policies(body)) & _DELETING)


def _with_policies(body: Mapping[str, Any], policies: list[str]) -> Mapping[str, Any]:
    spec = {field: value for field, value in body["spec"].items() if field != "managementPolicies"}
    return {**body, "spec": spec if policies == [_ALL] else {**spec, "managementPolicies": policies}}


def orphaned(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an Object that leaves what it represents on the cluster; other manifests are returned unchanged.

    `references` are unchanged: the provider removes its finalizer from an InferenceCluster only if it still finds the
    reference.
    """
    if not may_delete(body):
        return body
    policies = _policies(body)
    return _with_policies(body, [*ORPHANED.policies] if _ALL in policies else [p for p in policies if p != "Delete"])


def observing(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an Object that observes what it managed, with its former policies; other manifests are unchanged.

    How it becomes Ready stays as it is: the API server would refuse to leave that out later.
    """
    if body["kind"] != "Object" or _policies(body) == list(OBSERVE_ONLY):
        return body
    annotations = {**_annotations(body), ANNOTATION_POLICIES: ",".join(_policies(body))}
    metadata = {**mapping(body.get("metadata")), "annotations": annotations}
    return _with_policies({**body, "metadata": metadata}, [*OBSERVE_ONLY])


def resumed(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an Object that only observed for a while with its former policies."""
    if body["kind"] != "Object" or ANNOTATION_POLICIES not in _annotations(body):
        return body
    metadata = dict(body["metadata"])
    others = {key: value for key, value in metadata.pop("annotations").items() if key != ANNOTATION_POLICIES}
    metadata |= {"annotations": others} if others else {}
    return _with_policies({**body, "metadata": metadata}, text(_annotations(body)[ANNOTATION_POLICIES]).split(","))


def _managed_again(body: Mapping[str, Any], cluster: str) -> Mapping[str, Any]:
    """Return an `orphaned` Object with its former policy, unless it is always orphaned."""
    if body["kind"] != "Object" or _policies(body) != list(ORPHANED.policies):
        return body
    spec = body["spec"]
    kind = mapping(mapping(spec.get("forProvider")).get("manifest")).get("kind")
    own = mapping(spec.get("providerConfigRef")).get("name") == provider_config(cluster)
    return body if kind in _SHARED or not own else _with_policies(body, [_ALL])


def with_policy(body: Mapping[str, Any], cluster: str, policy: Policy | None) -> Mapping[str, Any]:
    """Return a resource of a cluster with the policy that `policy_of` returned; unchanged for None."""
    if policy is None:
        return body
    if policy is Policy.OBSERVED:
        return observing(body)
    before = resumed(body)
    return orphaned(before) if policy is Policy.ORPHANED else _managed_again(before, cluster)
