"""How the harness waits: for its turn on the machine, and for what becomes true in time."""

import contextlib
import socket
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

Found = TypeVar("Found")

#: What a check raises while what it looks for is not there yet: what it asserts, a field that nobody has written, more
#: or fewer objects than it unpacks. Anything else ends the waiting at once.
NOT_YET = (AssertionError, LookupError, StopIteration, ValueError)
#: Seconds from one check to the next, at least and at most, and the share of the time waited so far that lies between.
SOONEST, LATEST, PATIENCE = 0.2, 1.0, 0.05


class PlaneError(Exception):
    """The control planes cannot be started; the text says why."""


@contextlib.contextmanager
def only_one(name: str, *, within: float) -> Iterator[None]:
    """Hold a name that one process on this machine can hold. Raises PlaneError after waiting `within` seconds.

    The name is that of a socket, not of a file: nothing of it remains, however its holder ends, and all users share it.
    """
    deadline = time.monotonic() + within
    with socket.socket(socket.AF_UNIX) as holder:
        while True:
            try:
                holder.bind(f"\0{name}")
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise PlaneError(
                        f"{name} is in use on this machine; `make down` stops what `make up` has started"
                    ) from None
            time.sleep(1)
        yield


def eventually(check: Callable[[], Found], *, within: float, every: float | None = None) -> Found:
    """Return what `check` returns once it raises nothing of `NOT_YET`; after `within` seconds its last one is raised.

    It is checked every `every` seconds. If that is not given, checks become rarer: each costs work, and after a minute
    of waiting a second more does not matter.
    """
    started = time.monotonic()
    while True:
        try:
            return check()
        except NOT_YET:
            waited = time.monotonic() - started
            if waited > within:
                raise
        time.sleep(min(max(SOONEST, waited * PATIENCE), LATEST) if every is None else every)
