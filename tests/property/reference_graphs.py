"""Resources that refer to one another, as a composite wants them at one time after the other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import strategies as st

from modelplane.step import Object

#: The most resources of a composite.
_MOST: Final = 6


@dataclass(frozen=True)
class Part:
    """A resource: `names` are those that its content names, `version` other content that may change."""

    names: frozenset[int] = frozenset()
    version: int = 0


#: A wanted state: each resource by its number.
Graph = Mapping[int, Part]


def _closed(parts: dict[int, Part]) -> dict[int, Part]:
    """Return a graph in which every resource that is named is wanted too; one names only those of a lower number."""
    return {
        at: Part(frozenset(n for n in part.names if n < at and n in parts), part.version) for at, part in parts.items()
    }


_parts = st.builds(Part, st.frozensets(st.integers(0, _MOST - 1), max_size=3), st.integers(0, 1))
graphs = st.dictionaries(st.integers(0, _MOST - 1), _parts, max_size=_MOST).map(_closed)
#: Which resources must exist before another one that does not name them: of each number, lower ones.
silent_needs = st.dictionaries(st.integers(0, _MOST - 1), st.frozensets(st.integers(0, _MOST - 1), max_size=2)).map(
    lambda needs: {at: frozenset(each for each in of if each < at) for at, of in needs.items()}
)


def resource(at: int) -> str:
    """Return the composition resource name of a number; that of the object on the API server is another."""
    return f"part-{at}"


def manifest(at: int, part: Part) -> dict[str, Any]:
    """Return a resource: what it refers to, and beside that what is no reference to another part."""
    named = [{"name": f"object-{each}"} | ({"kind": "Part"} if each % 2 else {}) for each in sorted(part.names)]
    spec = {"version": part.version, "deep": [{"refs": each} for each in named]}
    others = {"targetRefs": [{"name": f"object-{each}"} for each in range(_MOST)], "itself": {"name": f"object-{at}"}}
    others |= {"another": {"kind": "Other", "name": f"object-{(at + 1) % _MOST}"}}
    return {"apiVersion": "v1", "kind": "Part", "metadata": {"name": f"object-{at}"}, "spec": {**spec, **others}}


@dataclass
class World:
    """An API server with the objects of one composite."""

    store: dict[str, dict[str, Any]] = field(default_factory=dict)

    def observed(self) -> dict[str, Object]:
        """Return what a pass observes."""
        return {name: Object(body, object()) for name, body in self.store.items()}

    def dangling(self) -> set[tuple[str, str]]:
        """Return (object, name) of each name in an object's content that no object has."""
        there = {body["metadata"]["name"] for body in self.store.values()}
        named = {
            (body["metadata"]["name"], each["refs"]["name"])
            for body in self.store.values()
            for each in body["spec"]["deep"]
        }
        return {(name, each) for name, each in named if each not in there}
