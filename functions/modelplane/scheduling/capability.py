"""How capable the devices are that engines take: by their declared memory, which is all that devices have in common."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from modelplane.catalogue import amount, declared_memory
from modelplane.model.fleet import Device
from modelplane.scheduling.charge import entries_of
from modelplane.scheduling.hardware import Layout
from modelplane.scheduling.ledger import Engines


def _memory(devices: Sequence[Device]) -> str | None:
    """Return the declared memory of devices that all have the same, as one of them writes it; None for others."""
    found = {declared_memory(device) or "" for device in devices}
    alike = len(found) == 1 or len(set(map(amount, found))) == 1
    text = min(found) if alike else ""
    return text if amount(text) is not None else None


def capability(engines: Engines, where: Layout) -> Fraction | None:
    """Return the memory of all devices that engines take on the pools of a cluster, None where it is not known.

    A claim that devices of different memory satisfy may get either, so what it takes is not known.
    """
    taken: Counter[str] = Counter()
    for engine in engines:
        for member in engine.members:
            position = where.positions.get(member.pool)
            if position is None or member.whole_nodes:
                return None
            hardware = where.pools[position].hardware
            for claim in member.claims:
                memory = _memory([hardware.devices[entry] for entry in entries_of(claim, hardware)])
                if memory is None:
                    return None
                taken[memory] += claim.count * member.pods * engine.copies
    # Counted as whole devices first: adding fractions takes longer than all the rest.
    amounts = ((amount(memory), count) for memory, count in taken.items())
    return sum((each * count for each, count in amounts if each is not None), Fraction(0))
