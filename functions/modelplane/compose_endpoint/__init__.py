"""The function compose-endpoint: what makes replicas and external providers addressable.

| kind | module, and that of its objects |
|---|---|
| ModelService | `service`, `service_objects`: its HTTPRoute and what that refers to |
| ModelEndpoint of a replica | `deployment` composes it, `endpoint` reports it |
| ModelEndpoint of an external provider | `external`, `external_objects` |
"""

from collections.abc import Mapping

from modelplane.compose_endpoint import deployment, endpoint, service
from modelplane.step import Step

#: The step of each composite kind this function knows.
STEPS: Mapping[str, Step] = {
    "ModelDeployment": deployment.compose,
    "ModelEndpoint": endpoint.compose,
    "ModelService": service.compose,
}
