"""One scheduling pass: retain, growth, yield, scale-down, fill; a pure function of the deployment and the view."""

from collections.abc import Callable
from dataclasses import replace

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster, Effect
from modelplane.model.observation import Gap
from modelplane.model.placement import (
    CacheState,
    Drift,
    End,
    EndCause,
    FleetView,
    HeldEdit,
    Needs,
    Placement,
    Rolling,
    Schedule,
    Stamp,
)
from modelplane.model.refusal import NoRoom, OutsideCache, Refusal
from modelplane.scheduling.eligible import lacking, repelling
from modelplane.scheduling.fill import fill, undecided
from modelplane.scheduling.growth import grows
from modelplane.scheduling.hardware import layout
from modelplane.scheduling.ledger import identity
from modelplane.scheduling.options import stamp
from modelplane.scheduling.retain import InPlace, Retention, still_hosts
from modelplane.scheduling.rollout import Engines, Step, drop_surplus, is_updated
from modelplane.scheduling.room import Shortage
from modelplane.scheduling.roster import OwnReplica, seniority
from modelplane.scheduling.scale import needed_until_others_serve, surplus
from modelplane.scheduling.search import assign
from modelplane.scheduling.work import Work, begin
from modelplane.scheduling.yielding import yielding

_WAY_OUT = "; scale down to let it go before"
_WAYS_OUT = "; scale down or taint its cluster NoExecute to let it go before"


class _Pass:
    """The steps of a pass over its work, in order; each returns what has to be fetched before it can be done."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.retention = Retention(work.deployment, work.options)
        self.growing: list[tuple[OwnReplica, InPlace]] = []
        self.in_place: dict[OwnReplica, InPlace] = {}
        self.step = Step(work.roster.members, work.deployment.rollout, work.deployment.replicas)
        self.checked = False

    def retain(self) -> Needs | None:
        """Check every replica against its cluster and pools, and apply what its own pools host as it is."""
        work = self.work
        clusters = {name: work.cluster(name) for name in {own.replica.cluster for own in work.roster.members} - {""}}
        unknown = frozenset(name for name, cluster in clusters.items() if cluster is None)
        if unknown:
            return replace(work.needs_to_place(), clusters=unknown)
        for own in work.roster.members:
            cluster = clusters.get(own.replica.cluster)
            own.reachable = not isinstance(cluster, Cluster) or cluster.answers
            own.serves_now = own.reachable and own.replica.ready and own.replica.proven
            if own.counted:
                self.retention.check_cluster(own, cluster)
                if own.stamp is Stamp.APPLY and isinstance(cluster, Cluster):
                    self._check_pools(own, cluster)
        return None

    def _check_pools(self, own: OwnReplica, cluster: Cluster) -> None:
        if self.work.invalid:
            own.hold(self.work.invalid)
            return
        in_place = self.retention.in_place(own, cluster)
        if in_place.undecided:
            own.hold("the ways to match its pools are too many to look at")
        elif in_place.engines is None:
            self._without_pools(own, cluster, in_place)
        elif self.work.deployment.rollout.follow_selectors and self._waits(own) and self._drift(own):
            own.surge_only = True
            self._outdate(own, in_place)
        elif self._waits(own) and not is_updated(own, self.work.deployment, in_place.engines):
            self._outdate(own, in_place)
        else:
            self._apply(own, in_place, in_place.engines)

    def _without_pools(self, own: OwnReplica, cluster: Cluster, in_place: InPlace) -> None:
        """Let a replica go whose pools do not match: an edit that they cannot host is a rollout, a lost pool is not."""
        if self._waits(own) and still_hosts(layout(cluster), own.replica.engines):
            own.surge_only = True
            self._outdate(own, in_place)
        else:
            own.leave(EndCause.REPLACED, in_place.why)

    def _drift(self, own: OwnReplica) -> str:
        """Return in words why a replica's cluster is one that the deployment no longer allows, "" where it does."""
        cluster, asked = self.work.cluster(own.replica.cluster), self.work.deployment
        if not isinstance(cluster, Cluster):
            return ""
        if label := lacking(cluster, asked.cluster_selector):
            return f"spec.clusterSelector asks for {label[0]}={label[1]}"
        taint = repelling(asked, cluster, Effect.NO_SCHEDULE)
        return f"the cluster is tainted {taint.key} NoSchedule, which spec.tolerations does not cover" if taint else ""

    def _waits(self, own: OwnReplica) -> bool:
        """Tell whether an edit waits for the rollout: one that never served with what it carries waits for nothing."""
        return own.replica.proven or self.work.deployment.rollout.paused

    def _outdate(self, own: OwnReplica, in_place: InPlace) -> None:
        own.hold("")
        own.outdated = True
        self.in_place[own] = in_place

    def _apply(self, own: OwnReplica, in_place: InPlace, engines: Engines) -> None:
        """Give a replica what is asked for where it stands, as soon as it is known to fit if it takes more."""
        if in_place.growing:
            own.hold("")
            self.growing.append((own, in_place))
            return
        own.engines = engines
        own.serves_now = own.serves_now and is_updated(own, self.work.deployment, engines)
        if engines != own.replica.engines:
            self.work.ledger.restamp(own.replica, engines)

    def fetch(self) -> Needs | None:
        """Ask for what the next steps look at: the fleet where something is to be placed for sure, else residents."""
        work = self.work
        surging = not work.holds_new and any(self.step.may_surge(own) for own in self.step.waiting)
        needs = work.needs_to_place(surging=surging)
        if needs:
            return needs
        growing = [own for own, _ in self.growing] + [
            own for own, in_place in self.in_place.items() if in_place.growing
        ]
        unproven = {own.replica.cluster for own in (*self._contested(), *growing)}
        unknown = frozenset(name for name in unproven if not work.knows_residents(name))
        return Needs(residents=unknown) if unknown else None

    def _contested(self) -> list[OwnReplica]:
        """Return the replicas that may have to yield; none does while what is asked for is invalid."""
        work = self.work
        if work.invalid:
            return []
        return [own for own in work.roster.counted if self._unproven(own) and self._pools(own)]

    def _unproven(self, own: OwnReplica) -> bool:
        """Tell whether a replica never served, or takes more than what it last served with."""
        served = own.replica.served_engines
        if not own.replica.serves or served is None or served == own.engines:
            return not own.replica.serves
        cluster = self._pools(own)
        return cluster is not None and grows(served, own.engines, layout(cluster))

    def _pools(self, own: OwnReplica) -> Cluster | None:
        cluster = self.work.cluster(own.replica.cluster)
        return cluster if isinstance(cluster, Cluster) and cluster.pools is not None else None

    def grow(self) -> Needs | None:
        """Apply an edit that takes more where it fits beside everything else, and else hold the replica."""
        work = self.work
        for own, in_place in sorted(
            self.growing, key=lambda each: (not each[0].replica.serves, seniority(each[0].replica))
        ):
            cluster = self._pools(own)
            if cluster is None or in_place.options is None:
                continue
            stock = work.ledger.stock_without(cluster, own.replica)
            found = assign(in_place.options, layout(cluster), stock, work.options.budget)
            if isinstance(found, Refusal):
                own.hold("the edit does not fit in its pools")
                work.held_edits[identity(own.replica)] = HeldEdit(own.replica, found)
            else:
                own.stamp, own.why = Stamp.APPLY, ""
                own.engines = stamp(work.deployment.engines, found, layout(cluster))
                work.ledger.restamp(own.replica, own.engines)
        return None

    def give_way(self) -> Needs | None:
        """End what never served and does not fit, and revert what grew and does not fit, in the order of all."""
        asking = {identity(own.replica): own for own in self._contested()}
        for name in sorted({own.replica.cluster for own in asking.values()}):
            cluster = self.work.cluster(name)
            if isinstance(cluster, Cluster):
                for uid, short in yielding(cluster, self.work.ledger).items():
                    if uid in asking:
                        self._refuse(asking[uid], short)
        return None

    def _refuse(self, own: OwnReplica, short: Shortage) -> None:
        served = own.replica.served_engines if own.replica.serves else None
        if served is None:
            own.ending = EndCause.YIELDED
            return
        own.stamp, own.engines = Stamp.REVERT, served
        own.why = "it grew at the same time as others, and does not fit at its new size"
        self.work.ledger.restamp(own.replica, served)
        refusal = NoRoom(served[0].name, short.needs, short.free)
        self.work.held_edits[identity(own.replica)] = HeldEdit(own.replica, refusal)

    def scale(self) -> Needs | None:
        """End what is more than asked for."""
        drop_surplus(self.work.roster.counted, self.work.deployment.replicas)
        for own in surplus(self.work.roster.counted, self.work.deployment.replicas):
            own.ending = EndCause.SCALE_DOWN
        return None

    def place(self) -> Needs | None:
        """Place what is missing on the candidates."""
        work = self.work
        needs = work.needs_to_place()
        if needs or not work.missing or work.holds_new:
            return needs
        fill(work, self.work.refusals)
        reachable = [c for c in work.candidates.values() if not isinstance(work.refusals.get(c.name), OutsideCache)]
        self.checked = bool(reachable) and not undecided(work)
        return None

    def roll(self) -> Needs | None:
        """Take the next step of a rollout."""
        self.step.take(self._surge, self._change)
        return None

    def _surge(self, own: OwnReplica) -> bool:
        """Place a replica in place of an outdated one, which then leaves; tell whether it found a place."""
        work = self.work
        if work.missing or work.holds_new or work.needs_to_place(surging=True):
            return False
        before = len(work.placed)
        own.leave(EndCause.ROLLED_OUT, "")
        fill(work, {})
        found = len(work.placed) > before
        if not found:
            own.leaving = None
        return found

    def _change(self, own: OwnReplica) -> bool:
        """Give an outdated replica what is asked for where it stands; tell whether that fits."""
        in_place = self.in_place[own]
        if in_place.engines is None:
            return False
        own.stamp, own.outdated, own.serves_now = Stamp.APPLY, False, False
        if not in_place.growing:
            self._apply(own, in_place, in_place.engines)
            return True
        self.growing = [(own, in_place)]
        self.grow()
        own.outdated = own.stamp is not Stamp.APPLY
        return not own.outdated

    def dismiss(self) -> Needs | None:
        """End the leaving replicas that are not needed any more; where no candidate is known, all are."""
        work = self.work
        for own in self.step.settled_leaving():
            own.ending = EndCause.ROLLED_OUT
        counted, leaving = work.roster.counted, [own for own in work.roster.members if own.moving]
        # One that is only listed may be gone, because lists lag: no other replica ends because it serves.
        serving = sum(own.replica.serves and not own.listed_only for own in counted)
        many = max(0, work.deployment.replicas - serving)
        oldest = needed_until_others_serve([own for own in leaving if own.replica.serves], many)
        needed = set(oldest)
        if work.missing and self.checked:
            pending = len(counted) - serving + len(work.placed)
            needed -= set([own for own in oldest if own.leaving is EndCause.EVICTED][pending:])
        elif work.missing:
            needed |= {own for own in leaving if not own.replica.serves}
        for own in leaving:
            if own not in needed:
                own.ending = own.leaving
            elif work.missing:
                there = isinstance(work.cluster(own.replica.cluster), Cluster)
                own.why += _WAYS_OUT if there and own.leaving is not EndCause.EVICTED else _WAY_OUT
        return None

    def conclude(self) -> Schedule:
        """Return what was decided."""
        work = self.work
        members = [self._placement(own) for own in work.roster.members if own.ending is None or own.listed_only]
        ending = [End(own.replica, own.ending) for own in work.roster.members if own.ending and not own.listed_only]
        return Schedule(
            replicas=work.deployment.replicas,
            placements=tuple(sorted([*members, *work.placed], key=lambda p: (p.cluster, p.index))),
            ending=tuple(sorted(ending, key=lambda end: (end.replica.cluster, seniority(end.replica)))),
            unplaced=work.missing,
            rolling=self._rolling(),
            drifted=tuple(Drift(own.replica, why) for own in work.roster.counted if (why := self._drift(own))),
            refusals=work.refusals,
            candidates=None if isinstance(work.view.candidates, Gap) else len(work.candidates),
            held_edits=tuple(work.held_edits[uid] for uid in sorted(work.held_edits)),
            bad_selectors=work.bad_selectors,
            over_bound=work.deployment.over_bound,
            cache=CacheState.NOT_REQUIRED if work.deployment.cache is None else work.view.cache,
        )

    def _rolling(self) -> Rolling | None:
        """Return how far the rollout is, None where no replica is on its way to what is asked."""
        members = [own for own in self.work.roster.members if own.ending is None]
        starting = [own for own in members if own.counted and not own.outdated and not own.replica.proven]
        outdated = [own for own in members if own.outdated]
        if not (outdated or starting or self.work.placed):
            return None
        waited_for = next(iter(starting or [own for own in outdated if not own.serves_now]), None)
        rollout = self.work.deployment.rollout
        first = self._placement(waited_for) if waited_for else next(iter(self.work.placed), None)
        return Rolling(first, self.step.no_room and not starting, rollout.paused and bool(outdated))

    def _placement(self, own: OwnReplica) -> Placement:
        as_asked = own.stamp is Stamp.APPLY or own.replica.content == self.work.deployment.content
        return Placement(
            own.replica.cluster,
            own.index,
            own.engines,
            own.replica,
            own.stamp,
            leaving=not own.counted,
            why=own.why,
            updated=own.counted and not own.outdated and as_asked,
            serving=own.serves_now,
        )


def schedule(deployment: Deployment, view: FleetView) -> Schedule | Needs:
    """Return where the deployment's replicas run, or what has to be fetched before that can be decided.

    Pure and deterministic: the order of any list in the view does not matter.
    """
    work = begin(deployment, view)
    if deployment.replicas == 0:
        for own in work.roster.members:
            own.hold("spec.replicas is 0")
            own.ending = own.ending or EndCause.SCALE_DOWN
        return _Pass(work).conclude()
    step = _Pass(work)
    order: tuple[Callable[[], Needs | None], ...] = (
        step.retain,
        step.fetch,
        step.grow,
        step.give_way,
        step.scale,
        step.place,
        step.roll,
        step.dismiss,
    )
    for each in order:
        needs = each()
        if needs:
            return needs
    return step.conclude()
