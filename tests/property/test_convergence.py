"""Deployments that are reconciled from stale views come to a state in which nothing is overcommitted."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.model.deployment import Deployment
from modelplane.model.fleet import Cluster
from modelplane.model.placement import EndCause
from profiles import with_engines
from property.fleet import Fleet, Snapshot, decide
from property.oracles.ending import yielding
from property.oracles.room import groups_on, has_room
from property.strategies import Draw, clusters, deployments, examples, residents


def overcommitted(fleet: Fleet) -> list[tuple[str, str]]:
    return [
        (cluster.name, pool.name)
        for cluster in fleet.clusters.values()
        for pool in cluster.pools or ()
        if not has_room(pool, groups_on(cluster.name, pool.name, fleet.replicas.values()))
    ]


class Race:
    """Some deployments on one fleet, reconciled in rounds, by what clusters published up to two rounds before."""

    def __init__(self, draw: Draw, *, growing: bool = True) -> None:
        self._draw = draw
        names = ("a", "b")[: draw(st.integers(1, 2))]
        nodes = st.integers(1, 3)
        fleet: dict[str, Cluster] = {
            name: replace(draw(clusters(name, nodes)), ready=True, address="192.0.2.1", labels={"region": "eu"})
            for name in names
        }
        self.fleet = Fleet(fleet, draw(residents(fleet, most=2)))
        count = draw(st.integers(2, 5))
        self.racers: list[Deployment] = [draw(deployments(number, most=2)) for number in range(count)]
        for number in range(draw(st.integers(0, 2))):
            early = self.racers[number]
            self.fleet.carry_out(early, decide(early, self.fleet.snapshot()).schedule)
            self.fleet.serve()
            first, *rest = early.profiles[0].engines
            bigger = replace(first, copies=first.copies + (draw(st.integers(0, 2)) if growing else 0))
            more = early.replicas + draw(st.integers(0, 2))
            self.racers[number] = with_engines(replace(early, replicas=more), (bigger, *rest))
        self.before: Snapshot = self.fleet.snapshot()
        self.long_before = self.before

    def round(self, *, stale: bool = False) -> None:
        """Reconcile every deployment once, each from the fleet as it stood at the start of this round, or the last."""
        start, serving = self.fleet.snapshot(), {r.uid for r in self.fleet.replicas.values() if r.has_served}
        for deployment in self._draw(st.permutations(self.racers)):
            seen = self.before if stale and self._draw(st.booleans()) else start
            now = self._with_own_of_now(start, deployment)
            decided = decide(deployment, now, others_as_of=seen, charged_as_of=self._published(start)).schedule
            self.fleet.carry_out(deployment, decided)
            if self._draw(st.booleans()):
                self.fleet.tick()
        self.long_before, self.before = self.before, start
        assert serving <= set(self.fleet.replicas), "a serving replica moved"

    def lagging_round(self) -> None:
        """Reconcile every deployment once; every list it fetches is as it was when the last round began."""
        start, serving = self.fleet.snapshot(), {r.uid for r in self.fleet.replicas.values() if r.has_served}
        for deployment in self._draw(st.permutations(self.racers)):
            now = self.fleet.snapshot()
            decided = decide(deployment, now, lists_as_of=self.before, charged_as_of=self._published(start)).schedule
            self.fleet.carry_out(deployment, decided)
            self.fleet.tick()
        self.long_before, self.before = self.before, start
        assert serving <= set(self.fleet.replicas), "a serving replica moved"

    def _published(self, start: Snapshot) -> Snapshot:
        """Return the fleet as clusters have published it: at the start of this round, or up to two rounds before."""
        return self._draw(st.sampled_from((start, self.before, self.long_before)))

    def _with_own_of_now(self, start: Snapshot, deployment: Deployment) -> Snapshot:
        mine = [r for r in self.fleet.replicas.values() if r.owner == deployment.uid]
        return replace(start, replicas=(*mine, *(r for r in start.replicas if r.owner != deployment.uid)))


@pytest.mark.proves("R87")
@given(st.data())
@examples(100)
def test_racing_deployments_overcommit_nothing_after_one_round_more_than_there_are_deployments(
    data: st.DataObject,
) -> None:
    race = Race(data.draw)
    for _ in range(len(race.racers) + 1):
        race.round()
    assert overcommitted(race.fleet) == []
    race.round()
    assert overcommitted(race.fleet) == []


@pytest.mark.proves("R87")
@given(st.data())
@examples(80)
def test_with_views_that_are_a_round_old_they_overcommit_nothing_after_twice_as_many_rounds(
    data: st.DataObject,
) -> None:
    race = Race(data.draw)
    for _ in range(2 * len(race.racers) + 2):
        race.round(stale=True)
    assert overcommitted(race.fleet) == []


@given(st.data())
@examples(80)
def test_lists_that_still_show_what_was_ended_bring_nothing_back_to_life(data: st.DataObject) -> None:
    race = Race(data.draw)
    for _ in range(2 * len(race.racers) + 2):
        race.lagging_round()
    assert overcommitted(race.fleet) == []
    settled = set(race.fleet.replicas)
    race.lagging_round()
    race.lagging_round()
    assert (set(race.fleet.replicas), overcommitted(race.fleet)) == (settled, [])


@given(st.data())
@examples(60)
def test_a_race_in_which_replicas_start_to_serve_moves_none_of_those(data: st.DataObject) -> None:
    race = Race(data.draw)
    for _ in range(len(race.racers) + 1):
        race.round(stale=True)
        uids = sorted(race.fleet.replicas)
        race.fleet.serve(data.draw(st.lists(st.sampled_from(uids), max_size=2, unique=True)) if uids else [])
    settled = race.fleet.snapshot()
    for _ in range(2 * len(race.racers) + 2):
        race.round()
    assert {r.uid for r in settled.replicas if r.has_served} <= set(race.fleet.replicas)


@pytest.mark.proves("R86")
@given(st.data())
@examples(80)
def test_one_order_over_all_replicas_decides_which_one_yields(data: st.DataObject) -> None:
    race = Race(data.draw, growing=False)
    for _ in range(2):
        race.round()
        now = race.fleet.snapshot()
        expected = yielding(now.replicas, now.clusters)
        ends = [end for racer in race.racers for end in decide(racer, now).schedule.ending]
        assert {end.replica.uid for end in ends} == expected
        assert {end.cause for end in ends} <= {EndCause.YIELDED}
