"""Pods count as room: however Kubernetes spreads those without devices, nothing that was admitted lacks a slot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelplane.scheduling.pools.groups import Group, Groups, PodSlots, join
from modelplane.scheduling.room.room import has_room, more, shortage, shortage_of
from property.groups import groups_of
from property.oracles.amounts import Pods, can_be_stranded
from property.strategies import examples


@st.composite
def engines(draw: st.DrawFn, devices: int) -> tuple[Group, list[Pods]]:
    """Draw an engine as the rule has it, and as the oracle does: each pod without devices may stand with the others."""
    claiming = draw(st.sampled_from((0, 1, 1, 2)))
    without = draw(st.integers(0 if claiming else 1, 3))
    taken = draw(st.integers(1, devices))
    group: Group = ((((taken, taken),), claiming),) if claiming else ()
    alone: list[Pods] = [((0, 1),)] * without
    return ((((), without), *group) if without else group), [*alone, *([((taken, 1),) * claiming] if claiming else [])]


@pytest.mark.proves("R20")
@given(st.data(), st.integers(1, 3), st.integers(1, 2), st.integers(1, 5))
@examples(300)
def test_no_arrangement_strands_a_pod_for_lack_of_a_slot(
    data: st.DataObject, devices: int, nodes: int, pods: int
) -> None:
    slots, kept = PodSlots(pods, devices), list[Pods]()
    groups: Groups = ()
    for _ in range(4):
        group, alone = data.draw(engines(devices))
        after = join(groups, group)
        if has_room(nodes, (devices,), after, slots) and len(kept) + len(alone) <= 9:
            groups, kept = after, [*kept, *alone]
    assert not can_be_stranded(nodes, (devices, pods), kept)


@pytest.mark.proves("R20")
@given(st.integers(1, 20), st.integers(1, 200), st.integers(0, 300))
@examples(200)
def test_pods_without_devices_fill_every_node(nodes: int, pods: int, claiming: int) -> None:
    assert more(nodes, (8,), (), (((), 1),), PodSlots(pods, claiming)) == nodes * pods


@given(st.data(), st.integers(1, 20), st.integers(9, 40))
@examples(200)
def test_a_group_that_lacks_room_is_found_where_the_pool_has_none_and_one_more_never_makes_any(
    data: st.DataObject, nodes: int, pods: int
) -> None:
    slots = PodSlots(pods, 8)
    groups: Groups = ()
    for group in data.draw(st.lists(groups_of((8,)), min_size=1, max_size=6)):
        had_room = has_room(nodes, (8,), groups, slots)
        groups = join(groups, group)
        roomy = has_room(nodes, (8,), groups, slots)
        assert had_room or not roomy
        assert (shortage(nodes, (8,), groups, slots) is None) is roomy
        assert any(shortage_of(nodes, (8,), groups, each, slots) for each, _ in groups) is not roomy
