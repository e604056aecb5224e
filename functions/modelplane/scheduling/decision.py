"""One scheduling pass: retain, growth, yield, scale-down, fill; a pure function of the deployment and the view."""

from collections.abc import Callable
from dataclasses import replace

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.observation import Gap
from modelplane.model.placement import CacheState, End, EndCause, Needs, Placement, Schedule, Stamp, View, Withheld
from modelplane.model.refusal import NoRoom, OutsideCache, Refusal
from modelplane.scheduling.fill import fill, undecided
from modelplane.scheduling.growth import grows
from modelplane.scheduling.hardware import layout
from modelplane.scheduling.ledger import identity
from modelplane.scheduling.options import stamp
from modelplane.scheduling.yielding import yielding
from modelplane.scheduling.retain import Judge, Stay
from modelplane.scheduling.room import Shortage
from modelplane.scheduling.roster import Own, seniority
from modelplane.scheduling.scale import kept_until_others_serve, surplus
from modelplane.scheduling.search import assign
from modelplane.scheduling.work import Work, begin

_WAY_OUT = "; scale down to let it go before"
_WAYS_OUT = "; scale down or taint its cluster NoExecute to let it go before"
_NO_SELECTOR = "a selector of the deployment does not compile"


class _Pass:
    """The steps of a pass over its work, in order; each returns what has to be fetched before it can be done."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.judge = Judge(work.deployment, work.options)
        self.growing: list[tuple[Own, Stay]] = []
        self.checked = False

    def retain(self) -> Needs | None:
        """Judge every replica by its cluster and pools, and apply what its own pools host as it is."""
        work = self.work
        clusters = {name: work.cluster(name) for name in {own.replica.cluster for own in work.roster.crew} - {""}}
        unknown = frozenset(name for name, cluster in clusters.items() if cluster is None)
        if unknown:
            return replace(work.needs_to_place(), clusters=unknown)
        for own in work.roster.crew:
            if own.stays:
                self.judge.judge(own, clusters.get(own.replica.cluster))
                cluster = clusters.get(own.replica.cluster)
                if own.stamp is Stamp.APPLY and isinstance(cluster, Cluster):
                    self._stay(own, cluster)
        return None

    def _stay(self, own: Own, cluster: Cluster) -> None:
        if self.work.bad_selectors:
            own.hold(_NO_SELECTOR)
            return
        stay = self.judge.stay(own, cluster)
        if stay.undecided:
            own.hold("the ways to match its pools are too many to look at")
        elif stay.engines is None:
            own.leave(EndCause.REPLACED, stay.why)
        elif stay.growing:
            own.hold("")
            self.growing.append((own, stay))
        else:
            own.engines = stay.engines
            if stay.engines != own.replica.engines:
                self.work.ledger.restamp(own.replica, stay.engines)

    def fetch(self) -> Needs | None:
        """Ask for what the next steps look at: the fleet where something is to be placed for sure, else residents."""
        work = self.work
        needs = work.needs_to_place()
        if needs:
            return needs
        unproven = {own.replica.cluster for own in self._contested()} | {own.replica.cluster for own, _ in self.growing}
        unknown = frozenset(name for name in unproven if not work.knows_residents(name))
        return Needs(residents=unknown) if unknown else None

    def _contested(self) -> list[Own]:
        """Return the replicas that may have to yield; with a selector that does not compile none does."""
        work = self.work
        if work.bad_selectors:
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
        for own in surplus(self.work.roster.staying, self.work.deployment.replicas):
            own.ended = EndCause.SCALE_DOWN
        return None

    def place(self) -> Needs | None:
        """Place what is missing on the candidates."""
        work = self.work
        needs = work.needs_to_place()
        if needs or not work.missing or work.holds_new:
            return needs
        fill(work)
        reachable = [c for c in work.candidates.values() if not isinstance(work.refusals.get(c.name), OutsideCache)]
        self.checked = bool(reachable) and not undecided(work)
        return None

    def dismiss(self) -> Needs | None:
        """End the leaving replicas that nobody waits for any more; where no candidate is known, all are waited for."""
        work = self.work
        staying, leaving = work.roster.staying, [own for own in work.roster.crew if own.leaving and not own.ended]
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
        crew = [_placement(own) for own in work.roster.crew if own.ended is None or own.stray]
        ended = [End(own.replica, own.ended) for own in work.roster.crew if own.ended and not own.stray]
        return Schedule(
            replicas=work.deployment.replicas,
            placements=tuple(sorted([*crew, *work.placed], key=lambda p: (p.cluster, p.index))),
            ended=tuple(sorted(ended, key=lambda end: (end.replica.cluster, seniority(end.replica)))),
            unplaced=work.missing,
            refusals=work.refusals,
            candidates=None if isinstance(work.view.candidates, Gap) else len(work.candidates),
            withheld=tuple(work.withheld[uid] for uid in sorted(work.withheld)),
            bad_selectors=work.bad_selectors,
            cache=CacheState.NOT_REQUIRED if work.deployment.cache is None else work.view.cache,
        )


def _placement(own: Own) -> Placement:
    leaving = not own.stays
    return Placement(own.replica.cluster, own.index, own.engines, own.replica, own.stamp, leaving, own.why)


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
        step.dismiss,
    )
    for each in order:
        needs = each()
        if needs:
            return needs
    return step.conclude()
