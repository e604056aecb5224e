"""Ports of 127.0.0.1 for the processes that tools and tests start."""

import contextlib
import itertools
import random
import socket

#: In random order, and none twice for long: a port that was returned is often not listened on yet. All lie below the
#: ports that the kernel gives to clients: a client could take one of those while the process on it restarts.
_CANDIDATES = itertools.cycle(random.SystemRandom().sample(range(10_000, 32_768), 20_000))


def free_port() -> int:
    """Return a port of 127.0.0.1 on which nothing listens."""
    return next(port for port in _CANDIDATES if _is_free(port))


def listens(port: int) -> bool:
    """Return whether something takes connections on a port of 127.0.0.1."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
