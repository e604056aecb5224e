"""Which namespaces of teams on an inference cluster are closed by a NetworkPolicy.

With NewNamespaces those are that Modelplane makes from then on. Whether it made one is told by a label that is written
with the creation alone, and read back: an Object that creates, and does not update, leaves a namespace that is there
unlabelled, whoever made it. All Objects of one namespace read the same label, and so want the same.
"""

from modelplane.model.fleet import Isolation, Mark, Walls
from modelplane.model.names import LABEL_ISOLATED
from modelplane.observed.fields import mapping
from modelplane.observed.remote import Remote


def read_mark(seen: Remote | None) -> Mark:
    """Return the mark of a namespace as its Object shows it, NONE while it shows none."""
    metadata = mapping(mapping(seen.manifest if seen else None).get("metadata"))
    found = mapping(metadata.get("labels")).get(LABEL_ISOLATED)
    return Mark(found) if found in tuple(Mark) else Mark.NONE


def wanted_mark(walls: Walls, seen: Remote | None) -> Mark:
    """Return the mark that a namespace is to carry: what it was made with stays, whatever is asked for later."""
    if seen is None or seen.manifest is None:
        return Mark.NONE if walls.isolation is Isolation.OPEN else Mark.CREATION
    return read_mark(seen) or (Mark.ENFORCED if walls.isolation is Isolation.ENFORCED else Mark.NONE)


def is_closed(walls: Walls, seen: Remote | None) -> bool:
    """Tell whether a NetworkPolicy closes a namespace."""
    made_closed = walls.isolation is Isolation.NEW_NAMESPACES and read_mark(seen) is Mark.CREATION
    return walls.isolation is Isolation.ENFORCED or made_closed
