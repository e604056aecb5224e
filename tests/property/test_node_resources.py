"""CPU and memory count as room: whatever is asked for, nothing is admitted that an arrangement of pods could strand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.model.resources import Resources
from modelplane.scheduling.pools.groups import Group, join
from modelplane.scheduling.pools.node_resources import counts_of, demand_of
from modelplane.scheduling.room.room import has_room, more
from property.oracles.amounts import Amounts, Pods, can_be_stranded
from property.strategies import examples

#: What nodes have: mostly no whole number of units.
MEMORY = st.sampled_from((7, 4099, 100_003, 2**36 - 1, 1007 * 2**30 + 12_345))
CPU = st.sampled_from((3, 4099, 191_999, 192_000))


@st.composite
def nodes(draw: st.DrawFn) -> Amounts:
    return draw(st.integers(2, 3)), draw(CPU), draw(MEMORY)


@st.composite
def asked(draw: st.DrawFn, node: Amounts) -> Amounts:
    """Draw what a pod asks for: nothing of a kind, or a part of the node's, or just more or less than that."""
    devices, *rest = node
    parts = [draw(st.sampled_from((0, 2, 2, 3))) for _ in rest]
    odd = [draw(st.sampled_from((0, 1))) for _ in rest]
    amounts = [
        max(0, min(has, has // part + more)) if part else 0 for has, part, more in zip(rest, parts, odd, strict=True)
    ]
    return (draw(st.sampled_from((1, 1, 1, devices))), *amounts)


def group_of(node: Amounts, pods: Pods) -> Group:
    has = Resources(node[1], node[2])
    counted: dict[tuple[tuple[int, int], ...], int] = {}
    for devices, cpu, memory in pods:
        demand = ((devices, devices), *demand_of(Resources(cpu, memory), has))
        counted[demand] = counted.get(demand, 0) + 1
    return tuple(sorted(counted.items()))


@pytest.mark.proves("R21")
@given(st.data(), nodes(), st.integers(1, 2))
@examples(300)
def test_no_arrangement_strands_a_pod_for_lack_of_cpu_or_memory(
    data: st.DataObject, node: Amounts, number: int
) -> None:
    counts = (node[0], *counts_of(Resources(node[1], node[2])))
    kept: list[Pods] = []
    groups: tuple[tuple[Group, int], ...] = ()
    for _ in range(4):
        pods = (data.draw(asked(node)),) * data.draw(st.sampled_from((1, 1, 2)))
        after = join(groups, group_of(node, pods))
        if has_room(number, counts, after):
            groups, kept = after, [*kept, pods]
    assert not can_be_stranded(number, node, kept)


@pytest.mark.proves("R21")
@given(st.integers(1, 4), st.integers(1, 64), st.integers(1, 4))
@examples(200)
def test_alike_pods_that_ask_for_whole_gibibytes_fill_every_node(fit: int, gib: int, number: int) -> None:
    has = Resources(memory=gib * fit * 2**30 + 2**29)
    group: Group = ((((1, 1), *demand_of(Resources(memory=gib * 2**30), has)), 1),)
    assert more(number, (8, *counts_of(has)), (), group) == fit * number


@given(st.data(), nodes())
@examples(200)
def test_what_one_node_surely_takes_is_rarely_refused(data: st.DataObject, node: Amounts) -> None:
    """Of pods that leave a hundredth of each kind free nothing is refused: rounding is far finer."""
    counts = (node[0], *counts_of(Resources(node[1], node[2])))
    pods = [data.draw(asked(node)) for _ in range(3)]
    spare = [sum(kind) <= has - -(-has // 100) for kind, has in zip(zip(*pods, strict=True), node, strict=True)]
    if all(spare[1:]) and sum(pod[0] for pod in pods) <= node[0] and min(node[1:]) > 4000:
        groups: tuple[tuple[Group, int], ...] = ()
        for pod in pods:
            groups = join(groups, group_of(node, (pod,)))
        assert has_room(1, counts, groups)
