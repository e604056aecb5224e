"""Runs composition functions as local processes on free loopback ports, each started when it is first asked for."""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from modelplane_dev.processes.ports import free_port, listens
from modelplane_dev.processes.process import Process

#: The `modelplane` command of the environment that runs this.
MODELPLANE = Path(sys.executable).with_name("modelplane")


def serve_command(name: str, address: str) -> list[str]:
    """Return the command that serves one of our functions, which is named without the prefix of the Compositions."""
    return [str(MODELPLANE), "serve", name.removeprefix("modelplane-"), "--insecure", "--address", address]


@dataclass(slots=True)
class Functions:
    """Functions that run until this is closed. `command` gives the command line from a function's name and address."""

    logs: Path
    command: Callable[[str, str], Sequence[str]] = serve_command
    _addresses: dict[str, str] = field(default_factory=dict)
    _running: ExitStack = field(default_factory=ExitStack)

    def address(self, name: str) -> str:
        """Return the address at which a function listens; it is started if it does not run. Raises ProcessError."""
        if name not in self._addresses:
            port = free_port()
            address = f"127.0.0.1:{port}"
            process = self._running.enter_context(Process(name, self.logs, self.command(name, address)))
            process.wait_for(lambda: listens(port))
            self._addresses[name] = address
        return self._addresses[name]

    def __enter__(self) -> Self:
        """Return this; leaving stops everything."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Stop every function."""
        self._running.close()
