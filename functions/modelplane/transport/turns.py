"""Long computations take turns: one at a time, and the namespaces one after the other.

Python computes one call at a time and switches between them every few milliseconds, so that each additional long call
makes every short one wait longer. What a call will take is not known before; it reports when it turns out to be long.
"""

import threading
from collections import OrderedDict, deque
from concurrent.futures import Future
from typing import Final

#: Most calls of one namespace that wait for a turn, and most of all. Each holds a thread and its request.
EACH: Final = 8
MOST: Final = 32


class Turns:
    """The turns of one server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._taken = False
        self._waiting: OrderedDict[str, deque[Future[bool]]] = OrderedDict()

    def take(self, namespace: str) -> bool:
        """Wait for a turn, to be given back; False if too many calls wait, and this one should end instead."""
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            line = self._waiting.get(namespace, deque())
            if len(line) >= EACH or sum(map(len, self._waiting.values())) >= MOST:
                return False
            turn: Future[bool] = Future()
            line.append(turn)
            self._waiting[namespace] = line
        return turn.result()

    def give(self) -> None:
        """End a turn: the next one is that of the namespace whose last turn is longest ago."""
        with self._lock:
            if not self._waiting:
                self._taken = False
                return
            namespace, line = self._waiting.popitem(last=False)
            turn = line.popleft()
            if line:
                self._waiting[namespace] = line
        turn.set_result(True)
