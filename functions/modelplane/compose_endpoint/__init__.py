"""The function compose-endpoint: what makes replicas and external providers addressable."""

from collections.abc import Mapping

from modelplane.compose_endpoint import deployment, endpoint, service
from modelplane.step import Step

#: The step of each composite kind this function knows.
STEPS: Mapping[str, Step] = {
    "ModelDeployment": deployment.compose,
    "ModelEndpoint": endpoint.compose,
    "ModelService": service.compose,
}
