"""The function compose-replica: the serving instances of a deployment, and what each becomes on its cluster."""

from collections.abc import Mapping

from modelplane.compose_replica import deployment, replica
from modelplane.step import Step

#: The step of each composite kind this function knows.
STEPS: Mapping[str, Step] = {"ModelDeployment": deployment.compose, "ModelReplica": replica.compose}
