"""The function schedule: decides where the replicas of a ModelDeployment run, and says why where they cannot."""

from collections.abc import Mapping

from modelplane.schedule import deployment
from modelplane.schedule.warming import warm
from modelplane.step import Step

__all__ = ["STEPS", "warm"]

#: The step of each composite kind this function knows.
STEPS: Mapping[str, Step] = {"ModelDeployment": deployment.compose}
