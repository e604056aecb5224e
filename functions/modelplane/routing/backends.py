"""How the endpoints of a service's entries become Backends with weights, and which Backends its route refers to.

A Backend holds at most 256 endpoints, a rule of an HTTPRoute at most 16 Backends. Envoy makes one cluster of a rule,
with a locality for each Backend: the weight is the locality's, and its endpoints share it evenly.
"""

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Final

from modelplane.model.routing import Address, BackendPlan, BackendReference, ServiceEntry

#: Most endpoints of a Backend, Backends of a rule, and weight of one of them.
ENDPOINT_LIMIT: Final = 256
BACKEND_LIMIT: Final = 16
WEIGHT_LIMIT: Final = 1_000_000

#: The addresses of one entry, in order.
Addresses = tuple[Address, ...]


@dataclass(frozen=True, slots=True)
class Backends:
    """The Backends of a service. `left_out` counts, by the entry's key, the endpoints that do not fit into them."""

    plans: tuple[BackendPlan, ...]
    left_out: dict[str, int]


def plan_backends(entries: Sequence[ServiceEntry], listed: Sequence[Addresses]) -> Backends:
    """Return the Backends for the addresses that each entry lists; an entry that lists none has none.

    Each entry has one Backend, or two where only some of its endpoints are reached by mutual TLS. The rest of the 16
    goes to entries of more than 256 endpoints, in their order. The parts of such an entry differ in size by at most
    one, and share its weight by size. Without an entry of the primary tier, the fallback tier becomes the primary one.
    """
    groups = [(entry, _by_security(addresses)) for entry, addresses in zip(entries, listed, strict=True)]
    # The second groups come last, so that each entry keeps one Backend if there is no room for all.
    present = [(entry, of[number]) for number in range(2) for entry, of in groups if len(of) > number]
    split = list(zip((entry for entry, _ in present), _split([addresses for _, addresses in present]), strict=True))
    sizes: Counter[str] = Counter()
    for entry, parts in split:
        sizes[entry.key] += sum(map(len, parts))
    tiered = any(entry.priority == 0 and parts for entry, parts in split)
    planned = [(entry, number, part) for entry, parts in split for number, part in enumerate(parts)]
    weights = _whole([Fraction(entry.weight * len(part), sizes[entry.key]) for entry, _, part in planned])
    plans = tuple(
        _plan(entry, number, part, weight, fallback=tiered and entry.priority > 0)
        for (entry, number, part), weight in zip(planned, weights, strict=True)
    )
    missing: Counter[str] = Counter()
    for entry, addresses in zip(entries, listed, strict=True):
        missing[entry.key] += len(addresses)
    return Backends(plans, dict(missing - sizes))


def _by_security(addresses: Addresses) -> list[Addresses]:
    """Return the endpoints divided into plain HTTP and mutual TLS, because TLS is set for a whole Backend."""
    groups = (tuple(each for each in addresses if each.mutual_tls is secured) for secured in (False, True))
    return [group for group in groups if group]


def _plan(entry: ServiceEntry, number: int, part: Addresses, weight: int, *, fallback: bool) -> BackendPlan:
    """Return the plan of a Backend, whose key includes its hop (plain or TLS) and its tier.

    So a Backend never changes its hop or tier: the route switches from one Backend to another in one write. A Backend
    that changed its tier would be the only fallback, or share the requests of the first tier, until that write.
    """
    prefix = f"{'tls-' if part[0].mutual_tls else ''}{'fallback-' if fallback else ''}"
    return BackendPlan(f"{prefix}{entry.key}-{number}", part, weight, fallback=fallback)


def _split(listed: Sequence[Addresses]) -> list[list[Addresses]]:
    """Return the parts of each entry that fit into the Backends of one rule."""
    spare = max(0, BACKEND_LIMIT - len(listed))
    parts = []
    for number, addresses in enumerate(listed):
        more = min(-(-len(addresses) // ENDPOINT_LIMIT) - 1, spare)
        spare -= more
        count = more + 1 if number < BACKEND_LIMIT else 0
        kept = addresses[: count * ENDPOINT_LIMIT]
        parts.append([kept[part::count] for part in range(count)])
    return parts


def _whole(shares: Sequence[Fraction]) -> list[int]:
    """Return shares as integer weights: multiplied by one factor, and rounded only if the largest exceeds the limit."""
    factor = Fraction(lcm(*(share.denominator for share in shares)))
    largest = max(shares, default=Fraction(1)) * factor
    if largest > WEIGHT_LIMIT:
        factor *= WEIGHT_LIMIT / largest
    return [max(1, round(share * factor)) for share in shares]


def referable(
    wanted: Sequence[BackendReference], routed: Sequence[BackendReference], observed: Container[str]
) -> tuple[BackendReference, ...]:
    """Return the Backends that a route may refer to in this pass; all of them are `observed`.

    A reference to a Backend that does not exist makes the gateway answer its share of the requests with 500. So the
    route keeps its present references (`routed`) until all wanted Backends exist, or those of the wanted ones that
    exist if none of the present ones is left.
    """
    ready = tuple(each for each in wanted if each.name in observed)
    if len(ready) == len(wanted):
        return ready
    return tuple(each for each in routed if each.name in observed) or ready
