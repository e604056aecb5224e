"""How capable the devices are that engines take: by their declared memory, which is all that devices have in common."""

from fractions import Fraction

from modelplane.catalogue import amount, declared_memory
from modelplane.model.fleet import Device
from modelplane.scheduling.charge import entries_of
from modelplane.scheduling.hardware import Layout
from modelplane.scheduling.ledger import Engines


def _memory(device: Device) -> Fraction | None:
    """Return the declared memory of a device, None where it is not known."""
    declared = declared_memory(device)
    return amount(declared) if declared else None


def capability(engines: Engines, where: Layout) -> Fraction | None:
    """Return the memory of all devices that engines take on the pools of a cluster, None where it is not known.

    A claim that devices of different memory satisfy may get either, so what it takes is not known.
    """
    total = Fraction(0)
    for engine in engines:
        for member in engine.members:
            position = where.positions.get(member.pool)
            if position is None or member.whole_nodes:
                return None
            hardware = where.pools[position].hardware
            for claim in member.claims:
                memories = {_memory(hardware.devices[entry]) for entry in entries_of(claim, hardware)}
                memory = memories.pop() if len(memories) == 1 else None
                if memory is None:
                    return None
                total += memory * claim.count * member.pods * engine.copies
    return total
