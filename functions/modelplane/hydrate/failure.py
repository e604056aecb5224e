"""How a download can end before all is there.

HydrateError
    BrokenError     may succeed on another try
      NoResumeError   from the start only
    ShortError      a file ends before it has the size that was promised
    LastingError    does not, until the cache, the repository or the volume is changed
"""

from modelplane.model.staging import HydrateExit


class HydrateError(Exception):
    """The end of a run that has not staged everything; `exit_code` is what the program ends with."""

    def __init__(self, exit_code: HydrateExit, message: str) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class BrokenError(HydrateError):
    """Something that happens now and then. `wait`: seconds that the hub asks to wait, None when it does not say."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(HydrateExit.AGAIN, message)
        self.wait = wait


class NoResumeError(BrokenError):
    """The hub gives a file from its start only."""


class ShortError(HydrateError):
    """There are no more bytes of a file, and fewer than were promised."""

    def __init__(self, message: str) -> None:
        super().__init__(HydrateExit.CORRUPT, message)


class LastingError(HydrateError):
    """Something that another try meets again."""
