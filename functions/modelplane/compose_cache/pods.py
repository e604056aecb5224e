"""What the pods of a download say of themselves, looked at through one collection while it is under way."""

from typing import Any

from modelplane.compose_cache.place import Place
from modelplane.kube.collection import collection
from modelplane.kube.object import PROVIDER_API
from modelplane.model.names import LABEL_FILLS, LABEL_PODS_OF_CACHE
from modelplane.model.observation import Gap
from modelplane.observed import pod
from modelplane.observed.remote import read_remote
from modelplane.step import Object, Requirement

_PREFIX = "pods-"


def resource(cluster: str) -> str:
    """Return the composition resource name of the collection on a cluster."""
    return f"{_PREFIX}{cluster}"


def is_resource(name: str) -> bool:
    """Tell whether a composition resource is such a collection."""
    return name.startswith(_PREFIX)


def look(place: Place) -> dict[str, Any]:
    """Return the collection that looks at the pods which fill the claim."""
    labels = {LABEL_FILLS: place.uid}
    looked_at = {
        "apiVersion": "v1",
        "kind": "Pod",
        "namespace": place.site.namespace,
        "selector": {"matchLabels": labels},
    }
    made = {LABEL_PODS_OF_CACHE: place.request.composite.name}
    return collection(looked_at, namespace=place.site.team, config=place.site.config, labels=made)


def requirement(cache: Object) -> Requirement:
    """Return the requirement of the Objects that the collections of a cache make."""
    labels = {LABEL_PODS_OF_CACHE: cache.name}
    return Requirement("pods", PROVIDER_API, "Object", match_labels=labels, namespace=cache.namespace)


def read_words(place: Place) -> str:
    """Return what the pods say that fill the claim, "" when they say nothing or are not looked at yet."""
    found = place.request.all(requirement(place.request.composite))
    remotes = () if isinstance(found, Gap) else map(read_remote, found)
    return pod.read_words(remotes, LABEL_FILLS).get(place.uid, "")
