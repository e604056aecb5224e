"""What a scheduling pass has decided and why, replica by replica and cluster by cluster, for the log."""

from typing import Any

from modelplane.model.placement import Placement, Schedule, Stamp
from modelplane.scheduling.words import word, word_choice


def describe_decision(schedule: Schedule) -> dict[str, Any]:
    """Return what happens to each replica, by cluster and index, and why each other cluster takes none."""
    ending = {f"{end.replica.cluster}/{end.replica.name}": f"ends: {end.cause}" for end in schedule.ending}
    return {
        "unplaced": schedule.unplaced,
        "replicas": {f"{each.cluster}/{each.index}": _describe(each) for each in schedule.placements} | ending,
        "refused": {
            profile: {cluster: f"{found.reason}: {word(found)}" for cluster, found in refused.items()}
            for profile, refused in (schedule.profile_refusals or {"": schedule.refusals}).items()
        },
    }


def _describe(placement: Placement) -> str:
    if placement.replica is None:
        return f"new: {word_choice(placement)}"
    leaves = "leaves" if placement.leaving else ""
    does = {Stamp.HOLD: "held", Stamp.REVERT: "reverted", Stamp.APPLY: "as asked"}[placement.stamp]
    return ": ".join(filter(None, (leaves or does, placement.why)))
