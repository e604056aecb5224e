"""The text of a placement: why it is on this cluster and these pools, as they were ranked when it was placed."""

from collections.abc import Iterator
from typing import Final

from modelplane.model.placement import Placement
from modelplane.model.rank import Choice, Rank
from modelplane.scheduling.words.wording import count, quote

#: Most characters of the text, by the XRD.
MOST: Final = 256
_GIB: Final = 1 << 30


def word_choice(placement: Placement) -> str:
    """Return why a new replica was placed on its cluster: what decided against the next one, and figures.

    It is "" for a replica that exists.
    """
    if placement.choice is None:
        return ""
    best, second, profiles, of_all = placement.choice
    if second is not None:
        parts = [f"before {second.cluster}: {next(_differences(placement.choice, second))}"]
    else:
        parts = ["the only candidate that takes it"] if of_all else []
    if len(profiles) > 1:
        parts.append(f"profile {profiles[best.profile]} ({best.profile + 1} of {len(profiles)})")
    pools = list(dict.fromkeys(engine.pool for engine in placement.engines))
    parts.append(f"{'pool' if len(pools) == 1 else 'pools'} {', '.join(pools)}, first in order with room")
    parts.append(f"{count(best.present, 'other replica')} of the deployment there")
    parts.append(f"{_size(best)} of device memory")
    if best.no_room:
        parts.append(f"room for {count(-best.no_room, 'replica')}")
    return quote("; ".join(parts), MOST)


def _differences(choice: Choice, second: Rank) -> Iterator[str]:
    """Yield the criteria by which the best is before the next one, in the order of the rank."""
    best = choice.best
    if best.full != second.full:
        yield "that one was full when it was last read"
    if best.profile != second.profile:
        yield f"a better profile than {choice.profiles[second.profile]}"
    if best.part != second.part:
        yield "no gang could use a node of it whole"
    if best.present != second.present:
        yield f"fewer replicas of the deployment, {best.present} against {second.present}"
    if best.capable != second.capable:
        yield f"smaller devices that suffice, {_size(best)} against {_size(second)}"
    if best.no_room != second.no_room:
        yield f"more room, for {-best.no_room} against {-second.no_room}"
    yield "alike, and first by a hash of the names"


def _size(rank: Rank) -> str:
    """Return the memory of the devices that a replica takes, in GiB."""
    unknown, memory = rank.capable
    return "an unknown amount" if unknown else f"{float(memory) / _GIB:.4g}Gi"
