"""Hypothesis profile of this folder: the same examples on every run, unless more are asked for."""

import os

from hypothesis import HealthCheck, settings

#: Examples of every property when set; new random ones then, not the fixed ones of CI.
EXAMPLES = os.environ.get("MODELPLANE_HYPOTHESIS_EXAMPLES")

settings.register_profile(
    "property",
    derandomize=EXAMPLES is None,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("property")
