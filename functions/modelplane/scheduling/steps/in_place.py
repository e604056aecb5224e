"""Applies edits to a replica on its present pools; an edit that takes more is applied once it is known to fit."""

from dataclasses import replace

from modelplane.model.placement import HeldEdit, Stamp
from modelplane.model.refusal import Refusal
from modelplane.model.serving import Serving
from modelplane.scheduling.matching import stamp
from modelplane.scheduling.pools import layout
from modelplane.scheduling.room import Engines, assign, identity, seniority
from modelplane.scheduling.steps.decisions import Decisions
from modelplane.scheduling.steps.own_pools import InPlace
from modelplane.scheduling.steps.pass_input import PassInput
from modelplane.scheduling.steps.roster import OwnReplica

_NOT_DECIDED = "the next pass continues the search for room for the edit"


def apply(given: PassInput, own: OwnReplica, found: InPlace, engines: Engines) -> None:
    """Stamp the engines on a replica, which take no more than it has."""
    own.engines = engines
    _adopt(given, own, found)
    if engines != own.replica.engines:
        given.ledger.restamp(own.replica, engines)


def _adopt(given: PassInput, own: OwnReplica, found: InPlace) -> None:
    """Note the profile of a replica's engines: another one where its own is gone."""
    if own.profile is None:
        profile = next((each for each in given.deployment.profiles if each.name == found.profile), None)
        own.run_on(profile, given.deployment)


def grow(given: PassInput, so_far: Decisions) -> Decisions:
    """Apply the edits that take more: replicas that have served first, then by age."""
    held = dict(so_far.held_edits)
    for own in sorted(so_far.growing, key=lambda own: (not own.replica.has_served, seniority(own.replica))):
        if edit := _grow(given, own, so_far.in_place[own]):
            held[identity(own.replica)] = edit
    return replace(so_far, held_edits=held)


def _grow(given: PassInput, own: OwnReplica, found: InPlace) -> HeldEdit | None:
    """Apply an edit that takes more if it fits beside everything else, else hold the replica and return why."""
    cluster = given.published(own)
    if cluster is None or found.options is None:
        return None
    charge = given.ledger.charge_without(cluster, own.replica)
    assignment = assign(found.options, layout(cluster), charge, given.budget)
    if isinstance(assignment, Refusal):
        own.hold(_NOT_DECIDED if given.budget.postponed else "the edit does not fit in its pools")
        return HeldEdit(own.replica, assignment)
    own.stamp, own.why = Stamp.APPLY, ""
    own.outdated = own.surge_only = False
    own.engines = stamp(found.options.engines, assignment, layout(cluster))
    _adopt(given, own, found)
    given.ledger.restamp(own.replica, own.engines)
    return None


def change(given: PassInput, own: OwnReplica, found: InPlace) -> HeldEdit | None:
    """Apply the deployment's engines to an outdated replica on its own pools; return why, where they do not fit."""
    if found.engines is None:
        return None
    own.stamp = Stamp.APPLY
    edit = None
    if found.growing:
        edit = _grow(given, own, found)
    else:
        apply(given, own, found, found.engines)
    own.outdated = own.stamp is not Stamp.APPLY
    if not own.outdated:
        own.serving = Serving.PARTLY if own.by_copy else Serving.NOT
    return edit
