"""Worlds: how providers, clusters and gateways answer what a control plane composes, from one snapshot to the next.

A world is a function from a View to the statuses that are written after a pass. It may carry `kinds`, the
(apiVersion, kind) pairs that exist on the control cluster besides ours and those of the Configuration's dependencies.
"""

from collections.abc import Callable, Iterable, Iterator

from modelplane.preview.simulation.providers import StatusPatch, answers
from modelplane.preview.store import View

World = Callable[[View], Iterable[StatusPatch]]


def healthy(view: View) -> Iterator[StatusPatch]:
    """Yield what every provider and cluster writes when everything works, for objects without a status of their own."""
    yield from answers(view)
