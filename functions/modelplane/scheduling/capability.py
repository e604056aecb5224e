"""How capable the devices of engines are, measured by declared memory, the one capacity that all devices have."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from modelplane.catalogue import amount, declared_memory
from modelplane.model.fleet import Device
from modelplane.scheduling.charge import entries_of
from modelplane.scheduling.hardware import Layout
from modelplane.scheduling.ledger import Engines


def _memory(devices: Sequence[Device]) -> str | None:
    """Return the declared memory of devices that all have the same, as one of them writes it; None if they differ."""
    found = {declared_memory(device) or "" for device in devices}
    alike = len(found) == 1 or len(set(map(amount, found))) == 1
    text = min(found) if alike else ""
    return text if amount(text) is not None else None


def capability(engines: Engines, where: Layout) -> Fraction | None:
    """Return the total memory, in bytes, of the devices that engines take on a cluster, None where it is not known.

    It is not known of a claim that devices of different memory satisfy: it may get either.
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
    # Devices are counted first, because adding fractions is slow.
    amounts = ((amount(memory), count) for memory, count in taken.items())
    return sum((each * count for each, count in amounts if each is not None), Fraction(0))
