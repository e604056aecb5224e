"""A component as a plain process that never outlives the process that started it."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

#: Seconds that a component may take to start, on a machine that many of them start on at once, and to stop by itself.
START, STOP = 600.0, 5.0
#: The kernel kills the process when the thread that started it ends, however that ends: none is left behind. Set by
#: util-linux before the process begins; Python code between fork and exec may hang where gRPC has threads.
DIE_WITH_PARENT = ("setpriv", "--pdeathsig", "KILL", "--")

#: Settings of Go's garbage collector: it runs a third as often as by default, to spare processors, while memory stays
#: moderate. Only the control cluster's API server, which keeps 400 MiB alive, comes near the limit (with 1 GiB it spent
#: a quarter of its time collecting). The environment takes precedence.
_GO = {"GOGC": "400", "GOMEMLIMIT": "2GiB"}


class ProcessError(Exception):
    """A component did not come up, or ended too early; the text ends with its output."""


@dataclass(slots=True)
class Process:
    """One component: its command and what is added to the environment; it logs into `folder`/`name`.log.

    A context manager: it starts on entering and is stopped on leaving. `start` must be called from a thread that
    lives as long as the process should.
    """

    name: str
    folder: Path
    command: Sequence[str | Path]
    environment: Mapping[str, str | Path] = field(default_factory=dict)
    _running: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        """Return the file that holds the output of the component."""
        return self.folder / f"{self.name}.log"

    @property
    def pid(self) -> int:
        """Return the process id. Raises ProcessError when it was not started."""
        if self._running is None:
            raise ProcessError(f"{self.name} does not run")
        return self._running.pid

    @property
    def alive(self) -> bool:
        """Return whether the component runs."""
        return self._running is not None and self._running.poll() is None

    def start(self) -> None:
        """Start the component; its output is appended to its log."""
        environment = {**_GO, **os.environ, **{key: str(value) for key, value in self.environment.items()}}
        with self.log.open("ab") as log:
            self._running = subprocess.Popen(
                [*DIE_WITH_PARENT, *map(str, self.command)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )

    def stop(self) -> None:
        """Terminate the component, and kill it if it does not end."""
        if self._running is None:
            return
        self._running.terminate()
        try:
            self._running.wait(STOP)
        except subprocess.TimeoutExpired:
            self.kill()
        self._running = None

    def kill(self) -> None:
        """Kill the component, as a crash would end it."""
        if self._running is not None:
            self._running.kill()
            self._running.wait()

    def restart(self) -> None:
        """Stop the component, then start it again with the same command."""
        self.stop()
        self.start()

    def run(self, *, within: float) -> None:
        """Start the component and wait for its end. Raises ProcessError when it fails or takes longer."""
        with self:
            deadline = time.monotonic() + within
            while self.alive and time.monotonic() < deadline:
                time.sleep(0.05)
            if self._running is None or self._running.poll() != 0:
                raise ProcessError(f"{self.name} failed, or took longer than {within:g} s: {self.tail()}")

    def wait_for(self, ready: Callable[[], bool], *, within: float = START) -> None:
        """Wait until `ready` returns true. Raises ProcessError with the end of the log if the component ends before."""
        deadline = time.monotonic() + within
        while not ready():
            if not self.alive or time.monotonic() > deadline:
                raise ProcessError(f"{self.name} is not ready: {self.tail()}")
            time.sleep(0.05)

    def tail(self) -> str:
        """Return the end of the log."""
        return self.log.read_text(errors="replace")[-2000:].strip() if self.log.exists() else ""

    def __enter__(self) -> Self:
        """Start the component."""
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop the component."""
        self.stop()
