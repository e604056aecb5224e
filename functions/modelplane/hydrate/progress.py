"""Logs the progress of a download: bytes, rate and remaining time."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def readable(size: float) -> str:
    """Return a number of bytes with its unit."""
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.0f} {_UNITS[unit]}" if unit < 2 else f"{size:.1f} {_UNITS[unit]}"


@dataclass(slots=True)
class Progress:
    """Counts bytes of `total`; `say` gets a line at most every `every` seconds. Threads may share it."""

    total: int
    say: Callable[[str], None]
    every: float = 10
    there: int = 0
    _came: int = 0
    _began: float = field(default_factory=time.monotonic)
    _last: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def found(self, size: int) -> None:
        """Count bytes that are already on the volume (subtract them if `size` is negative); log if it is time."""
        with self._lock:
            self.there += size
            self._tell()

    def came(self, size: int) -> None:
        """Count received bytes; log if it is time."""
        with self._lock:
            self.there += size
            self._came += size
            self._tell()

    def _tell(self) -> None:
        now = time.monotonic()
        if now - self._last >= self.every:
            self._last = now
            self.say(self._line(now))

    def _line(self, now: float) -> str:
        rate = self._came / max(now - self._began, 1e-9)
        left = f"{(self.total - self.there) / rate:.0f} s left" if rate else "no estimate"
        share = 100 * self.there / self.total if self.total else 100
        return f"{readable(self.there)} of {readable(self.total)} ({share:.0f} %), {readable(rate)}/s, {left}"
