"""A process that runs in the background until another command ends it."""

import contextlib
import fcntl
import os
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Seconds that it may take to end by itself.
STOP = 60.0
#: The file descriptor by which it holds its lock.
_LOCK = 3


@dataclass(frozen=True, slots=True)
class Background:
    """A command that runs until SIGTERM and writes a file `ready` once it is; all its files are in `folder`."""

    folder: Path
    command: Sequence[str]

    @property
    def ready(self) -> Path:
        """Return the file that the command writes."""
        return self.folder / "ready"

    @property
    def log(self) -> Path:
        """Return the file that holds the output of the command."""
        return self.folder / "log"

    @property
    def running(self) -> bool:
        """Return whether it runs, whichever process started it."""
        return self._pid() is not None

    def start(self) -> None:
        """Start the command in an empty folder; nothing of an earlier one stays."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        with self.log.open("wb") as log, self._number.open("w") as number, open(os.devnull) as nothing:  # noqa: PTH123
            # It holds the lock as long as it lives. A process id is not enough: another process may have it by then.
            fcntl.flock(number, fcntl.LOCK_EX)
            given = {0: nothing.fileno(), 1: log.fileno(), 2: log.fileno(), _LOCK: number.fileno()}
            files = [(os.POSIX_SPAWN_DUP2, mine, its) for its, mine in given.items()]
            # No Popen: it would have to be waited for, and this outlives the process that starts it.
            pid = os.posix_spawn(self.command[0], [*self.command], os.environ, file_actions=files, setsid=True)
            number.write(str(pid))

    def wait(self, *, within: float) -> bool:
        """Return whether it is ready; False when it has ended, or takes longer."""
        return _within(within, lambda: self.ready.exists() or not self.running) and self.running

    def stop(self) -> None:
        """Terminate it, and kill it if it does not end by itself. The log stays."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if pid := self._pid():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)
            if _within(STOP, lambda: not self.running):
                break
        self._number.unlink(missing_ok=True)

    @property
    def _number(self) -> Path:
        return self.folder / "pid"

    def _pid(self) -> int | None:
        """Return the process id, None when it has ended."""
        if not self._number.exists():
            return None
        with self._number.open() as number:
            try:
                fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(number.read())
        return None


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Wait until something holds; return whether it did in time."""
    deadline = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return held
