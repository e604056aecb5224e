"""One scheduling pass, in order: a pure function of the deployment and the view.

Each step has a module of its own. It changes the work of the pass, and may find that something has to be fetched first.
"""

from collections.abc import Callable
from dataclasses import replace

from modelplane.model.deployment import Deployment
from modelplane.model.placement import FleetView, Needs, Schedule
from modelplane.scheduling.steps.conclusion import conclude
from modelplane.scheduling.steps.crowding import confirm
from modelplane.scheduling.steps.endings import dismiss, end_all, end_duplicates, scale_down
from modelplane.scheduling.steps.fill import place
from modelplane.scheduling.steps.improving import reconsider
from modelplane.scheduling.steps.in_place import grow
from modelplane.scheduling.steps.replacement import roll
from modelplane.scheduling.steps.retain import retain
from modelplane.scheduling.steps.work import Work, begin
from modelplane.scheduling.steps.yielding import contested, give_way


def fetch(work: Work) -> Needs | None:
    """Ask for what the next steps look at: candidates to place on, residents of clusters where room is asked for."""
    surging = not work.holds_new and any(work.rollout_step.may_surge(own) for own in work.rollout_step.waiting)
    needs = work.needs_to_place(surging=surging or work.reconsiders)
    growing = [own for own, _ in work.growing] + [own for own, found in work.in_place.items() if found.growing]
    unproven = {own.replica.cluster for own in (*contested(work), *growing)}
    unknown = frozenset(name for name in unproven if not work.knows_residents(name))
    return replace(needs, residents=unknown)


STEPS: tuple[Callable[[Work], Needs | None], ...] = (
    end_duplicates,
    retain,
    fetch,
    grow,
    give_way,
    scale_down,
    place,
    roll,
    reconsider,
    dismiss,
    confirm,
)


#: Steps on whose outcome it depends what ends: while a search of theirs is postponed, the rest of the pass is too.
_WHOLE: frozenset[Callable[[Work], Needs | None]] = frozenset({retain, grow})


def schedule(deployment: Deployment, view: FleetView) -> Schedule | Needs:
    """Return where the deployment's replicas run, or what has to be fetched before that can be decided.

    Pure and deterministic: the order of any list in the view does not matter.
    """
    work = begin(deployment, view)
    for step in STEPS if deployment.replicas else (end_duplicates, end_all):
        needs = step(work)
        if needs:
            return needs
        if work.budget.postponed and step in _WHOLE:
            break
    return conclude(work)
