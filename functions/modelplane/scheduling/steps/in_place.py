"""Applies edits to a replica on its present pools; an edit that takes more is applied once it is known to fit."""

from modelplane.model.placement import HeldEdit, Needs, Stamp
from modelplane.model.refusal import Refusal
from modelplane.model.serving import Serving
from modelplane.scheduling.matching import stamp
from modelplane.scheduling.pools import layout
from modelplane.scheduling.room import Engines, assign, identity, seniority
from modelplane.scheduling.steps.own_pools import InPlace
from modelplane.scheduling.steps.roster import OwnReplica
from modelplane.scheduling.steps.work import Work

_NOT_DECIDED = "the next pass continues the search for room for the edit"


def apply(work: Work, own: OwnReplica, found: InPlace, engines: Engines) -> None:
    """Stamp the engines on a replica, or hold it until `grow` has checked the room if it would take more.

    If the edit does not fit, and the replica has not served with its present spec, a new replica may replace it.
    """
    if found.growing:
        own.hold("")
        own.outdated = own.surge_only = not own.replica.proven
        work.in_place[own] = found
        work.growing.append((own, found))
        return
    own.engines = engines
    _adopt(work, own, found)
    if engines != own.replica.engines:
        work.ledger.restamp(own.replica, engines)


def _adopt(work: Work, own: OwnReplica, found: InPlace) -> None:
    """Note the profile of a replica's engines: another one where its own is gone."""
    if own.profile is None:
        profile = next((each for each in work.deployment.profiles if each.name == found.profile), None)
        own.run_on(profile, work.deployment)


def grow(work: Work) -> Needs | None:
    """Apply the edits that take more: replicas that have served first, then by age."""
    for own, found in sorted(
        work.growing, key=lambda each: (not each[0].replica.has_served, seniority(each[0].replica))
    ):
        _grow(work, own, found)
    return None


def _grow(work: Work, own: OwnReplica, found: InPlace) -> None:
    """Apply an edit that takes more if it fits beside everything else, else hold the replica."""
    cluster = work.published(own)
    if cluster is None or found.options is None:
        return
    charge = work.ledger.charge_without(cluster, own.replica)
    assignment = assign(found.options, layout(cluster), charge, work.budget)
    if isinstance(assignment, Refusal):
        own.hold(_NOT_DECIDED if work.budget.postponed else "the edit does not fit in its pools")
        work.held_edits[identity(own.replica)] = HeldEdit(own.replica, assignment)
    else:
        own.stamp, own.why = Stamp.APPLY, ""
        own.outdated = own.surge_only = False
        own.engines = stamp(found.options.engines, assignment, layout(cluster))
        _adopt(work, own, found)
        work.ledger.restamp(own.replica, own.engines)


def change(work: Work, own: OwnReplica) -> bool:
    """Apply the deployment's engines to an outdated replica on its own pools; tell whether they fit."""
    found = work.in_place[own]
    if found.engines is None:
        return False
    own.stamp = Stamp.APPLY
    if found.growing:
        _grow(work, own, found)
    else:
        apply(work, own, found, found.engines)
    own.outdated = own.stamp is not Stamp.APPLY
    if not own.outdated:
        own.serving = Serving.PARTLY if own.by_copy else Serving.NOT
    return not own.outdated
