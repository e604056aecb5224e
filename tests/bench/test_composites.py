"""The composites of the climb are those that a team may write, and searches of one seed try the same ones."""

import json
from collections.abc import Callable
from importlib import import_module
from random import Random
from typing import Any, Final

import pytest

from bench.composites import COMPOSITES, OBJECT, Composite, Sizes
from bench.fleet import Manifest
from bench.passes import applied, run_pass
from modelplane.cli.serve import FUNCTIONS
from modelplane.lru import Lru
from modelplane.preview.admission import InvalidObject, admit
from modelplane.step.call import dispatch
from modelplane.transport import objects
from modelplane.transport.admission import Received
from modelplane.transport.exchange import answer
from modelplane.transport.wire import Wire

#: Parts of which one is like the others.
_ALIKE: Final = ("endpoints", "replicas", "services", "sources")


def _seeded(seed: int) -> Random:
    return Random(seed)  # noqa: S311 - nothing here is a secret


def _first(composite: Composite, random: Random) -> Sizes:
    sizes = composite.drawn(random)
    return {**sizes, **dict.fromkeys(sizes.keys() & set(_ALIKE), 1)}


def _new(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return an object as a team applies it, which is checked against every bound."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name in {"name", "namespace", "labels"}}
    return {name: value for name, value in manifest.items() if name != "status"} | {"metadata": metadata}


@pytest.mark.parametrize("name", COMPOSITES)
def test_what_the_climb_draws_is_admitted(name: str) -> None:
    composite, random = COMPOSITES[name], _seeded(3)
    for _ in range(4):
        made, beside = composite.build(_first(composite, random))
        # An InferenceCluster is written by the platform, beside what teams write.
        for each in beside if made["kind"] == "InferenceCluster" else (made, *beside):
            admit(_new(each))


def test_a_replica_beyond_a_bound_is_not_admitted() -> None:
    composite = COMPOSITES["compose-replica"]
    made, _ = composite.build({**_first(composite, _seeded(3)), "copies": 65})
    with pytest.raises(InvalidObject, match="copies"):
        admit(_new(made))


@pytest.mark.parametrize("name", COMPOSITES)
def test_a_search_of_one_seed_tries_the_same_sizes_and_changes_at_most_two_at_a_time(name: str) -> None:
    composite = COMPOSITES[name]

    def tried(seed: int) -> list[Sizes]:
        random = _seeded(seed)
        found = [composite.drawn(random)]
        for _ in range(20):
            found.append(composite.changed(random, found[-1]))
        return found

    assert tried(5) == tried(5)
    assert tried(5) != tried(6)
    differing = [sum(one[part] != two[part] for part in one) for one, two in zip(tried(5), tried(5)[1:], strict=False)]
    assert max(differing) <= 2 < sum(differing)


def test_an_object_that_no_api_server_holds_is_no_candidate() -> None:
    composite = COMPOSITES["compose-endpoint"]
    sizes = {part: min(values) for part, values in composite.values.items()} | {"sources": 1, "keys": 90_000}
    assert composite.scene(sizes | {"bytes": 16}) is not None
    made, (secret,) = composite.build(sizes | {"bytes": 1_300_000})
    assert len(json.dumps(secret)) > OBJECT > len(json.dumps(made))
    assert composite.scene(sizes | {"bytes": 1_300_000}) is None


@pytest.mark.parametrize(
    ("name", "kind", "many"),
    [
        ("compose-endpoint", "ModelEndpoint", "endpoints"),
        ("compose-cluster, replicas", "ModelReplica", "replicas"),
        ("compose-cluster, services", "ModelService", "services"),
    ],
)
def test_what_a_pass_has_read_is_not_parsed_by_the_next_however_large(
    name: str, kind: str, many: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[object] = []

    def counted(decoder: Callable[[Wire], Manifest]) -> Callable[[Wire], Manifest]:
        def count(wire: Wire) -> Manifest:
            found = decoder(wire)
            parsed.append(found.get("kind"))
            return found

        return count

    monkeypatch.setattr(objects, "_BODIES", Lru[Manifest](1))  # holds nothing, as with many large objects
    for decoder in ("decode", "decode_outline"):
        monkeypatch.setattr(objects, decoder, counted(getattr(objects, decoder)))
    composite = COMPOSITES[name]
    step = dispatch(composite.step, import_module(FUNCTIONS[composite.step]).STEPS)
    sizes = {part: min(values) for part, values in composite.values.items()}
    scene = composite.scene({**sizes, many: 3, "label": 7})
    assert scene is not None
    steps = [(composite.step, lambda wire: answer(step, Received(wire)))]
    last = run_pass(scene, steps).exchanges[-1].response
    assert parsed.count(kind) >= 3
    parsed.clear()
    run_pass(applied(scene, last, 1), steps)
    assert parsed.count(kind) == 0 < len(parsed)
