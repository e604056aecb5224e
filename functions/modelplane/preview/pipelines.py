"""Which steps a composite's Composition runs, and where their code is."""

from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module

from modelplane.model.names import GROUP
from modelplane.reading.definitions import compositions
from modelplane.reading.tree import items
from modelplane.step import Step

#: Compositions call our functions by their names with this before them.
_PREFIX = "modelplane-"


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
    package = function.removeprefix(_PREFIX).replace("-", "_")
    step: Step = import_module(f"modelplane.{package}").STEPS[kind]
    return step
