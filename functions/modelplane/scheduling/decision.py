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
    Needs,
    Placement,
    Rolling,
    Schedule,
    Stamp,
    View,
    Withheld,
)
from modelplane.model.refusal import NoRoom, OutsideCache, Refusal
from modelplane.scheduling.eligible import lacking, repelling
from modelplane.scheduling.fill import fill, undecided
from modelplane.scheduling.growth import grows
from modelplane.scheduling.hardware import layout
from modelplane.scheduling.ledger import identity
from modelplane.scheduling.options import stamp
from modelplane.scheduling.retain import Judge, Stay, still_hosts
from modelplane.scheduling.rollout import Engines, Step, drop_surplus, is_updated
from modelplane.scheduling.room import Shortage
from modelplane.scheduling.roster import Own, seniority
from modelplane.scheduling.scale import kept_until_others_serve, surplus
from modelplane.scheduling.search import assign
from modelplane.scheduling.work import Work, begin
from modelplane.scheduling.yielding import yielding

_WAY_OUT = "; scale down to let it go before"
_WAYS_OUT = "; scale down or taint its cluster NoExecute to let it go before"


class _Pass:
    """The steps of a pass over its work, in order; each returns what has to be fetched before it can be done."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.judge = Judge(work.deployment, work.options)
        self.growing: list[tuple[Own, Stay]] = []
        self.stays: dict[Own, Stay] = {}
        self.step = Step(work.roster.crew, work.deployment.rollout, work.deployment.replicas)
        self.checked = False

    def retain(self) -> Needs | None:
        """Judge every replica by its cluster and pools, and apply what its own pools host as it is."""
        work = self.work
        clusters = {name: work.cluster(name) for name in {own.replica.cluster for own in work.roster.crew} - {""}}
        unknown = frozenset(name for name, cluster in clusters.items() if cluster is None)
        if unknown:
            return replace(work.needs_to_place(), clusters=unknown)
        for own in work.roster.crew:
            cluster = clusters.get(own.replica.cluster)
            own.reachable = not isinstance(cluster, Cluster) or cluster.answers
            own.serves_now = own.reachable and own.replica.ready and own.replica.proven
            if own.stays:
                self.judge.judge(own, cluster)
                if own.stamp is Stamp.APPLY and isinstance(cluster, Cluster):
                    self._stay(own, cluster)
        return None

    def _stay(self, own: Own, cluster: Cluster) -> None:
        if self.work.invalid:
            own.hold(self.work.invalid)
            return
        stay = self.judge.stay(own, cluster)
        if stay.undecided:
            own.hold("the ways to match its pools are too many to look at")
        elif stay.engines is None:
            self._without_pools(own, cluster, stay)
        elif self.work.deployment.rollout.follow_selectors and self._waits(own) and self._drift(own):
            own.surge_only = True
            self._outdate(own, stay)
        elif self._waits(own) and not is_updated(own, self.work.deployment, stay.engines):
            self._outdate(own, stay)
        else:
            self._apply(own, stay, stay.engines)

    def _without_pools(self, own: Own, cluster: Cluster, stay: Stay) -> None:
        """Let a replica go whose pools do not match: an edit that they cannot host is a rollout, a lost pool is not."""
        if self._waits(own) and still_hosts(layout(cluster), own.replica.engines):
            own.surge_only = True
            self._outdate(own, stay)
        else:
            own.leave(EndCause.REPLACED, stay.why)

    def _drift(self, own: Own) -> str:
        """Return in words why a replica's cluster is one that the deployment no longer allows, "" where it does."""
        cluster, asked = self.work.cluster(own.replica.cluster), self.work.deployment
        if not isinstance(cluster, Cluster):
            return ""
        if label := lacking(cluster, asked.cluster_selector):
            return f"spec.clusterSelector asks for {label[0]}={label[1]}"
        taint = repelling(asked, cluster, Effect.NO_SCHEDULE)
        return f"the cluster is tainted {taint.key} NoSchedule, which spec.tolerations does not cover" if taint else ""

    def _waits(self, own: Own) -> bool:
        """Tell whether an edit waits for the rollout: one that never served with what it carries waits for nothing."""
        return own.replica.proven or self.work.deployment.rollout.paused

    def _outdate(self, own: Own, stay: Stay) -> None:
        own.hold("")
        own.outdated = True
        self.stays[own] = stay

    def _apply(self, own: Own, stay: Stay, engines: Engines) -> None:
        """Give a replica what is asked for where it stands, as soon as it is known to fit if it takes more."""
        if stay.growing:
            own.hold("")
            self.growing.append((own, stay))
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
        growing = [own for own, _ in self.growing] + [own for own, stay in self.stays.items() if stay.growing]
        unproven = {own.replica.cluster for own in (*self._contested(), *growing)}
        unknown = frozenset(name for name in unproven if not work.knows_residents(name))
        return Needs(residents=unknown) if unknown else None

    def _contested(self) -> list[Own]:
        """Return the replicas that may have to yield; none does while what is asked for is invalid."""
        work = self.work
        if work.invalid:
            return []
        return [own for own in work.roster.staying if self._unproven(own) and self._pools(own)]

    def _unproven(self, own: Own) -> bool:
        """Tell whether a replica never served, or takes more than what it last served with."""
        served = own.replica.served_engines
        if not own.replica.serves or served is None or served == own.engines:
            return not own.replica.serves
        cluster = self._pools(own)
        return cluster is not None and grows(served, own.engines, layout(cluster))

    def _pools(self, own: Own) -> Cluster | None:
        cluster = self.work.cluster(own.replica.cluster)
        return cluster if isinstance(cluster, Cluster) and cluster.pools is not None else None

    def grow(self) -> Needs | None:
        """Apply an edit that takes more where it fits beside everything else, and withhold it whole where not."""
        work = self.work
        for own, stay in sorted(
            self.growing, key=lambda each: (not each[0].replica.serves, seniority(each[0].replica))
        ):
            cluster = self._pools(own)
            if cluster is None or stay.options is None:
                continue
            stock = work.ledger.stock_without(cluster, own.replica)
            found = assign(stay.options, layout(cluster), stock, work.options.budget)
            if isinstance(found, Refusal):
                own.hold("the edit does not fit in its pools")
                work.withheld[identity(own.replica)] = Withheld(own.replica, found)
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

    def _refuse(self, own: Own, short: Shortage) -> None:
        served = own.replica.served_engines if own.replica.serves else None
        if served is None:
            own.ended = EndCause.YIELDED
            return
        own.stamp, own.engines = Stamp.REVERT, served
        own.why = "it grew at the same time as others, and does not fit at its new size"
        self.work.ledger.restamp(own.replica, served)
        refusal = NoRoom(served[0].name, short.needs, short.free)
        self.work.withheld[identity(own.replica)] = Withheld(own.replica, refusal)

    def scale(self) -> Needs | None:
        """End what is more than asked for."""
        drop_surplus(self.work.roster.staying, self.work.deployment.replicas)
        for own in surplus(self.work.roster.staying, self.work.deployment.replicas):
            own.ended = EndCause.SCALE_DOWN
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

    def _surge(self, own: Own) -> bool:
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

    def _change(self, own: Own) -> bool:
        """Give an outdated replica what is asked for where it stands; tell whether that fits."""
        stay = self.stays[own]
        if stay.engines is None:
            return False
        own.stamp, own.outdated, own.serves_now = Stamp.APPLY, False, False
        if not stay.growing:
            self._apply(own, stay, stay.engines)
            return True
        self.growing = [(own, stay)]
        self.grow()
        own.outdated = own.stamp is not Stamp.APPLY
        return not own.outdated

    def dismiss(self) -> Needs | None:
        """End the leaving replicas that nobody waits for any more; where no candidate is known, all are waited for."""
        work = self.work
        for own in self.step.settled_leaving():
            own.ended = EndCause.ROLLED_OUT
        staying, leaving = work.roster.staying, [own for own in work.roster.crew if own.moving]
        # A stray may be no more than the memory of a list that lags: nobody leaves on its word.
        serving = sum(own.replica.serves and not own.stray for own in staying)
        needed = max(0, work.deployment.replicas - serving)
        oldest = kept_until_others_serve([own for own in leaving if own.replica.serves], needed)
        kept = set(oldest)
        if work.missing and self.checked:
            pending = len(staying) - serving + len(work.placed)
            kept -= set([own for own in oldest if own.leaving is EndCause.EVICTED][pending:])
        elif work.missing:
            kept |= {own for own in leaving if not own.replica.serves}
        for own in leaving:
            if own not in kept:
                own.ended = own.leaving
            elif work.missing:
                there = isinstance(work.cluster(own.replica.cluster), Cluster)
                own.why += _WAYS_OUT if there and own.leaving is not EndCause.EVICTED else _WAY_OUT
        return None

    def conclude(self) -> Schedule:
        """Return what was decided."""
        work = self.work
        crew = [self._placement(own) for own in work.roster.crew if own.ended is None or own.stray]
        ended = [End(own.replica, own.ended) for own in work.roster.crew if own.ended and not own.stray]
        return Schedule(
            replicas=work.deployment.replicas,
            placements=tuple(sorted([*crew, *work.placed], key=lambda p: (p.cluster, p.index))),
            ended=tuple(sorted(ended, key=lambda end: (end.replica.cluster, seniority(end.replica)))),
            unplaced=work.missing,
            rolling=self._rolling(),
            drifted=tuple(Drift(own.replica, why) for own in work.roster.staying if (why := self._drift(own))),
            refusals=work.refusals,
            candidates=None if isinstance(work.view.candidates, Gap) else len(work.candidates),
            withheld=tuple(work.withheld[uid] for uid in sorted(work.withheld)),
            bad_selectors=work.bad_selectors,
            over_bound=work.deployment.over_bound,
            cache=CacheState.NOT_REQUIRED if work.deployment.cache is None else work.view.cache,
        )

    def _rolling(self) -> Rolling | None:
        """Return how far the rollout is, None where no replica is on its way to what is asked."""
        members = [own for own in self.work.roster.crew if own.ended is None]
        starting = [own for own in members if own.stays and not own.outdated and not own.replica.proven]
        outdated = [own for own in members if own.outdated]
        if not (outdated or starting or self.work.placed):
            return None
        waited_for = next(iter(starting or [own for own in outdated if not own.serves_now]), None)
        rollout = self.work.deployment.rollout
        first = self._placement(waited_for) if waited_for else next(iter(self.work.placed), None)
        return Rolling(first, self.step.no_room and not starting, rollout.paused and bool(outdated))

    def _placement(self, own: Own) -> Placement:
        as_asked = own.stamp is Stamp.APPLY or own.replica.content == self.work.deployment.content
        return Placement(
            own.replica.cluster,
            own.index,
            own.engines,
            own.replica,
            own.stamp,
            leaving=not own.stays,
            why=own.why,
            updated=own.stays and not own.outdated and as_asked,
            serving=own.serves_now,
        )


def schedule(deployment: Deployment, view: View) -> Schedule | Needs:
    """Return where the deployment's replicas run, or what has to be fetched before that can be decided.

    Pure and deterministic: the order of any list in the view does not matter.
    """
    work = begin(deployment, view)
    if deployment.replicas == 0:
        for own in work.roster.crew:
            own.hold("spec.replicas is 0")
            own.ended = own.ended or EndCause.SCALE_DOWN
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
