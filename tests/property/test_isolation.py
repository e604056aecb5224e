"""A team's namespace on a cluster stays isolated whatever happens to it there, and none of others is by itself."""

from collections.abc import Sequence

import pytest
from hypothesis import given

from modelplane.model.fleet import Egress, Isolation, Mark
from property import isolation
from property.isolation import Event, World
from property.strategies import examples


def play(world: World, events: Sequence[Event]) -> World:
    for event in events:
        event(world)
    world.settle()
    return world


@examples(150)
@given(isolation.EVENTS)
def test_a_namespace_that_modelplane_made_stays_marked_and_closed_whatever_is_done_to_it_there(
    events: Sequence[Event],
) -> None:
    world = play(isolation.made(), events)
    assert (world.cluster.mark, world.cluster.does, world.cluster.limits) == (Mark.CREATION, "closed", True)


@examples(150)
@given(isolation.CHANGES)
def test_what_is_asked_for_last_holds_for_a_namespace_that_modelplane_made(events: Sequence[Event]) -> None:
    world = play(isolation.made(), events)
    assert world.cluster.does == ("open" if world.isolation.isolation is Isolation.OPEN else "closed")
    assert world.cluster.mark == Mark.CREATION
    assert world.cluster.limits == (world.cluster.does == "closed" and world.isolation.egress is not Egress.NONE)


@examples(150)
@given(isolation.CHANGES)
def test_a_namespace_that_was_there_before_is_closed_only_while_the_platform_enforces_it(
    events: Sequence[Event],
) -> None:
    world = play(isolation.by_hand(), events)
    assert (world.cluster.does == "closed") == (world.isolation.isolation is Isolation.ENFORCED)
    assert world.cluster.mark in ("", Mark.ENFORCED)
    limited = world.isolation.egress in (Egress.NO_METADATA, Egress.RESTRICTED)
    assert world.cluster.limits == (world.cluster.does == "closed" and limited)


@pytest.mark.parametrize("replicas", [2, 8])
def test_replicas_that_come_to_a_network_policy_that_stands_do_not_write_it(replicas: int) -> None:
    world = isolation.made()
    for replica in range(1, replicas):
        world.compose(replica)
    world.settle()
    assert set().union(*world.cluster.owners.values()) == {"namespace-0"}
