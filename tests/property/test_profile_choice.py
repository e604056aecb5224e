"""Profiles of a ClusterModel on small fleets, against brute force over profiles, clusters and pools."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.model.catalogue import Capabilities, Requires
from modelplane.model.deployment import Deployment, DeviceRequest, Engine, Member, ModelRef, Profile, Resolution, Role
from modelplane.model.fleet import Cluster, Device, Pool
from modelplane.model.replica import Replica, StampedEngine
from modelplane.scheduling.steps.freeing import find_freed
from property.fleet import Snapshot, decide
from property.oracles.placing import admissible
from property.strategies import examples

GPU = "gpu.nvidia.com"
DRIVER = f'device.driver == "{GPU}"'
MEMORY = (24, 80, 141)


@st.composite
def pools(draw: st.DrawFn, name: str) -> Pool:
    """Draw a pool of alike GPUs, which may declare its memory and that engines may span its nodes."""
    gib = draw(st.sampled_from(MEMORY))
    device = Device("gpu", GPU, GPU, draw(st.sampled_from([1, 2])), capacity=(("memory", f"{gib}Gi"),))
    declared = Capabilities(
        memory_per_gpu=draw(st.sampled_from([None, f"{gib}Gi"])), multi_node=draw(st.sampled_from([None, False, True]))
    )
    return Pool(name, draw(st.integers(0, 3)), (device,), declared)


@st.composite
def fleets(draw: st.DrawFn) -> dict[str, Cluster]:
    """Draw up to three clusters of up to two pools, in one of two regions."""
    return {
        name: Cluster(
            name,
            {"region": draw(st.sampled_from(["eu", "us"]))},
            ready=True,
            address="192.0.2.1",
            pools=tuple(draw(pools(f"{name}{at}")) for at in range(draw(st.integers(1, 2)))),
        )
        for name in ("a", "b", "c")[: draw(st.integers(1, 3))]
    }


@st.composite
def profiles(draw: st.DrawFn, name: str) -> Profile:
    """Draw a profile of one or two nodes with one or two GPUs, which may require memory and a region."""
    nodes, asked = draw(st.integers(1, 2)), (DeviceRequest("gpu", draw(st.integers(1, 2)), (), gpu=True),)
    members = [Member(Role.STANDALONE, 1, asked)]
    if nodes > 1:
        members = [Member(Role.LEADER, 1, asked), Member(Role.WORKER, 1, asked)]
    memory = draw(st.sampled_from([None, *(f"{gib}Gi" for gib in MEMORY)]))
    region = draw(st.sampled_from([{}, {}, {"region": "eu"}]))
    requires = Requires(memory_per_gpu=memory, several_nodes=nodes > 1)
    return Profile((Engine(name, tuple(members)),), f"content {name}", name, requires, region, f"r{name}")


@st.composite
def catalogues(draw: st.DrawFn) -> Deployment:
    """Draw a deployment of up to four replicas and three profiles."""
    found = tuple(draw(profiles(name)) for name in ("p", "q", "r")[: draw(st.integers(1, 3))])
    wanted = Deployment("team", "model", "owner", found, replicas=draw(st.integers(1, 4)), revision="several")
    return replace(wanted, model=ModelRef("m"), resolution=Resolution(1))


def _gib(text: str) -> int:
    return int(text.removesuffix("Gi"))


def satisfies(pool: Pool, profile: Profile) -> bool:
    """Tell by plain numbers whether a pool satisfies what a profile requires."""
    requires, declared = profile.requires, pool.capabilities
    assert requires is not None
    assert declared is not None
    if requires.several_nodes and not declared.multi_node:
        return False
    has = declared.memory_per_gpu or pool.devices[0].capacity[0][1]
    return requires.memory_per_gpu is None or _gib(has) >= _gib(requires.memory_per_gpu)


def plain(deployment: Deployment, profile: Profile) -> Deployment:
    """Return a deployment that states the engines of a profile itself, with the driver of the only GPUs there are."""
    (engine,) = profile.engines
    members = tuple(
        replace(each, requests=tuple(DeviceRequest("gpu", one.count, (DRIVER,)) for one in each.requests))
        for each in engine.members
    )
    stated = Profile((replace(engine, members=members),), profile.content)
    return replace(deployment, profiles=(stated,), model=None, resolution=Resolution())


def restricted(cluster: Cluster, profile: Profile) -> Cluster:
    """Return a cluster with no more than the pools that satisfy a profile."""
    return replace(cluster, pools=tuple(pool for pool in cluster.pools or () if satisfies(pool, profile)))


def can_host(cluster: Cluster, deployment: Deployment, profile: Profile, held: list[Replica]) -> bool:
    """Tell by brute force whether a cluster can host one more replica on a profile, beside what is there."""
    if any(cluster.labels.get(key) != value for key, value in profile.cluster_selector.items()):
        return False
    return next(admissible(restricted(cluster, profile), plain(deployment, profile), held), None) is not None


def placed(deployment: Deployment, now: Snapshot) -> list[tuple[str, str, tuple[StampedEngine, ...]]]:
    """Return the profile, cluster and engines of each placement of a pass."""
    return [(each.profile, each.cluster, each.engines) for each in decide(deployment, now).schedule.placements]


@pytest.mark.proves("R79")
@given(catalogues(), fleets())
@examples(150)
def test_no_better_profile_was_possible_and_none_at_all_where_a_replica_is_unplaced(
    deployment: Deployment, fleet: dict[str, Cluster]
) -> None:
    found = placed(deployment, Snapshot(fleet, ()))
    held = [Replica("team", f"r{at}", f"r{at}", cluster, engines) for at, (_, cluster, engines) in enumerate(found)]
    used = [[each.name for each in deployment.profiles].index(name) for name, _, _ in found]
    better = range(len(deployment.profiles) if len(found) < deployment.replicas else max(used, default=0))
    for at in better:
        for cluster in fleet.values():
            assert not can_host(cluster, deployment, deployment.profiles[at], held), (at, cluster.name)


@given(catalogues(), fleets())
@examples(150)
def test_a_replica_is_on_pools_that_satisfy_its_profile(deployment: Deployment, fleet: dict[str, Cluster]) -> None:
    by_name = {each.name: each for each in deployment.profiles}
    for name, cluster, engines in placed(deployment, Snapshot(fleet, ())):
        there = {pool.name: pool for pool in fleet[cluster].pools or ()}
        assert all(satisfies(there[engine.pool], by_name[name]) for engine in engines)


@given(catalogues(), fleets(), st.randoms())
@examples(100)
def test_the_order_of_clusters_changes_nothing(
    deployment: Deployment, fleet: dict[str, Cluster], random: object
) -> None:
    names = list(fleet)
    random.shuffle(names)  # type: ignore[attr-defined]
    shuffled = {name: fleet[name] for name in names}
    assert placed(deployment, Snapshot(fleet, ())) == placed(deployment, Snapshot(shuffled, ()))


@pytest.mark.proves("R76")
@given(catalogues(), fleets())
@examples(100)
def test_one_profile_is_its_expansion_on_the_pools_that_satisfy_it(
    deployment: Deployment, fleet: dict[str, Cluster]
) -> None:
    (profile, *_) = deployment.profiles
    one = replace(deployment, profiles=(profile,))
    stated = replace(plain(one, profile), cluster_selector=profile.cluster_selector)
    smaller = {name: restricted(cluster, profile) for name, cluster in fleet.items()}
    ours = [(cluster, engines) for _, cluster, engines in placed(one, Snapshot(fleet, ()))]
    assert ours == [(cluster, engines) for _, cluster, engines in placed(stated, Snapshot(smaller, ()))]


@given(catalogues(), fleets(), catalogues())
@examples(100)
def test_no_edit_of_the_catalogue_ends_a_replica_that_serves_before_another_does(
    deployment: Deployment, fleet: dict[str, Cluster], edited: Deployment
) -> None:
    contents = {each.name: each.content for each in deployment.profiles}
    serving = tuple(
        replace(
            Replica("team", f"r{at}", f"r{at}", cluster, engines, owner="owner", resource="", index=at, profile=name),
            ready=True,
            has_served=True,
            served_engines=engines,
            content=contents[name],
            served_content=contents[name],
        )
        for at, (name, cluster, engines) in enumerate(placed(deployment, Snapshot(fleet, ())))
    )
    decided = decide(replace(edited, replicas=deployment.replicas), Snapshot(fleet, serving)).schedule
    assert {each.replica.uid for each in decided.placements if each.replica} == {each.uid for each in serving}


@given(catalogues(), fleets())
@examples(150)
def test_what_would_have_to_go_makes_room_none_of_it_is_left_out_and_without_all_of_it_nothing_would(
    deployment: Deployment, fleet: dict[str, Cluster]
) -> None:
    found = placed(replace(deployment, replicas=4), Snapshot(fleet, ()))
    held = [Replica("team", f"r{at}", f"r{at}", cluster, engines) for at, (_, cluster, engines) in enumerate(found)]
    for profile in deployment.profiles:
        probe = replace(deployment, profiles=(profile,), replicas=1, uid="probe")
        freed = find_freed(probe, fleet.values(), held)
        hosted_empty = any(can_host(cluster, probe, profile, []) for cluster in fleet.values())
        assert (freed is not None) == hosted_empty
        if freed is None:
            continue
        left = [each for each in held if each not in freed]
        assert any(can_host(cluster, probe, profile, left) for cluster in fleet.values())
        for each in freed:
            one_more = [*left, each]
            on = fleet[each.cluster]
            assert not can_host(on, probe, profile, one_more)


@given(catalogues(), fleets(), st.randoms())
@examples(100)
def test_in_whatever_order_profiles_are_the_first_that_any_cluster_can_host_is_taken(
    deployment: Deployment, fleet: dict[str, Cluster], random: object
) -> None:
    profiles = list(deployment.profiles)
    random.shuffle(profiles)  # type: ignore[attr-defined]
    one = replace(deployment, profiles=tuple(profiles), replicas=1)
    hosted = [each.name for each in profiles if any(can_host(there, one, each, []) for there in fleet.values())]
    assert [name for name, _, _ in placed(one, Snapshot(fleet, ()))] == hosted[:1]
