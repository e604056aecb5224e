"""Runs composition functions as local processes on free loopback ports, each started when it is first asked for."""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from ports import free_port, listens

#: Seconds that a function may take until it listens, and then to stop.
START = 30.0
STOP = 10.0

#: The `modelplane` command of the environment that runs this.
MODELPLANE = Path(sys.executable).with_name("modelplane")


class StartError(Exception):
    """A function did not come up; the text ends with what it said."""


def serve_command(name: str, address: str) -> list[str]:
    """Return the command that serves one of our functions ("schedule"); the Compositions' prefix is left away."""
    return [str(MODELPLANE), "serve", name.removeprefix("modelplane-"), "--insecure", "--address", address]


@dataclass(slots=True)
class Functions:
    """Functions that run until this is closed. `command` gives the command line from a function's name and address."""

    logs: Path
    command: Callable[[str, str], Sequence[str]] = serve_command
    _running: dict[str, tuple[str, subprocess.Popen[bytes]]] = field(default_factory=dict)

    def address(self, name: str) -> str:
        """Return the address of a function that listens, started unless it runs. Raises StartError."""
        if name not in self._running:
            address = f"127.0.0.1:{free_port()}"
            with (self.logs / f"{name}.log").open("wb") as log:
                process = subprocess.Popen(
                    self.command(name, address), stdout=log, stderr=log, stdin=subprocess.DEVNULL
                )
            self._running[name] = (address, process)
            self._wait(name)
        return self._running[name][0]

    def close(self) -> None:
        """Stop every function, by force where it does not stop by itself."""
        for _, process in self._running.values():
            process.terminate()
        for _, process in self._running.values():
            try:
                process.wait(STOP)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()

    def __enter__(self) -> "Functions":
        """Return this; leaving stops everything."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop every function."""
        self.close()

    def _wait(self, name: str) -> None:
        address, process = self._running[name]
        port = int(address.rpartition(":")[2])
        deadline = time.monotonic() + START
        while time.monotonic() < deadline and process.poll() is None:
            if listens(port):
                return
            time.sleep(0.05)
        said = (self.logs / f"{name}.log").read_text(errors="replace").strip()
        raise StartError(f"{name} did not listen on {address}: {said}")
