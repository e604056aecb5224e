"""One scheduling pass, in order: a pure function of the deployment and the view.

Each step has a module of its own. It returns what has been decided so far with its own part added, or what has to be
fetched before it can decide.
"""

from collections.abc import Callable
from dataclasses import replace

from modelplane.model.deployment import Deployment
from modelplane.model.placement import FleetView, Needs, Schedule
from modelplane.scheduling.steps.conclusion import conclude
from modelplane.scheduling.steps.crowding import confirm
from modelplane.scheduling.steps.decisions import Decisions
from modelplane.scheduling.steps.endings import dismiss, end_all, end_duplicates, scale_down
from modelplane.scheduling.steps.fill import place
from modelplane.scheduling.steps.improving import reconsider
from modelplane.scheduling.steps.in_place import grow
from modelplane.scheduling.steps.pass_input import PassInput, begin
from modelplane.scheduling.steps.replacement import roll
from modelplane.scheduling.steps.retain import retain
from modelplane.scheduling.steps.yielding import contested, give_way

Step = Callable[[PassInput, Decisions], Decisions | Needs]


def fetch(given: PassInput, so_far: Decisions) -> Decisions | Needs:
    """Ask for what the next steps look at: candidates to place on, residents of clusters where room is asked for."""
    surging = not given.holds_new and any(given.rollout_step.may_surge(own) for own in given.rollout_step.waiting)
    needs = given.needs_to_place(surging=surging or given.reconsiders)
    growing = [own for own, found in so_far.in_place.items() if found.growing]
    unproven = {own.replica.cluster for own in (*contested(given), *growing)}
    unknown = frozenset(name for name in unproven if not given.knows_residents(name))
    return replace(needs, residents=unknown) or so_far


STEPS: tuple[Step, ...] = (
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
_WHOLE: frozenset[Step] = frozenset({retain, grow})


def schedule(deployment: Deployment, view: FleetView) -> Schedule | Needs:
    """Return where the deployment's replicas run, or what has to be fetched before that can be decided.

    Pure and deterministic: the order of any list in the view does not matter.
    """
    given, so_far = begin(deployment, view), Decisions()
    for step in STEPS if deployment.replicas else (end_duplicates, end_all):
        found = step(given, so_far)
        if isinstance(found, Needs):
            return found
        so_far = found
        if given.budget.postponed and step in _WHOLE:
            break
    return conclude(given, so_far)
