"""Hypothesis strategies for what a service is routed by: entries, and endpoints that some of them select."""

from hypothesis import strategies as st

from modelplane.model.routing import Address, Endpoint, ServiceEntry

_VALUES = st.sampled_from(("a", "b", "c"))


def address(name: str, *, mutual_tls: bool = False) -> Address:
    """Return the address of an endpoint, its own as of a replica."""
    return Address(f"{name}.ml.eu-1.replicas.modelplane.internal", "gw.example.org", 443, mutual_tls=mutual_tls)


_PLAIN, _SECURED, _MIXED = (
    tuple(address(f"e-{number}", mutual_tls=number in secured) for number in range(5_000))
    for secured in ((), range(5_000), range(0, 5_000, 3))
)


@st.composite
def endpoints(draw: st.DrawFn, most: int = 12) -> tuple[Endpoint, ...]:
    """Draw endpoints with names of their own, in any state."""
    return tuple(
        Endpoint(
            name=f"e-{number}",
            labels={"group": draw(_VALUES), "tier": draw(_VALUES)},
            address=address(f"e-{number}", mutual_tls=draw(st.booleans())) if draw(st.integers(0, 9)) else None,
            ready=(ready := draw(st.booleans())),
            leaving=not draw(st.integers(0, 3)),
            is_off=not ready and draw(st.booleans()),
        )
        for number in range(draw(st.integers(0, most)))
    )


@st.composite
def entries(draw: st.DrawFn, most: int = 5) -> tuple[ServiceEntry, ...]:
    """Draw entries with keys of their own, whose selectors overlap."""
    selectors = st.dictionaries(st.sampled_from(("group", "tier")), _VALUES, max_size=2)
    weights = st.one_of(st.integers(1, 100), st.integers(1, 1_000_000))
    return tuple(
        ServiceEntry(f"entry-{number}", draw(selectors), draw(weights), draw(st.integers(0, 1)))
        for number in range(draw(st.integers(1, most)))
    )


@st.composite
def listings(draw: st.DrawFn) -> list[tuple[ServiceEntry, tuple[Address, ...]]]:
    """Draw entries with what each lists: none, few, or more than fits into a Backend, up to more than fit into 16.

    They are reached in plain, by mutual TLS, or some so and some so.
    """
    sizes = st.one_of(st.integers(0, 5), st.integers(250, 800), st.integers(3_000, 5_000))
    hops = st.sampled_from((_PLAIN, _SECURED, _MIXED))
    return [(entry, draw(hops)[: draw(sizes)]) for entry in draw(entries(most=16))]


@st.composite
def served(draw: st.DrawFn) -> dict[str, str]:
    """Draw the names under which endpoints serve, some of them not known."""
    models = st.one_of(_VALUES, st.sampled_from(("", "/mnt/models", "meta-llama/Llama-3.3-70B-Instruct:v1@a+b")))
    length = draw(st.sampled_from((1, 50)))
    return {f"{'e' * length}-{number}": draw(models) for number in range(draw(st.integers(0, 100)))}
