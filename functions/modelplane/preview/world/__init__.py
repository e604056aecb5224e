"""The healthy world: what providers, clusters and gateways would answer when everything works.

One module per kind of actor. An actor is a function from a snapshot to the statuses that it writes; a new one is a new
module and a line in `ACTORS`.
"""

from collections.abc import Callable, Iterator

from modelplane.preview.store import View
from modelplane.preview.tree import Manifest
from modelplane.preview.world import connections, objects, releases

#: A status that an actor writes: kind, namespace, name, and a JSON merge patch.
Told = tuple[str, str | None, str, Manifest]

ACTORS: tuple[Callable[[View], Iterator[Told]], ...] = (connections.play, objects.play, releases.play)


def healthy(view: View) -> Iterator[Told]:
    """Yield what every actor says of the objects that have no status of their own."""
    for act in ACTORS:
        yield from act(view)
