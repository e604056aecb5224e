"""kubectl's proxy on a socket that only its user can open, and that ends with the process that started it."""

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from modelplane.live.errors import KubectlError
from modelplane.live.kubectl import Kubectl

#: The kernel ends the proxy when the thread that started it ends, however that ends. A proxy that stayed would give the
#: user's rights to whoever opens the socket.
_END_WITH_US = ("setpriv", "--pdeathsig", "TERM", "--")
#: Seconds that the proxy has to end after SIGTERM.
_PATIENCE = 5.0
#: How a line of the proxy's own log begins; all others are words of a credential plugin.
_LOG = re.compile(r"[IWEF]\d{4} \d\d:\d\d:\d\d")


@dataclass(slots=True)
class _Words:
    """What a proxy has written to standard error, line by line; `shown`: words of plugins are printed as they come."""

    lines: list[str] = field(default_factory=list)
    shown: bool = False

    def follow(self, stream: IO[str]) -> None:
        """Keep all lines of a stream until it ends."""
        for line in stream:
            self.lines.append(line.rstrip("\n"))
            if self.shown and not _LOG.match(line):
                # Some plugins say here where to log in.
                sys.stderr.write(line)
                sys.stderr.flush()


def can_end_with_us() -> bool:
    """Tell whether a process can be made to end with this one, however this one ends."""
    return sys.platform == "linux" and shutil.which(_END_WITH_US[0]) is not None


@contextlib.contextmanager
def serve_proxy(kubectl: Kubectl) -> Iterator[Path]:
    """Run a proxy, and yield its socket; it ends with the context.

    Raises KubectlError with all that kubectl says if it does not start.
    """
    with tempfile.TemporaryDirectory(prefix="modelplane-") as folder:  # mode 0700
        socket = Path(folder) / "api"
        command = [*_END_WITH_US, *kubectl.command("proxy", f"--unix-socket={socket}")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603
            words = _Words()
            follower = threading.Thread(target=words.follow, args=(process.stderr,), daemon=True)
            follower.start()
            try:
                # It prints a line once it listens.
                if process.stdout is None or not process.stdout.readline():
                    process.wait()
                    follower.join(_PATIENCE)
                    raise KubectlError("\n".join(words.lines) or "kubectl proxy ended without a word")
                words.shown = True
                yield socket
            finally:
                _end(process)
                follower.join(_PATIENCE)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
