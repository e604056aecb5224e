"""Hypothesis strategies for specs up to the bounds of the XRDs, and pools to match them."""

from hypothesis import strategies as st

from modelplane.model.deployment import DeviceRequest, Engine, Member, Role
from modelplane.model.fleet import Attribute, ClaimKind, Cluster, Device, Pool
from property.oracles.selectors import ANY_GPU, ANYTHING, GPU, MEMORY_40, MEMORY_80, MODEL_A, MODEL_B

#: Bounds of ModelDeployment and of InferenceCluster's status.
ENGINES, REQUESTS, COUNT, COPIES, WORKERS = 8, 16, 64, 64, 63
POOLS, ENTRIES = 8, 16

_SELECTORS = ((ANY_GPU,), (ANYTHING,), (ANYTHING,), (MODEL_A,), (MODEL_B,), (MEMORY_40,), (ANY_GPU, MEMORY_80, MODEL_A))
#: Devices of a request: mostly few, some as many as may be.
_COUNTS = (st.just(1), st.sampled_from((1, 1, 1, 2, 4)), st.sampled_from((1, 2, 3, 5, 8, 13)), st.integers(1, COUNT))


@st.composite
def members(draw: st.DrawFn, role: Role, most: int = REQUESTS) -> Member:
    """Draw a member of up to `most` requests, most of which any device satisfies."""
    counts = draw(st.sampled_from(_COUNTS))
    asked = tuple(
        DeviceRequest(f"r{at}", draw(counts), draw(st.sampled_from(_SELECTORS)))
        for at in range(draw(st.integers(1, most)))
    )
    return Member(role, draw(st.sampled_from((1, 2, WORKERS))) if role is Role.WORKER else 1, asked)


@st.composite
def engines(draw: st.DrawFn, name: str, most: int = REQUESTS) -> Engine:
    """Draw a Standalone or a gang."""
    roles = draw(st.sampled_from(((Role.STANDALONE,), (Role.LEADER, Role.WORKER))))
    return Engine(name, tuple(draw(members(role, most)) for role in roles), draw(st.sampled_from((1, 1, 2, COPIES))))


@st.composite
def engine_lists(draw: st.DrawFn) -> tuple[Engine, ...]:
    """Draw up to eight engines: few with many requests, or many with few."""
    number = draw(st.sampled_from((1, 1, 2, 4, ENGINES)))
    most = draw(st.sampled_from([size for size in (1, 2, 4, 8, REQUESTS) if size * number <= 2 * REQUESTS]))
    return tuple(draw(engines(f"e{at}", most)) for at in range(number))


@st.composite
def pools(draw: st.DrawFn, name: str, devices: int) -> Pool:
    """Draw a pool that has about as many devices on a node as are asked for, in few classes."""
    entries = draw(st.sampled_from((1, 2, 4, 8, ENTRIES)))
    classes = draw(st.sampled_from((1, 2, 2, 3)))
    each = max(1, round(devices * draw(st.sampled_from((1.0, 1.3, 2.0, 5.0))) / entries))
    return Pool(
        name,
        draw(st.sampled_from((1, 2, 4, 20, 300))),
        tuple(
            Device(
                f"d{at}",
                GPU,
                f"class-{draw(st.integers(1, classes))}",
                draw(st.integers(max(1, each // 2), each * 2)),
                ClaimKind.DRA,
                (Attribute("model", "string", draw(st.sampled_from("ab"))),),
                (("memory", draw(st.sampled_from(("40Gi", "80Gi")))),),
            )
            for at in range(entries)
        ),
    )


@st.composite
def clusters(draw: st.DrawFn, name: str, of: tuple[Engine, ...]) -> Cluster:
    """Draw a cluster of up to eight pools for these engines."""
    devices = max(sum(r.count for r in member.requests) for engine in of for member in engine.members)
    names = [f"p{at}" for at in range(draw(st.sampled_from((1, 1, 2, 4, POOLS))))]
    return Cluster(name, ready=True, address="192.0.2.1", pools=tuple(draw(pools(pool, devices)) for pool in names))
