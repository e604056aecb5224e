"""The text of a placement: why it is on this cluster and these pools, as they were ranked when it was placed."""

from collections.abc import Sequence
from typing import Final

from modelplane.model.rank import Rank
from modelplane.model.replica import StampedEngine
from modelplane.scheduling.words.wording import count, quote

#: Most characters of the text, by the XRD.
MOST: Final = 256
_GIB: Final = 1 << 30


def word_choice(
    best: Rank, second: Rank | None, profiles: Sequence[str], engines: Sequence[StampedEngine], *, of_all: bool
) -> str:
    """Return why a replica was placed on the cluster of the best rank: what decided against the next one, and figures.

    `second` is the rank of the next cluster, None if no other takes the replica; `of_all`: all candidates were ranked,
    not only those that were read. `profiles` are the names of the deployment's profiles, in order.
    """
    if second is not None:
        parts = [f"before {second.cluster}: {_decisive(best, second, profiles)}"]
    else:
        parts = ["the only candidate that takes it"] if of_all else []
    if len(profiles) > 1:
        parts.append(f"profile {profiles[best.profile]} ({best.profile + 1} of {len(profiles)})")
    pools = list(dict.fromkeys(engine.pool for engine in engines))
    parts.append(f"{'pool' if len(pools) == 1 else 'pools'} {', '.join(pools)}, first in order with room")
    parts.append(f"{count(best.present, 'other replica')} of the deployment there")
    parts.append(f"{_size(best)} of device memory")
    if best.no_room:
        parts.append(f"room for {count(-best.no_room, 'replica')}")
    return quote("; ".join(parts), MOST)


def _decisive(best: Rank, second: Rank, profiles: Sequence[str]) -> str:
    """Return the first criterion, in the order of the rank, by which the best is before the next one."""
    criteria = (
        (best.full != second.full, "that one was full when it was last read"),
        (
            best.profile != second.profile,
            f"a better profile than {profiles[second.profile]}",
        ),
        (best.part != second.part, "no gang could use a node of it whole"),
        (best.present != second.present, f"fewer replicas of the deployment, {best.present} against {second.present}"),
        (best.capable != second.capable, f"smaller devices that suffice, {_size(best)} against {_size(second)}"),
        (best.no_room != second.no_room, f"more room, for {-best.no_room} against {-second.no_room}"),
        (True, "alike, and first by a hash of the names"),
    )
    return next(text for differs, text in criteria if differs)


def _size(rank: Rank) -> str:
    """Return the memory of the devices that a replica takes, in GiB."""
    unknown, memory = rank.capable
    return "an unknown amount" if unknown else f"{float(memory / _GIB):.4g}Gi"
