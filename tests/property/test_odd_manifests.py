"""An edited Object is restored: whatever its manifest was made to hold, no function refuses the pass."""

from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.passes import Call, Scene, run_pass
from modelplane.cli.serve import FUNCTIONS
from modelplane.step import Step
from modelplane.step.call import dispatch
from modelplane.transport import messages
from modelplane.transport.admission import Received
from modelplane.transport.exchange import answer
from modelplane.transport.structs import decode
from property.odd_manifests import MANIFESTS, edits, settled, with_values
from property.strategies import examples


def _call(step: Step) -> Call:
    return lambda wire: answer(step, Received(wire))


def _steps(kind: str) -> list[tuple[str, Call]]:
    modules = {name: import_module(package) for name, package in FUNCTIONS.items()}
    return [(name, _call(dispatch(name, each.STEPS))) for name, each in modules.items() if kind in each.STEPS]


def _desired(scene: Scene) -> dict[str, Any]:
    """Return what a pass desires; fails where a function refuses it."""
    response = messages.Response.FromString(run_pass(scene, _steps(scene.composite["kind"])).exchanges[-1].response)
    return {name: decode(each.resource) for name, each in response.desired.resources.items()}


@examples(60)
@given(st.data())
def test_no_function_refuses_a_pass_over_odd_manifests(data: st.DataObject) -> None:
    scene = data.draw(st.sampled_from(settled()))
    _desired(replace(scene, observed=with_values(scene.observed, data.draw(edits(scene.observed)))))


@pytest.mark.parametrize("field", [("kind",), ("metadata",), ("metadata", "labels"), ("metadata", "ownerReferences")])
@pytest.mark.parametrize("value", [{}, [], ["Secret"], 5, None], ids=str)
def test_a_replica_restores_whichever_of_its_objects_was_edited(field: tuple[str, ...], value: Any) -> None:
    scene = next(scene for scene in settled() if scene.composite["kind"] == "ModelReplica")
    whole = _desired(scene)
    for resource, obj in scene.observed.items():
        if obj["kind"] == "Object" and resource in whole:
            edited = with_values(scene.observed, {(resource, (*MANIFESTS[0], *field)): value})
            assert _desired(replace(scene, observed=edited))[resource] == whole[resource]
