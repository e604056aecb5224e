"""The ways to put engines on pools that the searches for room try: one for each distinct group, in order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from modelplane.model.deployment import Engine
from modelplane.model.refusal import Refusal
from modelplane.scheduling.budget import Meter
from modelplane.scheduling.charge import group
from modelplane.scheduling.groups import Demand, Group, size, with_nodes
from modelplane.scheduling.match import Claims, MemberOption
from modelplane.scheduling.pod_slots import count_deviceless

#: States of forming the group of one combination.
_COMBINATION = 4


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Pods of a group that are alike. Options of an engine share the object, which makes look-ups fast."""

    demand: Demand
    pods: int


@dataclass(frozen=True, slots=True, eq=False)
class EngineOption:
    """What the members of an engine can claim on the nodes of a pool, and the group that their pods form there.

    `parts` are the pods of the group that need a node of their own, `size` is their number, and `deviceless` is the
    number of pods that take no device.
    """

    claims: tuple[Claims, ...]
    group: Group
    parts: tuple[Part, ...]
    size: int = field(init=False)
    deviceless: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", size(self.group))
        object.__setattr__(self, "deviceless", count_deviceless(((self.group, 1),) if self.group else ()))

    @property
    def claiming(self) -> tuple[bool, ...]:
        """Return, for each member, whether it claims anything."""
        return tuple(map(bool, self.claims))


@dataclass(frozen=True, slots=True, eq=False)
class EngineWays:
    """The options for an engine on hardware, in order, and which members can claim at all.

    `refusal` is why there are none, with the index of its member; it is not yet completed by the devices.
    """

    options: tuple[EngineOption, ...] = ()
    could_claim: tuple[bool, ...] = ()
    refusal: tuple[int, Refusal] | None = None


class PoolOption(NamedTuple):
    """An option for an engine, on the pool at `position` of the layout."""

    position: int
    option: EngineOption


#: The options for an engine on each pool that has any, in the order in which they are tried.
OptionsByPool = tuple[tuple[int, tuple[EngineOption, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ClusterWays:
    """For each engine of a profile, in order: its options on the pools of a cluster. Equal clusters share the value."""

    by_pool: tuple[OptionsByPool, ...]

    def of(self, at: int) -> Iterator[PoolOption]:
        """Yield the options for an engine in the order in which they are tried."""
        return (PoolOption(position, option) for position, options in self.by_pool[at] for option in options)


def combine(
    engine: Engine, members: Sequence[Sequence[MemberOption]], devices: int, meter: Meter
) -> tuple[EngineOption, ...]:
    """Return the options for an engine, in order; of options with one group and the same claiming members, the first.

    `devices` is the number of device entries of the nodes. Raises OutOfStatesError.
    """
    found: dict[object, EngineOption] = {}
    parts: dict[tuple[Demand, int], Part] = {}
    for chosen in product(*members):
        meter.spend(_COMBINATION)
        pods = ((each.demand, member.pods * engine.copies) for member, each in zip(engine.members, chosen, strict=True))
        formed = group(pods, devices)
        key = formed, tuple([bool(each.claims) for each in chosen])
        if key not in found:
            shared = tuple([parts.setdefault(each, Part(*each)) for each in with_nodes(formed)])
            found[key] = EngineOption(tuple(each.claims for each in chosen), formed, shared)
            meter.check(len(found))
    return tuple(option for option in found.values() if any(option.claiming))


def weigh_ways(found: ClusterWays) -> int:
    """Return about how many bytes the options on a cluster keep alive if nothing else references them."""
    return 500 + 500 * sum(len(each) for by_pool in found.by_pool for _, each in by_pool)
