"""Which steps a composite's Composition runs, and where their code is."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType

from modelplane.model.names import GROUP
from modelplane.preview.definitions import compositions
from modelplane.preview.tree import items
from modelplane.runtime.step import Step

#: The package of each function, by the name that Compositions call it.
FUNCTIONS: Mapping[str, str] = MappingProxyType(
    {
        "modelplane-schedule": "modelplane.schedule",
        "modelplane-compose-replica": "modelplane.compose_replica",
        "modelplane-compose-endpoint": "modelplane.compose_endpoint",
        "modelplane-compose-cluster": "modelplane.compose_cluster",
    }
)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A Composition's name and its steps, in order, by step name."""

    composition: str
    steps: tuple[tuple[str, Step], ...]


@lru_cache(maxsize=64)
def pipeline_of(kind: str) -> Pipeline | None:
    """Return the pipeline of a kind (`Kind.group`), None for one that no Composition of ours composes."""
    name, _, group = kind.partition(".")
    composition = compositions().get(name) if group == GROUP else None
    if composition is None:
        return None
    steps = tuple(
        (str(step["step"]), _step(str(step["functionRef"]["name"]), name))
        for step in items(composition, "spec", "pipeline")
    )
    return Pipeline(str(composition["metadata"]["name"]), steps)


def _step(function: str, kind: str) -> Step:
    """Return a function's step for a kind; its package is imported when a pass first needs it."""
    step: Step = import_module(FUNCTIONS[function]).STEPS[kind]
    return step
