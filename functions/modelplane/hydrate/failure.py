"""How a download can end before it is complete.

HydrateError
    BrokenError     may succeed on another try
      NoResumeError   from the start only
    ShortError      a file ends before it has the promised size
    LastingError    fails again, until the cache, the repository or the volume is changed
"""

from modelplane.model.staging import HydrateExit


class HydrateError(Exception):
    """The end of an incomplete run; `exit_code` is the program's exit code."""

    def __init__(self, exit_code: HydrateExit, message: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class BrokenError(HydrateError):
    """A temporary failure. `wait`: seconds that the hub asks to wait, None if it does not say."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(HydrateExit.AGAIN, message)
        self.wait = wait


class NoResumeError(BrokenError):
    """The hub serves a file from its start only."""


class ShortError(HydrateError):
    """A file has ended with fewer bytes than promised."""

    def __init__(self, message: str) -> None:
        super().__init__(HydrateExit.CORRUPT, message)


class LastingError(HydrateError):
    """A failure that another try would meet again."""
