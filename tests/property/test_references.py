"""Wherever a pass ends, no object that exists refers to one that does not, and the wanted objects come to exist."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from modelplane.composing.references import ordered
from property.reference_graphs import Graph, World, graphs, manifest, resource, silent_needs
from property.strategies import examples

Needs = Mapping[int, frozenset[int]]


def _pass(world: World, graph: Graph, silent: Needs) -> dict[str, dict[str, object]]:
    wanted = {resource(at): manifest(at, part) for at, part in graph.items()}
    needs = {
        resource(at): [resource(each) for each in part.names | _silent(at, graph, silent)] for at, part in graph.items()
    }
    # One that is no longer wanted still needs what it did.
    needs |= {resource(at): list(map(resource, of)) for at, of in silent.items() if at not in graph}
    return {name: dict(body) for name, body in ordered(wanted, needs, world.observed()).items()}


def _silent(at: int, graph: Graph, silent: Needs) -> frozenset[int]:
    return silent.get(at, frozenset()) & graph.keys()


@given(st.data(), st.lists(graphs, min_size=2, max_size=6))
@examples(200)
def test_no_object_that_exists_refers_to_one_that_does_not_wherever_a_pass_ends(
    data: st.DataObject, wishes: list[Graph]
) -> None:
    world = World()
    for graph in wishes:
        for _ in range(data.draw(st.integers(1, 3))):
            desired = _pass(world, graph, {})
            writes = data.draw(st.permutations(sorted(desired.keys() | world.store.keys())))
            for name in writes[: data.draw(st.integers(0, len(writes)))]:
                if name in desired:
                    world.store[name] = desired[name]
                else:
                    del world.store[name]
                assert world.dangling() == set()


@given(graphs, graphs, silent_needs)
@examples(200)
def test_whole_passes_come_to_the_wanted_objects_and_no_others(first: Graph, then: Graph, silent: Needs) -> None:
    world = World()
    for graph in (first, then):
        for _ in range(2 * len(first) + 2 * len(then) + 2):
            world.store = _pass(world, graph, silent)
        assert world.store == {resource(at): manifest(at, part) for at, part in graph.items()}


@given(st.data(), graphs, silent_needs)
@examples(200)
def test_what_a_resource_needs_without_naming_it_exists_from_its_beginning_to_its_end(
    data: st.DataObject, graph: Graph, silent: Needs
) -> None:
    world = World()
    always = {at: _silent(at, graph, silent) for at in graph}
    for wished in (graph, {}):
        for _ in range(2 * len(graph)):
            desired = _pass(world, wished, always)
            for name in data.draw(st.permutations(sorted(desired.keys() | world.store.keys()))):
                if name in desired:
                    world.store[name] = desired[name]
                else:
                    del world.store[name]
                for at, needed in always.items():
                    assert resource(at) not in world.store or set(map(resource, needed)) <= world.store.keys()
    assert world.store == {}
