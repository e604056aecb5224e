"""Whether the Configuration that calls a function is of the function's version.

The package of the Configuration states its version to each step, as the input of the step in its Compositions; a
Composition that states none, such as one that was written by hand, is taken as it is. While they differ, as during an
upgrade, a function may be given what it does not know, or write what the definitions do not have: nothing new is placed
and nothing is rolled out, and what exists is kept.
"""

from typing import Final

from modelplane import __version__
from modelplane.model.conditions import AnyCondition, Condition, Reason, Status
from modelplane.step.contract import Request

#: The kind of the input by which a Composition states the version, and the field that has it.
INPUT_KIND: Final = "StepInput"
INPUT_VERSION: Final = "version"


def differs(request: Request) -> bool:
    """Tell whether the Composition states another version than this function has."""
    return request.version not in ("", __version__)


def versions_match(request: Request) -> Condition | None:
    """Return the condition VersionsMatch, None where the Composition states no version."""
    if not request.version:
        return None
    if not differs(request):
        return Condition(AnyCondition.VERSIONS_MATCH, Status.TRUE, Reason.MATCHED)
    message = (
        f"the Configuration is of version {request.version}, and a function of version {__version__}; nothing new is "
        "placed or rolled out, what exists is kept. Install the Configuration and all functions of one version."
    )
    return Condition(AnyCondition.VERSIONS_MATCH, Status.FALSE, Reason.SKEW, message)
