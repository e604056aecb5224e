"""A ModelReplica on its cluster: its site, and the names and labels of its objects there."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from modelplane.compose_replica.spec import Engine
from modelplane.composing.site import Site
from modelplane.model.deployment import Role
from modelplane.model.names import (
    LABEL_DEPLOYMENT,
    LABEL_SERVING,
    WORKLOAD_NAME_LIMIT,
    engine_name,
    replica_hostname,
    workload_name,
)

_DNS_1035 = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


def workload_resource(engine: Engine) -> str:
    """Return the composition resource name of an engine's workload; another kind is another resource."""
    kind = "leaderworkerset" if Role.WORKER in engine.roles else "deployment"
    return f"{kind}-{engine.name}"


@dataclass(frozen=True, slots=True)
class Instance:
    """A ModelReplica at a site."""

    site: Site
    #: Its name.
    replica: str
    #: The ModelDeployment, "" for a hand-written replica.
    deployment: str = ""
    #: The claim with its weights, "" for none.
    volume: str = ""
    #: How long its pods keep answering while they are being deleted.
    drain_seconds: int = 0
    #: Whether its engines have only the capabilities that they add.
    drops_all: bool = False
    #: The name of the endpoint picker that it has on its cluster, "" for none.
    picker: str = ""
    #: The names that its workloads have there, by composition resource name: they keep them.
    named: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the name on the cluster: the replica's own if it is a valid name of a Service, else a derived one."""
        fits = len(self.replica) <= WORKLOAD_NAME_LIMIT and _DNS_1035.fullmatch(self.replica)
        return self.replica if fits else workload_name(self.replica, self.site.team, self.replica)

    @property
    def hostname(self) -> str:
        """Return the host the replica answers to on its cluster's gateway."""
        return replica_hostname(self.replica, self.site.team, self.site.cluster)

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels of all objects of the replica on the cluster."""
        own = {LABEL_SERVING: self.replica}
        return own | ({LABEL_DEPLOYMENT: self.deployment} if self.deployment else {})

    def workload(self, engine: Engine) -> str:
        """Return the name of an engine's workload on the cluster."""
        found = self.named.get(workload_resource(engine))
        return found or engine_name(self.site.team, self.replica, engine.name)
