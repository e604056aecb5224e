"""Hypothesis strategies for fleets no two clusters of which are alike: in devices, in nodes, and in what runs there."""

from dataclasses import replace

from hypothesis import strategies as st

from modelplane.model.deployment import DeviceRequest, Engine, Member, Role
from modelplane.model.fleet import Attribute, ClaimKind, Cluster, Device, Pool
from modelplane.model.replica import Claim, Replica, StampedEngine, StampedMember
from property.fleet import Snapshot
from property.oracles.selectors import ANYTHING, GPU

#: Requests of a leader and of a worker, any of which any device satisfies, and the classes of a pool's devices.
_CROWDED = ((12, 0, 5), (9, 0, 5), (8, 0, 4), (5, 5, 3), (4, 4, 4), (4, 3, 4), (7, 7, 2))
#: A driver version is no other's on every device: nothing reads it.
_UNREAD = "driverVersion"
#: Nodes of a pool: some short of any size of group, some with room for many.
_NODES = (1, 1, 2, 3, 5)


@st.composite
def crowded(draw: st.DrawFn) -> tuple[Engine, Cluster]:
    """Draw an engine of hundreds of distinct ways, just fewer than are decided, and a cluster that it has them on."""
    leader, worker, classes = draw(st.sampled_from(_CROWDED))
    roles = ((Role.STANDALONE, leader),) if not worker else ((Role.LEADER, leader), (Role.WORKER, worker))
    members = tuple(
        Member(role, 1, tuple(DeviceRequest(f"r{at}", 1, (ANYTHING,)) for at in range(number)))
        for role, number in roles
    )
    each = draw(st.sampled_from((3, 6, 16)))
    devices = tuple(Device(f"d{at}", GPU, f"class-{at}", each, ClaimKind.DRA) for at in range(classes))
    cluster = Cluster("c", ready=True, address="192.0.2.1", pools=(Pool("p", 1, devices),))
    return Engine("main", members), cluster


@st.composite
def pools(draw: st.DrawFn, like: Pool, number: int) -> Pool:
    """Draw a pool whose entries have other counts than those of `like`, most of them as many or some more."""
    more = draw(st.integers(0, 8))
    devices = tuple(
        replace(
            each,
            count=max(1, each.count + (more + at + number) % 9 - 2),
            attributes=(Attribute(_UNREAD, "version", f"580.{number}.0"), *each.attributes),
        )
        for at, each in enumerate(like.devices)
    )
    return replace(like, nodes=draw(st.sampled_from(_NODES)), devices=devices)


@st.composite
def residents(draw: st.DrawFn, cluster: Cluster, number: int) -> tuple[Replica, ...]:
    """Draw serving replicas of others on a cluster; each takes from one class of a pool, and no two need take alike."""
    found = []
    for at in range(draw(st.sampled_from((0, 0, 1, 3, 10)))):
        pool = draw(st.sampled_from(cluster.pools or ()))
        device = draw(st.sampled_from(pool.devices))
        claims = (Claim("gpu", device.device_class or "", draw(st.integers(1, device.count)), (ANYTHING,)),)
        pods = draw(st.integers(1, max(1, pool.nodes // 2)))
        engine = StampedEngine("main", (StampedMember(Role.STANDALONE, pool.name, 1, claims),), pods)
        name = f"other-{number}-{at}"
        found.append(Replica("others", name, name, cluster.name, (engine,), owner=name, has_served=True))
    return tuple(found)


@st.composite
def fleets(draw: st.DrawFn, kinds: tuple[Cluster, ...], number: int) -> Snapshot:
    """Draw a fleet of so many clusters, each like one of some kinds but for counts, nodes and what runs there."""
    clusters: dict[str, Cluster] = {}
    running: list[Replica] = []
    for at in range(number):
        kind = kinds[at % len(kinds)]
        drawn = tuple(draw(pools(pool, at)) for pool in kind.pools or ())
        cluster = replace(kind, name=f"c{at:03}", pools=drawn)
        clusters[cluster.name] = cluster
        running += draw(residents(cluster, at))
    return Snapshot(clusters, tuple(running))
