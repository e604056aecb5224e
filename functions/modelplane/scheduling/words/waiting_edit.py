"""Explains why an edit waits: which candidates can take no replica with it beside those that serve, and what to do."""

from typing import Final

from modelplane.model.deployment import Deployment
from modelplane.model.placement import Rolling, Schedule
from modelplane.model.refusal import NoRoom
from modelplane.scheduling.words.report import join_capped
from modelplane.scheduling.words.tally import tally
from modelplane.scheduling.words.wording import remedy_of, with_remedy

#: Characters of the candidates' reasons.
_REASONS: Final = 500


def word_no_room(rolling: Rolling, schedule: Schedule, deployment: Deployment) -> str:
    """Return why no candidate takes a replica with the edit, each reason by name, and what to do.

    "" where that is not known. Nodes that become free help only if a candidate has the devices that the edit requests.
    """
    refusals = next(iter(rolling.refusals.values()), {})
    counted = tally(refusals, {}, deployment)
    entries = [f"{each.reason}: {each.count} {each.message}" for each in counted]
    larger = max(0, (schedule.candidates or 0) - len(refusals))
    entries += [f"{larger} with room only on more capable devices than the replica has"] if larger else []
    if not entries:
        return ""
    why = join_capped(entries, "; ", _REASONS)
    if larger or any(isinstance(each, NoRoom) for each in refusals.values()):
        remedy = "free nodes for one"
    else:
        found = remedy_of(with_remedy(refusals.values()))
        remedy = found[0].lower() + found[1:].rstrip(".")
    return f"no cluster can take a replica with the edit beside the ones that serve ({why}): {remedy}"
