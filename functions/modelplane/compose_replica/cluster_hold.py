"""Keeps the InferenceCluster by one more Object if the provider has not written its finalizer for those before.

A deleted InferenceCluster has to stay until its replicas have moved, for which the provider adds a finalizer to it. The
provider adds one to an Object first, and then one to what the Object refers to. If the latter fails, because the
InferenceCluster changes at the same moment, it is not tried again (`objFinalizer.AddFinalizer` of provider-kubernetes
1.3). With many replicas that begin at once this may happen to one more Object too, and rarely to a third.

The provider removes such a finalizer only if the Object still has the reference. If the reference were removed before,
the InferenceCluster could never be deleted: an existing one stays.
"""

from collections.abc import Mapping
from typing import Any, Final

from modelplane.composing.site import Site
from modelplane.model.observation import Gap
from modelplane.observed.fields import deleting, mapping, mappings, texts
from modelplane.observed.remote import read_remote
from modelplane.step import Object

#: Composition resource names: the Object that keeps the cluster, and those that do one after the other if it does not.
#: None is taken back, so that a provider that may not write InferenceClusters leads to three, and to no end of them.
KEEPER: Final = "httproute"
HOLDS: Final = ("cluster-hold", "cluster-hold-2", "cluster-hold-3")
#: The provider's finalizer on an Object, and the prefix of that on what an Object with a UID refers to.
_MANAGED: Final = "finalizer.managedresource.crossplane.io"
REFERRED: Final = "kubernetes.crossplane.io/referred-by-object-"


def _to_cluster(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the references of an Object to InferenceClusters."""
    references = mappings(mapping(body.get("spec")).get("references"))
    return [each for each in references if mapping(each.get("dependsOn")).get("kind") == "InferenceCluster"]


def refers_to_cluster(body: Mapping[str, Any]) -> bool:
    """Tell whether an Object refers to an InferenceCluster, and so keeps it."""
    return bool(_to_cluster(body))


def with_kept_reference(body: Mapping[str, Any], observed: Object | None) -> Mapping[str, Any]:
    """Return a composed resource with the references to InferenceClusters of the observed one."""
    kept = _to_cluster(observed.body) if observed else []
    if not kept or _to_cluster(body):
        return body
    spec = body["spec"]
    return {**body, "spec": {**spec, "references": [*spec.get("references", ()), *kept]}}


def compose_holds(observed: Mapping[str, Object], cluster: Object | Gap, site: Site) -> dict[str, Mapping[str, Any]]:
    """Return the Objects that keep the cluster, by composition resource name: those made, and the one to try next."""
    made = [name for name in HOLDS if name in observed]
    tried = [observed[name] for name in (KEEPER, *made) if name in observed]
    missing = bool(tried) and all(_is_forgotten(each, cluster) for each in tried)
    after = [name for name in HOLDS if name not in made][: int(missing)]
    return {name: site.keep_cluster() for name in (*made, *after)}


def _is_forgotten(keeper: Object, cluster: Object | Gap) -> bool:
    """Tell whether the provider has reconciled an Object, and the cluster that it refers to lacks the finalizer.

    A cluster that is being deleted takes no more finalizers.
    """
    if not isinstance(cluster, Object) or deleting(cluster):
        return False
    managed = read_remote(keeper).synced is True and _MANAGED in _finalizers(keeper)
    expected = f"{REFERRED}{keeper.metadata.get('uid')}"
    return managed and refers_to_cluster(keeper.body) and expected not in _finalizers(cluster)


def _finalizers(found: Object) -> tuple[str, ...]:
    return tuple(texts(found.metadata.get("finalizers")))
