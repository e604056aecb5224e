"""Ways to match: of those that take the same one is looked at, and a spec that has few of them is decided."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from modelplane.lru import Lru
from modelplane.model.deployment import Deployment, DeviceRequest, Engine, Member, Profile, Role
from modelplane.model.fleet import Attribute, Cluster, Pool
from modelplane.model.placement import Schedule
from modelplane.model.refusal import Refusal, SearchBound
from modelplane.scheduling import search_budget
from modelplane.scheduling.matching import choices, selectors, ways
from modelplane.scheduling.matching.match import MemberOption
from modelplane.scheduling.matching.options import Options
from modelplane.scheduling.pools.hardware import hardware
from modelplane.scheduling.room import charge, search
from modelplane.scheduling.search_budget import Allowance, SearchBudget, allowed
from property import differing, large
from property.fleet import Snapshot, decide
from property.oracles.groups import distinct_groups, distinct_ways
from property.oracles.matching import Claims, member_claims
from property.oracles.placing import admissible
from property.oracles.room import Charge
from property.oracles.room import charge as charge_of
from property.oracles.selectors import ANY_GPU
from property.strategies import Draw, examples, pools, requests, situations
from property.test_oracles import gpu
from unit.scheduling.scene import match

#: Specs of fewer distinct ways are always decided, within so many passes.
DECIDED, PASSES = 2_000, 20


@st.composite
def small_members(draw: st.DrawFn) -> Member:
    return Member(Role.STANDALONE, 1, tuple(draw(requests(f"r{at}")) for at in range(draw(st.integers(1, 4)))))


def first_of_each(pool: Pool, member: Member) -> dict[Charge, Claims]:
    """Return for every distinct charge the first claims in declared order."""
    found: dict[Charge, Claims] = {}
    for claims in member_claims(pool, member):
        found.setdefault(charge_of(pool, claims), claims)
    return found


def matched(pool: Pool, member: Member) -> tuple[MemberOption, ...]:
    found = match(member, hardware(pool.devices))
    return () if isinstance(found, Refusal) else found


@pytest.mark.proves("R18")
@given(pools("x"), small_members())
@examples(300)
def test_a_member_has_the_first_way_of_every_distinct_charge_in_declared_order(pool: Pool, member: Member) -> None:
    found = matched(pool, member)
    assert [(option.demand, option.claims) for option in found] == list(first_of_each(pool, member).items())
    assert all(option.demand == charge.demand(option.claims, hardware(pool.devices)) for option in found)


@given(pools("x"), small_members())
@examples(200)
def test_what_the_search_in_order_does_not_finish_is_found_class_by_class(pool: Pool, member: Member) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choices, "IN_ORDER", 0)
        found = matched(pool, member)
    assert {option.demand for option in found} == set(first_of_each(pool, member))
    assert len({option.demand for option in found}) == len(found)
    assert {option.claims for option in found} <= set(member_claims(pool, member))


@given(st.data())
@examples(80)
def test_an_engine_of_few_distinct_groups_is_matched_however_many_ways_there_are(data: st.DataObject) -> None:
    engine = data.draw(large.engines("e"))
    cluster = data.draw(large.clusters("c", (engine,)))
    pool = (cluster.pools or ())[0]
    assume(distinct_groups(engine, pool, DECIDED) is not None)
    found = Options(Profile((engine,)), SearchBudget()).match(0, hardware(pool.devices))
    assert not isinstance(found.refusal, SearchBound)


@pytest.mark.proves("R19")
@given(st.data())
@examples(80)
def test_a_spec_of_few_distinct_ways_is_decided(data: st.DataObject) -> None:
    engines = data.draw(large.engine_lists())
    clusters = {name: data.draw(large.clusters(name, engines)) for name in ("a", "b")}
    for cluster in clusters.values():
        assume(distinct_ways(engines, cluster.pools or (), DECIDED) is not None)
    deployment = Deployment("team", "model", "owner", (Profile(engines),), replicas=data.draw(st.integers(1, 4)))
    decided = decide(deployment, Snapshot(clusters)).schedule
    assert "SearchBound" not in {refusal.reason for refusal in decided.refusals.values()}


def varied(cluster: Cluster, number: int) -> Cluster:
    """Return the cluster under another name, with a driver version of its own on every device."""
    own = Attribute("driverVersion", "version", f"580.{number}.0")
    pools_ = (
        replace(
            pool,
            devices=tuple(replace(each, attributes=(own, *each.attributes)) for each in pool.devices),
        )
        for pool in cluster.pools or ()
    )
    return replace(cluster, name=f"c{number}", pools=tuple(pools_))


@pytest.mark.proves("R19")
@given(st.data())
@examples(30)
def test_a_spec_of_few_distinct_ways_is_decided_on_clusters_whose_devices_all_differ(data: st.DataObject) -> None:
    engines = data.draw(large.engine_lists())
    alike = data.draw(large.clusters("c", engines))
    assume(distinct_ways(engines, alike.pools or (), DECIDED) is not None)
    number = data.draw(st.sampled_from((20, 50, 100)))
    clusters = {each.name: each for each in (varied(alike, at) for at in range(number))}
    deployment = Deployment("team", "model", "owner", (Profile(engines),), replicas=data.draw(st.integers(1, 4)))
    decided = decide(deployment, Snapshot(clusters)).schedule
    assert "SearchBound" not in {refusal.reason for refusal in decided.refusals.values()}
    assert decided.placements or len(decided.refusals) == number


def decided_in_passes(deployment: Deployment, fleet: Snapshot) -> Iterator[Schedule]:
    """Yield what each pass of a server decides, up to the first that postpones nothing."""
    postponed = True
    while postponed:
        with allowed(Allowance()):
            found = decide(deployment, fleet).schedule
        yield found
        postponed = found.postponed


def assert_decided(engines: tuple[Engine, ...], fleet: Snapshot) -> None:
    """Assert that within `PASSES` no cluster is refused as SearchBound, if only the engines have few ways on each."""
    deployment = Deployment("team", "model", "owner", (Profile(engines),), replicas=2_000)
    *_, last = islice(decided_in_passes(deployment, fleet), PASSES)
    if any(isinstance(refusal, SearchBound) for refusal in last.refusals.values()):
        ways = (distinct_ways(engines, cluster.pools or (), DECIDED) for cluster in fleet.clusters.values())
        assert any(each is None for each in ways)


@pytest.mark.proves("R19")
@given(st.data())
@examples(20)
def test_a_spec_of_few_distinct_ways_is_decided_on_clusters_that_differ_in_counts_nodes_and_what_runs_there(
    data: st.DataObject,
) -> None:
    engines = data.draw(large.engine_lists())
    kinds = tuple(data.draw(large.clusters(name, engines)) for name in ("a", "b"))
    for kind in kinds:
        assume(distinct_ways(engines, kind.pools or (), DECIDED) is not None)
    assert_decided(engines, data.draw(differing.fleets(kinds, data.draw(st.sampled_from((20, 100))))))


@pytest.mark.proves("R19")
@given(st.data())
@examples(8)
def test_an_engine_of_hundreds_of_distinct_ways_is_decided_on_clusters_that_all_differ(data: st.DataObject) -> None:
    engine, cluster = data.draw(differing.crowded())
    assume(distinct_ways((engine,), cluster.pools or (), DECIDED) is not None)
    assert_decided((engine,), data.draw(differing.fleets((cluster,), data.draw(st.sampled_from((20, 50))))))


def few_gpus(draw: Draw, name: str) -> Engine:
    request = DeviceRequest("gpu", draw(st.integers(1, 4)), (ANY_GPU,))
    return Engine(name, (Member(Role.STANDALONE, 1, (request,)),), draw(st.integers(1, 2)))


@given(st.data())
@examples(150)
def test_many_engines_are_on_the_first_pools_that_take_all_of_them(data: st.DataObject) -> None:
    engines = tuple(few_gpus(data.draw, f"e{at}") for at in range(data.draw(st.integers(3, 5))))
    counts = st.tuples(st.integers(1, 3), st.integers(2, 8))
    drawn = data.draw(st.lists(counts, min_size=1, max_size=3))
    pools_ = tuple(Pool(f"p{at}", nodes, (gpu(count=count),)) for at, (nodes, count) in enumerate(drawn))
    cluster = Cluster("c", ready=True, address="192.0.2.1", pools=pools_)
    deployment = Deployment("team", "model", "owner", (Profile(engines),))
    first = next(admissible(cluster, deployment, ()), None)
    decided = decide(deployment, Snapshot({"c": cluster})).schedule
    assert [placement.engines for placement in decided.placements] == ([first] if first else [])


@contextmanager
def nothing_remembered() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        memories = (selectors, "VERDICTS"), (ways, "MATCHES"), (search, "ASSIGNMENTS"), (search, "COUNTS")
        for module, name in memories:
            patch.setattr(getattr(module, name), "_remembered", Lru(1 << 30))
        yield patch


@pytest.mark.proves("R19")
@given(situations(), situations(), st.integers(1, 60))
@examples(100)
def test_results_cached_by_other_passes_change_no_decision_however_small_the_budget(
    one: tuple[Deployment, Snapshot], other: tuple[Deployment, Snapshot], states: int
) -> None:
    def run(of: tuple[Deployment, Snapshot]) -> Schedule:
        return decide(*of).schedule

    with nothing_remembered() as patch:
        patch.setattr(search_budget, "SEARCH_STATES", states)
        patch.setattr(search_budget, "PASS_STATES", 2 * states)
        patch.setattr(search_budget, "CLUSTER_STATES", 0)
        cold = run(one)
        with nothing_remembered():
            run(other)
            after_another = run(one)
            again = run(one)
    assert cold == after_another == again
