"""The messages of a composite's pods: why they are not scheduled, pulled, started or kept alive.

They are observed through one collection, which creates an Object for each pod, and only while something does not run.
So a settled fleet costs nothing, and a failing pod costs one poll a minute.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.composing.site import Site
from modelplane.kube.object import PROVIDER_API
from modelplane.model.names import LABEL_FILLS, LABEL_PODS_OF, LABEL_PODS_OF_CACHE, LABEL_WORKLOAD
from modelplane.model.observation import Gap
from modelplane.observed.pod_messages import crashed_pods, pod_messages, pod_reports
from modelplane.observed.remote import read_remote
from modelplane.step import Object, Request, Requirement


@dataclass(frozen=True, slots=True)
class PodObserver:
    """How the pods of one kind of composite are observed.

    `owner` is a label of the observing Objects whose value is the composite's name; `group` is the label of the pods by
    which their messages are grouped.
    """

    owner: str
    group: str

    def observe(self, site: Site, composite: Object, selector: Mapping[str, Any]) -> dict[str, Any]:
        """Return the collection that observes the pods of a label selector for a composite."""
        return site.observe_pods(selector, {self.owner: composite.name})

    def requirement(self, composite: Object) -> Requirement:
        """Return the requirement of the Objects that the collections of a composite make."""
        labels = {self.owner: composite.name}
        return Requirement("pods", PROVIDER_API, "Object", match_labels=labels, namespace=composite.namespace)

    def messages(self, request: Request) -> Mapping[str, str]:
        """Return the pods' messages by the value of `group`, without groups that have none."""
        found = request.all(self.requirement(request.composite))
        return {} if isinstance(found, Gap) else pod_messages(map(read_remote, found), self.group)

    def crashed(self, request: Request) -> frozenset[str]:
        """Return the values of `group` of pods that have crashed."""
        found = request.all(self.requirement(request.composite))
        return frozenset() if isinstance(found, Gap) else crashed_pods(map(read_remote, found), self.group)

    def reports(self, request: Request, container: str) -> Mapping[str, str]:
        """Return the termination message of a successful init container of the pods, by the value of `group`."""
        found = request.all(self.requirement(request.composite))
        return {} if isinstance(found, Gap) else pod_reports(map(read_remote, found), self.group, container)


#: The pods of a ModelReplica's workloads.
REPLICA_PODS: Final = PodObserver(LABEL_PODS_OF, LABEL_WORKLOAD)
#: The pods that fill the volumes of a ModelCache.
CACHE_PODS: Final = PodObserver(LABEL_PODS_OF_CACHE, LABEL_FILLS)
