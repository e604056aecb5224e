"""The function compose-cache: a model's weights, staged once on each cluster that its cache selects."""

from collections.abc import Mapping

from modelplane.compose_cache import cache
from modelplane.step import Step

#: The step of each composite kind this function knows.
STEPS: Mapping[str, Step] = {"ModelCache": cache.compose}
