"""Compresses messages that resemble one another: the responses of a fleet's composites.

Two replicas of one structure differ in names and little else. With a response like it as the dictionary, another one
takes a twentieth of its size, and half the time that it takes without; with one of another structure, a sixth. So the
second of two messages that resemble one another, and no dictionary, becomes a dictionary itself. It lasts as long as a
message that needs it is kept. If there is no room for another one, it takes the place of the one with the fewest
messages as soon as more messages have asked for it: these can be read no more, and have to be computed again. Messages
that resemble none, and few that resemble one another, so take nothing from the structures that a fleet has most of.
"""

import threading
import zlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from sys import getrefcount
from typing import Final
from weakref import WeakSet

#: The window of zlib: of a longer dictionary only the end counts.
_WINDOW: Final = 32 * 1024
#: The fastest compression; slower ones save a tenth more.
_FASTEST: Final = 1
#: A shorter message says too little of others to be their dictionary.
_TELLING: Final = 1024
#: A message resembles a dictionary with which it takes one of so many parts of its size.
_ALIKE: Final = 10
#: The most dictionaries, which take 160 KiB each at the most, and so many of its entries by which one is found.
_MOST: Final = 16
_ENTRIES: Final = 1000
#: Two messages without a dictionary resemble one another if they have one of so many parts of their sketches in common.
_SKETCH, _IN_COMMON = 64, 2
#: The most sketches, which take 4 KiB each.
_SKETCHES: Final = 128
#: The byte with which an entry of a map begins in most messages: the tag of its key.
_ENTRY: Final = b"\n"


class Dictionary:
    """The end of a message, and the entries in it by which it is found; `content` is None once it has no place."""

    __slots__ = ("__weakref__", "content", "entries")

    def __init__(self, content: bytes) -> None:
        self.content: bytes | None = content
        self.entries = _entries(content)

    def forget(self) -> None:
        """Free what it takes: messages that need it can be read no more."""
        self.content, self.entries = None, frozenset()


def _entries(content: bytes) -> frozenset[bytes]:
    return frozenset(content.split(_ENTRY, _ENTRIES)[:_ENTRIES])


#: Of messages that are compressed alone.
_NONE: Final = Dictionary(b"")


@dataclass(frozen=True, slots=True)
class Compressed:
    """A compressed message, with the dictionary that it shares with others like it."""

    content: bytes
    dictionary: Dictionary

    def read(self) -> bytes | None:
        """Return the message, None if its dictionary has no place any more."""
        known = self.dictionary.content
        return None if known is None else zlib.decompressobj(zdict=known).decompress(self.content)


class Compressor:
    """Compresses messages by what it learns of them; threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._dictionaries: WeakSet[Dictionary] = WeakSet()
        #: How many messages that resembled no dictionary had one sketch, the latest last.
        self._strangers: OrderedDict[frozenset[int], int] = OrderedDict()

    def compress(self, message: bytes) -> Compressed:
        """Return a message compressed: with the dictionary that it resembles, as one itself, or alone."""
        end = message[-_WINDOW:]
        entries = _entries(end)
        with self._lock:
            known = [(each, each.content, each.entries) for each in self._dictionaries]
        nearest, content, _ = max(known, key=lambda each: len(each[2] & entries), default=(_NONE, b"", entries))
        compressed = _compress(message, nearest, content or b"")
        if content is not None and len(compressed.content) * _ALIKE <= len(message):
            return compressed
        del known, nearest, compressed  # so that only messages refer to a dictionary
        made = None
        if len(message) >= _TELLING:
            with self._lock:
                made = self._learn(end, entries)
        return _compress(message, made, end) if made else _compress(message, _NONE, b"")

    def _learn(self, end: bytes, entries: frozenset[bytes]) -> Dictionary | None:
        """Return a message as a dictionary, None if it is the first of its kind or others are needed more."""
        sketch = frozenset(sorted(map(zlib.crc32, entries))[:_SKETCH])
        alike = max(self._strangers, key=lambda each: len(each & sketch), default=sketch)
        if len(alike & sketch) * _IN_COMMON < len(sketch):
            alike = sketch
        count = self._strangers.pop(alike, 0) + 1
        made = Dictionary(end) if count > 1 and self._has_place(count) else None
        if made:
            self._dictionaries.add(made)
        self._strangers[alike] = 1 if made else count
        if len(self._strangers) > _SKETCHES:
            self._strangers.popitem(last=False)
        return made

    def _has_place(self, asked: int) -> bool:
        """Tell whether there is a place for a dictionary for which so many messages have asked, and make it."""
        if len(self._dictionaries) < _MOST:
            return True
        known = [*self._dictionaries]
        fewest, at = min((count_messages(known, at), at) for at in range(len(known)))
        if fewest >= asked:
            return False
        self._dictionaries.discard(known[at])
        known[at].forget()
        return True


def count_messages(known: Sequence[Dictionary], at: int) -> int:
    """Return how many messages that are kept need the dictionary at a place of a sequence."""
    # The sequence has a reference to it too, and so has the call.
    return getrefcount(known[at]) - 2


def _compress(message: bytes, dictionary: Dictionary, content: bytes) -> Compressed:
    compressing = zlib.compressobj(_FASTEST, zdict=content)
    return Compressed(compressing.compress(message) + compressing.flush(), dictionary)
