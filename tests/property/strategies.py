"""Hypothesis strategies for small fleets: pools with overlapping kinds of devices, gangs, copies, several engines."""

import os
from typing import Protocol, TypeVar

from hypothesis import settings
from hypothesis import strategies as st

from modelplane.model.deployment import Deployment, DeviceRequest, Engine, Member, Profile, Role, Toleration
from modelplane.model.fleet import Attribute, ClaimKind, Cluster, Device, Effect, Pool, Taint
from modelplane.model.replica import Replica
from property.fleet import Snapshot
from property.oracles.arrangements import stranded
from property.oracles.placing import Stamped, admissible
from property.oracles.room import groups_on
from property.oracles.selectors import (
    ANY_GPU,
    ANY_NIC,
    ANYTHING,
    FAST,
    GPU,
    GUARDED_FAST,
    MEMORY_40,
    MEMORY_80,
    MODEL_A,
    MODEL_B,
    NIC,
)

NODES = st.integers(0, 4)
LABELS: tuple[dict[str, str], ...] = ({}, {"region": "eu"}, {"region": "us"})


T = TypeVar("T")


class Draw(Protocol):
    """What draws a value from a strategy, inside a composite strategy or inside a test."""

    def __call__(self, strategy: st.SearchStrategy[T], /) -> T:
        """Return a value."""


def examples(default: int) -> settings:
    """Return the number of examples of a property: `default`, or MODELPLANE_HYPOTHESIS_EXAMPLES."""
    return settings(max_examples=int(os.environ.get("MODELPLANE_HYPOTHESIS_EXAMPLES", default)))


@st.composite
def gpus(draw: st.DrawFn, name: str, most: int = 4) -> Device:
    """Draw a claimable GPU entry; some declare no `fast`, so that a selector errs on them."""
    attributes = [Attribute("model", "string", draw(st.sampled_from("ab")))]
    fast = draw(st.sampled_from((None, True, False, True)))
    if fast is not None:
        attributes.insert(0, Attribute("fast", "bool", fast))
    return Device(
        name,
        GPU,
        draw(st.sampled_from(("gpu", "gpu", "gpu", "gpu-alt"))),
        draw(st.integers(1, most)),
        ClaimKind.DRA,
        tuple(attributes),
        (("memory", draw(st.sampled_from(("40Gi", "80Gi")))),),
    )


@st.composite
def nics(draw: st.DrawFn) -> Device:
    """Draw a network device, claimable or only declared."""
    claim = draw(st.sampled_from(ClaimKind))
    return Device("nic", NIC, "nic" if claim is ClaimKind.DRA else None, draw(st.integers(1, 2)), claim)


@st.composite
def pools(draw: st.DrawFn, name: str, nodes: st.SearchStrategy[int] = NODES, most: int = 4) -> Pool:
    """Draw a pool of up to four nodes with up to three entries, most of them of one class."""
    devices = [draw(gpus(f"gpu-{i}", most)) for i in range(draw(st.sampled_from((1, 1, 2, 2))))]
    if draw(st.booleans()):
        devices.insert(draw(st.integers(0, len(devices))), draw(nics()))
    return Pool(name, draw(nodes), tuple(devices))


@st.composite
def requests(draw: st.DrawFn, name: str) -> DeviceRequest:
    """Draw a device request of one or two selectors."""
    selectors = draw(
        st.sampled_from(
            (
                (ANY_GPU,),
                (ANY_GPU,),
                (ANY_GPU, MODEL_A),
                (MODEL_A,),
                (MODEL_B,),
                (MEMORY_40,),
                (ANY_GPU, MEMORY_80),
                (FAST,),
                (MODEL_A, FAST),
                (GUARDED_FAST,),
                (ANY_NIC,),
                (ANYTHING,),
            )
        )
    )
    return DeviceRequest(name, draw(st.sampled_from((1, 1, 2, 3))), selectors)


@st.composite
def members(draw: st.DrawFn, role: Role) -> Member:
    """Draw a member; a leader may come without a nodeSelector."""
    count = draw(st.sampled_from((0, 1) if role is Role.LEADER else (1, 1, 1, 2)))
    asked = tuple(draw(requests(f"r{i}")) for i in range(count))
    return Member(role, draw(st.integers(1, 2)) if role is Role.WORKER else 1, asked)


@st.composite
def engines(draw: st.DrawFn, name: str) -> Engine:
    """Draw an engine: a Standalone, or a gang whose leader may claim nothing."""
    copies = draw(st.sampled_from((1, 1, 1, 2)))
    if draw(st.sampled_from((True, True, False))):
        return Engine(name, (draw(members(Role.STANDALONE)),), copies)
    return Engine(name, (draw(members(Role.LEADER)), draw(members(Role.WORKER))), copies)


@st.composite
def engine_lists(draw: st.DrawFn) -> tuple[Engine, ...]:
    """Draw one or two engines."""
    return tuple(draw(engines(f"e{i}")) for i in range(draw(st.sampled_from((1, 1, 2)))))


@st.composite
def deployments(draw: st.DrawFn, number: int = 1, most: int = 4) -> Deployment:
    """Draw a deployment of up to `most` replicas."""
    return Deployment(
        draw(st.sampled_from(("team-a", "team-b"))),
        draw(st.sampled_from(("model", f"model-{number}"))),
        f"owner-{number}",
        (Profile(draw(engine_lists())),),
        created=f"2024-01-01T00:00:{number:02}Z",
        replicas=draw(st.integers(1, most)),
        cluster_selector=draw(st.sampled_from(({}, {}, {"region": "eu"}))),
    )


@st.composite
def clusters(draw: st.DrawFn, name: str, nodes: st.SearchStrategy[int] = NODES) -> Cluster:
    """Draw a cluster, usually able to take replicas."""
    usable = draw(st.sampled_from((True, True, True, False)))
    names = draw(st.permutations(("x", "y", "z")))[: draw(st.integers(1, 3))]
    return Cluster(
        name,
        draw(st.sampled_from(LABELS)),
        ready=usable or draw(st.booleans()),
        address="192.0.2.1" if usable else None,
        pools=tuple(draw(pools(pool, nodes)) for pool in names),
    )


def fleets(most: int = 3) -> st.SearchStrategy[dict[str, Cluster]]:
    """Return a strategy of one to `most` clusters by name."""
    names = [f"c{i}" for i in range(most)]
    return st.integers(1, most).flatmap(
        lambda count: st.fixed_dictionaries({name: clusters(name) for name in names[:count]})
    )


@st.composite
def residents(draw: st.DrawFn, fleet: dict[str, Cluster], most: int = 4) -> list[Replica]:
    """Draw replicas of others that stand on the fleet by the rules, so that no group can be stranded at the outset."""
    held: list[Replica] = []
    for number in range(draw(st.integers(0, most))):
        cluster = fleet[draw(st.sampled_from(sorted(fleet)))]
        way: Stamped | None = next(admissible(cluster, draw(deployments(90 + number)), held), None)
        if way is not None:
            replica = Replica(
                "team-c",
                f"other-{number}",
                f"uid-other-{draw(st.integers(0, 9))}-{number}",
                cluster.name,
                way,
                owner=draw(st.sampled_from(("", "owner-other"))),
                created=f"2023-01-01T00:00:{draw(st.integers(0, 59)):02}Z",
                index=number,
                has_served=draw(st.booleans()),
            )
            if not any(
                stranded(pool, groups_on(cluster.name, pool.name, [*held, replica])) for pool in cluster.pools or ()
            ):
                held.append(replica)
    return held


@st.composite
def taints(draw: st.DrawFn) -> tuple[Taint, ...]:
    """Draw up to two taints."""
    return tuple(
        Taint(draw(st.sampled_from("kl")), draw(st.sampled_from(Effect)), draw(st.sampled_from(("", "v"))))
        for _ in range(draw(st.integers(0, 2)))
    )


@st.composite
def tolerations(draw: st.DrawFn) -> tuple[Toleration, ...]:
    """Draw up to two tolerations, as the API admits them: Equal has a key, Exists has no value."""
    drawn = []
    for _ in range(draw(st.integers(0, 2))):
        exists = draw(st.booleans())
        key = draw(st.sampled_from(("", "k", "l") if exists else ("k", "l")))
        value = "" if exists else draw(st.sampled_from(("", "v")))
        drawn.append(Toleration(key, exists, value, draw(st.sampled_from((None, *Effect)))))
    return tuple(drawn)


@st.composite
def situations(draw: st.DrawFn) -> tuple[Deployment, Snapshot]:
    """Draw a deployment that has no replica yet, and a fleet on which others stand by the rules."""
    fleet = draw(fleets())
    return draw(deployments()), Snapshot(fleet, tuple(draw(residents(fleet))))
