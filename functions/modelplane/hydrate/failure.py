"""How a download can end before all is there.

HydrateError
    BrokenError   may succeed on another try
    LastingError  will not, until somebody changes something
"""

from modelplane.model.staging import HydrateExit


class HydrateError(Exception):
    """The end of a run that has not staged everything; `exit_code` is what the program ends with."""

    def __init__(self, exit_code: HydrateExit, words: str) -> None:
        super().__init__(words)
        self.exit_code = exit_code


class BrokenError(HydrateError):
    """Something that happens now and then. `wait`: seconds that the hub asks to wait, None when it does not say."""

    def __init__(self, words: str, wait: float | None = None) -> None:
        super().__init__(HydrateExit.AGAIN, words)
        self.wait = wait


class LastingError(HydrateError):
    """Something that another try meets again."""
