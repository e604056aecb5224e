"""What a selector reads of a device: everything that its verdict can depend on, and so the cache key of a verdict.

`device.attributes["gpu.nvidia.com"].memory` reads one attribute. An expression that uses the attributes or capacities
in any other way (`"x" in device.attributes`, a computed key, a variable) counts as reading everything.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from modelplane.cel.devices import problems, qualified
from modelplane.cel.syntax import Ident, Index, Literal, Node, Select
from modelplane.model.fleet import ClaimKind, Device

#: An attribute or a capacity: `attributes` or `capacity`, its domain and its identifier.
Name = tuple[str, str, str]
#: What is read besides driver and allowMultipleAllocations, which always count as read; None for everything.
Reads = frozenset[Name] | None

_SCALARS = frozenset({"driver", "allowMultipleAllocations"})


def reads(root: Node) -> Reads:
    """Return what an expression reads of a device."""
    found = set()
    for name in _names(root):
        if name is None:
            return None
        found.add(name)
    return frozenset(found)


def _names(node: Node) -> Iterator[Name | None]:
    """Yield the attributes and capacities that an expression names, None where it may read any."""
    steps: list[Select | Index] = []
    current = node
    while isinstance(current, Select | Index):
        steps.insert(0, current)
        current = current.operand
    if isinstance(current, Ident) and current.name == "device":
        yield from _named_by(steps)
    elif steps:
        yield from _names(current)
    for each in [step.key for step in steps if isinstance(step, Index)] if steps else list(_children(node)):
        yield from _names(each)


def _named_by(steps: list[Select | Index]) -> Iterator[Name | None]:
    keys = [step.field if isinstance(step, Select) else _constant(step.key) for step in steps[:3]]
    if keys and keys[0] in _SCALARS:
        return
    where, domain, name = (*keys, None, None, None)[:3]
    plain = not any(step.optional for step in steps[:2])
    yield (where, domain, name) if plain and where and domain and name else None


def _constant(key: Node) -> str | None:
    return key.value if isinstance(key, Literal) and type(key.value) is str else None


def _children(node: Node) -> Iterator[Node]:
    """Yield the child nodes of a node."""
    level = [getattr(node, name) for name in type(node).__match_args__]
    while level:
        each = level.pop()
        if isinstance(each, Node):
            yield each
        elif isinstance(each, tuple):
            level += each


def seen(device: Device, of: Reads) -> Device:
    """Return a device reduced to what a selector with these reads can distinguish."""
    only = narrowed(device, lambda name: of is None or name in of)
    return only if only is device else replace(only, name="", device_class=None, count=1, claim=ClaimKind.DRA)


def narrowed(device: Device, keep: Callable[[Name], bool]) -> Device:
    """Return a device with only the attributes and capacities that `keep` accepts.

    A device with problems is returned unchanged: every selector is an error on it.
    """
    if problems(device):
        return device
    return replace(
        device,
        attributes=tuple(
            each for each in device.attributes if keep(("attributes", *qualified(device.driver, each.name)))
        ),
        capacity=tuple(each for each in device.capacity if keep(("capacity", *qualified(device.driver, each[0])))),
    )
