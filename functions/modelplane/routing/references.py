"""What a route may refer to while the objects of its service are being made and removed.

A reference to a Backend that does not exist makes the gateway answer its share of the requests with 500.
"""

from collections.abc import Container, Sequence

from modelplane.model.routing import BackendReference


def referable(
    wanted: Sequence[BackendReference], routed: Sequence[BackendReference], observed: Container[str]
) -> tuple[BackendReference, ...]:
    """Return the Backends that a route refers to in this pass, all of them `observed` ones.

    Until all that are wanted exist it refers to what it did (`routed`), and to those of the wanted that exist where
    nothing of that is left.
    """
    ready = tuple(each for each in wanted if each.name in observed)
    if len(ready) == len(wanted):
        return ready
    return tuple(each for each in routed if each.name in observed) or ready
