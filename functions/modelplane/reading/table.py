"""The objects of one kind, in order and indexed by label, so that a list by labels costs only what it returns."""

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping

from modelplane.reading.tree import Manifest, mapping

#: Namespace ("" for cluster scope) and name.
Place = tuple[str, str]


class Table:
    """Objects by namespace and name. Once a snapshot shares it, writes go to a `copy`."""

    def __init__(self, objects: Mapping[Place, Manifest] | None = None) -> None:
        self._objects = dict(objects or {})
        self._order = sorted(self._objects)
        #: Built at the first list by labels, then kept up to date.
        self._labelled: dict[tuple[str, str], set[Place]] | None = None

    def copy(self) -> "Table":
        """Return a writable table of the same objects."""
        return Table(self._objects)

    def get(self, place: Place) -> Manifest | None:
        """Return the stored object at a place, None if there is none."""
        return self._objects.get(place)

    def has_namespace(self, name: str) -> bool:
        """Tell whether any object is in a namespace."""
        at = bisect_left(self._order, (name, ""))
        return at < len(self._order) and self._order[at][0] == name

    def __iter__(self) -> Iterator[Manifest]:
        """Yield the stored objects, sorted by namespace and name."""
        return (self._objects[place] for place in tuple(self._order))

    def labelled(self, labels: Mapping[str, str]) -> Iterator[Manifest]:
        """Yield the objects that carry all of these labels (none: every object), sorted by namespace and name."""
        if not labels:
            return iter(self)
        if self._labelled is None:
            self._labelled = {}
            for place, obj in self._objects.items():
                self._label(place, obj)
        index, pairs = self._labelled, labels.items()
        if not all(isinstance(value, str) for value in labels.values()):
            return iter(())
        fewest = min((index.get(pair, set()) for pair in pairs), key=len)
        found = (self._objects[place] for place in sorted(fewest))
        return (obj for obj in found if pairs <= mapping(obj, "metadata", "labels").items())

    def put(self, place: Place, obj: Manifest) -> None:
        """Put an object in a place, replacing the present one."""
        old = self._objects.get(place)
        if old is None:
            insort(self._order, place)
        self._objects[place] = obj
        if self._labelled is not None and (old is None or _labels(old) != _labels(obj)):
            self._unlabel(place, old)
            self._label(place, obj)

    def remove(self, place: Place) -> None:
        """Remove the object at a place."""
        old = self._objects.pop(place)
        del self._order[bisect_left(self._order, place)]
        self._unlabel(place, old)

    def _label(self, place: Place, obj: Manifest) -> None:
        if self._labelled is not None:
            for pair in _labels(obj):
                self._labelled.setdefault(pair, set()).add(place)

    def _unlabel(self, place: Place, obj: Manifest | None) -> None:
        if self._labelled is not None and obj is not None:
            for pair in _labels(obj):
                self._labelled.get(pair, set()).discard(place)


def _labels(obj: Manifest) -> list[tuple[str, str]]:
    # Objects of foreign kinds are not validated, so their labels may have any type.
    return [(key, value) for key, value in mapping(obj, "metadata", "labels").items() if isinstance(value, str)]
