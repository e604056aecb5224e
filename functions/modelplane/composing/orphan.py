"""The orphan policy of an abandoned cluster: its workloads stay when their Objects are deleted.

It is set by the annotation `modelplane.ai/abandon: "true"` of the InferenceCluster. The provider then deletes an Object
without connecting to the cluster; when the annotation is removed, the Objects are managed again.
"""

from collections.abc import Mapping
from typing import Any

from modelplane.kube.object import ORPHANED
from modelplane.model.names import OBSERVE_ONLY, provider_config
from modelplane.model.observation import Gap
from modelplane.observed.cluster import is_abandoned
from modelplane.observed.fields import mapping
from modelplane.step import Object

_DELETING = frozenset({"*", "Delete"})
#: Kinds of objects that a team shares on a cluster, and that are always orphaned.
_SHARED = frozenset({"Namespace", "NetworkPolicy"})


def is_orphaning(cluster: Object | Gap) -> bool | None:
    """Return whether the cluster is annotated as abandoned, None if the cluster is absent or not fetched."""
    if not isinstance(cluster, Object):
        return None
    return is_abandoned(cluster)


def may_delete(body: Mapping[str, Any]) -> bool:
    """Tell whether deleting a composed resource deletes an object on a cluster."""
    return body["kind"] == "Object" and bool(set(body["spec"].get("managementPolicies") or ["*"]) & _DELETING)


def orphaned(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an Object with the orphan policy; other manifests are returned unchanged.

    `references` are unchanged: the provider removes its finalizer from an InferenceCluster only if it still finds the
    reference.
    """
    if not may_delete(body):
        return body
    return {**body, "spec": {**body["spec"], "managementPolicies": list(ORPHANED.policies)}}


def observing(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an Object that observes what it managed; other manifests are returned unchanged.

    How it becomes Ready stays as it is: the API server would refuse to leave that out later.
    """
    if body["kind"] != "Object":
        return body
    return {**body, "spec": {**body["spec"], "managementPolicies": list(OBSERVE_ONLY)}}


def _managed_again(body: Mapping[str, Any], cluster: str) -> Mapping[str, Any]:
    """Return an `orphaned` Object with its former policy, unless it is always orphaned."""
    spec = body["spec"]
    kind, config = (
        mapping(mapping(spec.get("forProvider")).get("manifest")).get("kind"),
        mapping(spec.get("providerConfigRef")),
    )
    if tuple(spec.get("managementPolicies") or ()) != ORPHANED.policies or kind in _SHARED:
        return body
    if config.get("name") != provider_config(cluster):
        return body
    return {**body, "spec": {field: value for field, value in spec.items() if field != "managementPolicies"}}


def with_orphan_policy(body: Mapping[str, Any], cluster: str, *, orphan: bool | None) -> Mapping[str, Any]:
    """Return an Object with the policy that `is_orphaning` returned; unchanged for None."""
    if orphan is None:
        return body
    return orphaned(body) if orphan else _managed_again(body, cluster)
