"""Function servers as processes of their own, on free loopback ports, always stopped again."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[3]
#: Seconds within which a server must listen and answer: a busy machine may stand still for many of them.
PATIENCE = 120.0
#: Seconds that Kubernetes gives a process that is asked to stop.
STOP = 30.0


@dataclass(frozen=True)
class Server:
    """A server that listens on 127.0.0.1:`port`; `log` is the file it logs to."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def address(self) -> str:
        return f"localhost:{self.port}"

    def logged(self) -> list[dict[str, Any]]:
        """Return what was logged so far."""
        return [json.loads(line) for line in _lines(self.log) if line.startswith("{")]

    def stop(self) -> int:
        """Stop it as Kubernetes does, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP)


@contextmanager
def server_of(arguments: Sequence[str], **environment: str) -> Iterator[Server]:
    """Run `python ARGUMENTS...`, which must log on which port it listens, and stop it at the end."""
    paths = os.pathsep.join(str(_ROOT / folder) for folder in ("functions", "tests"))
    with tempfile.NamedTemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stderr=log.fileno(),
            env={**os.environ, "PYTHONPATH": paths, **environment},
        )
        try:
            yield Server(process, _port(process, Path(log.name)), Path(log.name))
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        for line in _lines(log):
            if '"listening"' in line:
                return int(json.loads(line)["port"])
        time.sleep(0.02)
    raise AssertionError(f"no server listens: {log.read_text()}")


def _lines(log: Path) -> list[str]:
    """Return the lines of a log that have been written to their ends."""
    return log.read_text().rpartition("\n")[0].splitlines()
