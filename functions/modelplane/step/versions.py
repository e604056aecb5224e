"""Whether the Configuration that calls a function has the function's version.

The Configuration's Compositions state its version in the input of each step. A Composition without a version, such as a
hand-written one, is accepted. While the versions differ, as during an upgrade, a function may get fields that it does
not know, or write fields that the definitions do not have. So nothing new is placed, nothing is rolled out, and
existing resources are kept.
"""

from typing import Final

from modelplane import __version__
from modelplane.model.conditions import AnyCondition, Condition, Reason, Status
from modelplane.step.contract import Request

#: The kind of the input with which a Composition states the version, and its field.
INPUT_KIND: Final = "StepInput"
INPUT_VERSION: Final = "version"


def differs(request: Request) -> bool:
    """Tell whether the Composition states another version than this function's."""
    return request.version not in ("", __version__)


def versions_match(request: Request) -> Condition | None:
    """Return the condition VersionsMatch, None if the Composition states no version."""
    if not request.version:
        return None
    if not differs(request):
        return Condition(AnyCondition.VERSIONS_MATCH, Status.TRUE, Reason.MATCHED)
    message = (
        f"the Configuration is of version {request.version}, and a function of version {__version__}; nothing new is "
        "placed or rolled out, what exists is kept. Install the Configuration and all functions of one version."
    )
    return Condition(AnyCondition.VERSIONS_MATCH, Status.FALSE, Reason.SKEW, message)
