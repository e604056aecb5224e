"""Hypothesis strategies for pools and the groups that are on them."""

from hypothesis import strategies as st

from modelplane.scheduling.pools.groups import Demand, Group, Groups, size


@st.composite
def demands(draw: st.DrawFn, counts: tuple[int, ...]) -> Demand:
    """Draw what a pod takes of each entry, of one of them at least one device."""
    taken = []
    for count in counts:
        most = draw(st.integers(0, count))
        taken.append((draw(st.sampled_from((most, draw(st.integers(0, most))))), most))
    if not any(most for _, most in taken):
        taken[0] = (1, 1)
    return tuple(taken)


@st.composite
def groups_of(draw: st.DrawFn, counts: tuple[int, ...]) -> Group:
    """Draw the pods of an engine: of one or two members, some with pods beside them that take no device."""
    pods: dict[Demand, int] = {(): draw(st.integers(1, 12))} if draw(st.integers(0, 4)) == 0 else {}
    for _ in range(draw(st.integers(1, 2))):
        demand = draw(demands(counts))
        pods[demand] = pods.get(demand, 0) + draw(st.integers(1, 5))
    return tuple(sorted(pods.items()))


@st.composite
def pools(draw: st.DrawFn) -> tuple[int, tuple[int, ...], Groups]:
    """Draw a pool's nodes, the devices of each entry, and what is there."""
    counts = tuple(draw(st.lists(st.sampled_from((1, 3, 4, 8)), min_size=1, max_size=2)))
    counted: dict[Group, int] = {}
    for group in draw(st.lists(groups_of(counts), min_size=1, max_size=8)):
        counted[group] = counted.get(group, 0) + 1
    groups = tuple(sorted(counted.items()))
    pods = sum(size(group) * many for group, many in groups)
    return draw(st.integers(1, pods + 1)), counts, groups
