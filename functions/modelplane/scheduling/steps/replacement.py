"""Carries out a step of a rollout: replaces an outdated replica by a new one, or changes it in place."""

from dataclasses import replace
from fractions import Fraction

from modelplane.model.placement import EndCause, Needs
from modelplane.scheduling.pools import layout
from modelplane.scheduling.room import identity
from modelplane.scheduling.steps.decisions import Decisions, Filled, Refused
from modelplane.scheduling.steps.fill import Limit, fill
from modelplane.scheduling.steps.in_place import change
from modelplane.scheduling.steps.pass_input import PassInput
from modelplane.scheduling.steps.rank import capability
from modelplane.scheduling.steps.roster import OwnReplica
from modelplane.scheduling.steps.shortlist import find_doubtful, shortlist


def roll(given: PassInput, so_far: Decisions) -> Decisions | Needs:
    """Take the next step of a rollout; none while a search is postponed."""
    if given.budget.postponed:
        return so_far
    changes = _Changes(given, so_far)
    no_room = given.rollout_step.take(changes.surge, changes.change_in_place)
    if changes.unread or changes.doubted:
        placed, unread = tuple(changes.placed), tuple(changes.unread)
        return shortlist(given, Filled(placed, {}, unread, tuple(changes.spares), tuple(changes.doubted)))
    if changes.tried and given.view.shortlisted is not None and not given.view.final:
        return Needs(candidates=True)
    return replace(
        so_far,
        placed=tuple(changes.placed),
        held_edits=changes.held_edits,
        profile_refusals=changes.profile_refusals,
        no_room=no_room,
        too_large=changes.too_large,
        surge_refusals=changes.surge_refusals,
    )


class _Changes:
    """The changes of one step of a rollout. The fields are those of `Decisions` and `Filled`."""

    def __init__(self, given: PassInput, so_far: Decisions) -> None:
        self._given = given
        self._in_place = so_far.in_place
        self.placed = list(so_far.placed)
        self.held_edits = dict(so_far.held_edits)
        self.profile_refusals = dict(so_far.profile_refusals)
        self.surge_refusals: Refused = {}
        self.too_large = False
        self.unread: list[str] = []
        self.spares: list[str] = []
        self.doubted: list[str] = []
        #: The limits of surges that found no place: the last profile's rank, and the capability, None for any.
        self.tried: list[tuple[int, Fraction | None]] = []

    def change_in_place(self, own: OwnReplica) -> None:
        """Change an outdated replica on its own pools, where the engines fit there."""
        if edit := change(self._given, own, self._in_place[own]):
            self.held_edits[identity(own.replica)] = edit

    def surge(self, own: OwnReplica) -> bool:
        """Place a replica that replaces an outdated one, which then leaves; False if there is no place for it.

        True also while that is not known, because a search is postponed.
        """
        return self._given.budget.postponed or self._take_over(own)

    def _take_over(self, own: OwnReplica) -> bool:
        given = self._given
        if given.missing(self.placed) or given.holds_new or given.needs_to_place(self.placed, surging=True):
            return False
        if len(given.view.own) + len(self.placed) >= given.deployment.carried:
            self.too_large = True
            return False
        limit = self._limit(own)
        if self._is_tried(own, limit.capability):
            return False
        why = own.why
        own.leave(EndCause.ROLLED_OUT, "")
        filled = fill(given, given.missing(self.placed), limit)
        self.placed += filled.placed
        self.unread += filled.unread
        self.spares += filled.spares
        if not filled.placed:
            own.leaving, own.why = None, why
            if given.budget.postponed:
                return True
            self._note_no_place(own, limit, filled.refused)
        return bool(filled.placed)

    def _note_no_place(self, own: OwnReplica, limit: Limit, refused: Refused) -> None:
        self.tried.append((own.rank, limit.capability))
        self.surge_refusals = self.surge_refusals or refused
        self.doubted += find_doubtful(self._given, refused)
        if self._given.deployment.model:
            self.profile_refusals.update(refused)

    def _limit(self, own: OwnReplica) -> Limit:
        """Return the limit of a replica's surge: its own profile or a better one, and no more capable devices."""
        return Limit(own.rank if own.profile else None, self._most_capable(own))

    def _most_capable(self, own: OwnReplica) -> Fraction | None:
        """Return the capability of the devices onto which a replica may surge: that of its own pools.

        None for any: it is not known, or its own pools cannot host the deployment's engines.
        """
        cluster, found = self._given.published(own), self._in_place[own]
        if cluster is None or found.engines is None or own.surge_only:
            return None
        return capability(found.engines, layout(cluster))

    def _is_tried(self, own: OwnReplica, most: Fraction | None) -> bool:
        """Tell whether a surge with the same or a wider limit has found no place in this pass: then this one cannot."""
        return any(
            own.rank <= rank and (tried is None or (most is not None and most <= tried)) for rank, tried in self.tried
        )
