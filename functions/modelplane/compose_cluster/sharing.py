"""What an InferenceCluster that shares a cluster takes over from the one that has it, and what it waits for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.compose_cluster import gateway
from modelplane.compose_cluster.observation import ClusterObservation
from modelplane.composing import requirements as require
from modelplane.model.fleet import TeamIsolation
from modelplane.observed.cluster import read_team_isolation
from modelplane.observed.fields import mapping, texts
from modelplane.step import Object, Request

_UNTIL: Final = "nothing is placed here until then, because deleting that one would delete the Gateway"


@dataclass(frozen=True, slots=True)
class Shared:
    """The result of reading the InferenceCluster that has the cluster.

    `isolation` is published in the status: that of the cluster, None where the InferenceCluster's own applies. `waits`
    is why nothing may be placed yet, "" if something may. `caveat` names fields of the own spec that do not apply.
    """

    isolation: Mapping[str, Any] | None = None
    waits: str = ""
    caveat: str = ""


def _published(isolation: TeamIsolation) -> dict[str, Any]:
    """Return what isolates teams on a whole cluster as `spec.stack` has it; the rest is of each InferenceCluster."""
    return {
        "isolation": str(isolation.isolation),
        **({"egress": str(isolation.egress)} if isolation.egress else {}),
        "egressCIDRs": list(isolation.egress_cidrs),
        "gatewayCIDRs": list(isolation.gateway_cidrs),
        "podSecurity": "Enforce" if isolation.enforces_pod_security else "Warn",
    }


def read(request: Request, observation: ClusterObservation) -> Shared:
    """Return what applies to the request's InferenceCluster because it shares a cluster."""
    own = request.composite
    holder = observation.sharing.of_another(own.name)
    if not holder:
        unknown = not observation.sharing.holder
        return Shared(observation.last.get("teamIsolation") if unknown else None)
    found = request.one(require.cluster(holder))
    if not isinstance(found, Object):
        return Shared(observation.last.get("teamIsolation"))
    isolation, asked = _published(read_team_isolation(found)), mapping(mapping(own.body.get("spec")).get("stack"))
    fields = {**isolation, "egress": isolation.get("egress")}
    differing = [f"spec.stack.{field}" for field in fields if field in asked and asked[field] != fields[field]]
    caveat = f"{', '.join(differing)}: InferenceCluster {holder} has the cluster, and its spec.stack applies"
    knows = own.name in texts(mapping(found.body.get("status")).get("sharedWith"))
    waits = f"InferenceCluster {holder}, which has the cluster, has not seen yet that {own.name} shares it; {_UNTIL}"
    return Shared(
        isolation,
        waits if gateway.is_ours(observation.gateway) and not knows else "",
        caveat if differing else "",
    )
