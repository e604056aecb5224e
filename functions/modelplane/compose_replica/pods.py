"""What the pods of a replica say of themselves: why they are not scheduled, pulled, started or kept alive.

They are looked at only while an engine does not serve, through one collection that makes an Object a pod: a fleet at
rest costs nothing, and one in trouble a look a minute at each pod of the replicas concerned.
"""

from collections.abc import Sequence
from typing import Any

from modelplane.compose_replica.site import Site
from modelplane.kube.collection import collection
from modelplane.kube.object import PROVIDER_API
from modelplane.model.names import LABEL_PODS_OF, LABEL_WORKLOAD
from modelplane.model.observation import Gap
from modelplane.observed import pod
from modelplane.observed.remote import read_remote
from modelplane.step import Object, Request, Requirement

#: Composition resource name of the collection.
RESOURCE = "pods"


def look(site: Site, workloads: Sequence[str]) -> dict[str, Any]:
    """Return the collection that looks at the pods of these workloads."""
    selector = {"matchExpressions": [{"key": LABEL_WORKLOAD, "operator": "In", "values": list(workloads)}]}
    looked_at = {"apiVersion": "v1", "kind": "Pod", "namespace": site.namespace, "selector": selector}
    return collection(looked_at, namespace=site.team, config=site.config, labels={LABEL_PODS_OF: site.replica})


def requirement(replica: Object) -> Requirement:
    """Return the requirement of the Objects that the collection makes."""
    labels = {LABEL_PODS_OF: replica.name}
    return Requirement(RESOURCE, PROVIDER_API, "Object", match_labels=labels, namespace=replica.namespace)


def read_words(request: Request) -> dict[str, str]:
    """Return what the pods say that are looked at, by the name of their workload."""
    found = request.all(requirement(request.composite))
    return pod.read_words(() if isinstance(found, Gap) else map(read_remote, found), LABEL_WORKLOAD)
