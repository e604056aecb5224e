"""The function schedule: decides where the replicas of a ModelDeployment run, and says why where they cannot."""

from collections.abc import Mapping

from modelplane.runtime.step import Step
from modelplane.schedule import deployment

#: The step of each composite kind this function knows.
STEPS: Mapping[str, Step] = {"ModelDeployment": deployment.compose}
