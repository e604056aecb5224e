"""Runs one composite's pipeline as Crossplane does: requirements until they are stable, desired state step by step."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import structlog

from modelplane.model.conditions import Condition
from modelplane.preview.lookup import FetchError, Lookup
from modelplane.preview.pipelines import Pipeline
from modelplane.reading.tree import Manifest
from modelplane.step import Desired, Event, Object, Request, Requirement, Result, SchemaRequirement, Step
from modelplane.step.call import run

#: Crossplane calls a step once, and again after each round of fetching, of which there are at most so many.
FETCH_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Fetched:
    """The answers to the requirements of a pipeline's steps, by step and the requirement's name."""

    resources: Mapping[tuple[str, str], tuple[Requirement, tuple[Object, ...]]] = field(default_factory=dict)
    schemas: Mapping[tuple[str, str], tuple[SchemaRequirement, Manifest | None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PipelineRun:
    """The outcome of a pipeline.

    `error` is set when Crossplane fails the pass: then only the `conditions` and `events` set before a fatal result
    count. `calls` is the number of calls of steps, `ttl` the shortest TTL that a step returned, `ready` the composite's
    readiness if the pipeline set it (None: it did not).
    """

    desired: Mapping[str, Desired] = field(default_factory=dict)
    status: Manifest = field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    events: tuple[Event, ...] = ()
    ttl: timedelta | None = None
    ready: bool | None = None
    fetched: Fetched = field(default_factory=Fetched)
    calls: int = 0
    error: str | None = None


def run_pipeline(pipeline: Pipeline, composite: Object, observed: Mapping[str, Object], lookup: Lookup) -> PipelineRun:
    """Run every step in order on one composite and what it composed, and return what is desired of them."""
    state = PipelineRun()
    context: Mapping[str, Any] = {}
    for name, step in pipeline.steps:
        wanted = frozenset(state.desired)
        request = Request(composite=composite, observed=observed, desired_names=wanted, context=context)
        called = _StepCalls(name, step, lookup)
        try:
            result = called.until_stable(request)
        except _StepError as error:
            why = f'cannot run Composition pipeline step "{name}": {error}'
            return PipelineRun(fetched=called.added(state.fetched), calls=state.calls + called.calls, error=why)
        context = {**called.context, **result.context}
        state = _advance(state, result, called)
        if result.fatal is not None:
            return replace(state, error=f'pipeline step "{name}" returned a fatal result: {result.fatal}')
    return state


class _StepError(Exception):
    """A step has no result."""


class _StepCalls:
    """The calls of one step in one pass."""

    def __init__(self, name: str, step: Step, lookup: Lookup) -> None:
        self._name, self._step, self._lookup = name, step, lookup
        self._resources: dict[tuple[str, str], tuple[Requirement, tuple[Object, ...]]] = {}
        self._schemas: dict[tuple[str, str], tuple[SchemaRequirement, Manifest | None]] = {}
        self.calls = 0
        self.context: Mapping[str, Any] = {}

    def until_stable(self, request: Request) -> Result:
        """Call the step until its requirements repeat or its result is fatal; raises _StepError if neither happens."""
        asked: tuple[Any, Any] = ({}, {})
        self.context = request.context
        for _ in range(FETCH_ROUNDS + 1):
            outcome = run(self._step, request)
            if outcome.defect is not None:
                structlog.get_logger().error("the step failed", step=self._name, exc_info=outcome.defect)
            result = outcome.result
            self.calls += 1
            asks = ({each.name: each for each in result.requirements}, {each.name: each for each in result.schemas})
            if result.fatal is not None or asks == asked:
                return result
            asked = asks
            self.context = {**self.context, **result.context}
            request = replace(
                request,
                required={name: self._fetch(each) for name, each in asks[0].items()},
                schemas={name: self._schema(each) for name, each in asks[1].items()},
                context=self.context,
            )
        raise _StepError(f"requirements didn't stabilize after the maximum number of iterations ({FETCH_ROUNDS})")

    def added(self, fetched: Fetched) -> Fetched:
        """Return what this step and the steps before it fetched."""
        return Fetched({**fetched.resources, **self._resources}, {**fetched.schemas, **self._schemas})

    def _fetch(self, requirement: Requirement) -> tuple[Object, ...]:
        try:
            found = self._lookup.resources(requirement)
        except FetchError as error:
            raise _StepError(f"fetching resources for {requirement.name}: {error}") from error
        self._resources[self._name, requirement.name] = (requirement, found)
        return found

    def _schema(self, requirement: SchemaRequirement) -> Manifest | None:
        found = self._lookup.schema(requirement)
        self._schemas[self._name, requirement.name] = (requirement, found)
        return found


def _advance(state: PipelineRun, result: Result, called: _StepCalls) -> PipelineRun:
    """Return the state after a step: its desired state and status merged over those of the earlier steps."""
    ttls = [ttl for ttl in (state.ttl, result.ttl) if ttl]
    return PipelineRun(
        desired={**state.desired, **result.desired},
        status={**state.status, **(result.status or {})},
        conditions=(*state.conditions, *result.conditions),
        events=(*state.events, *result.events),
        ttl=min(ttls, default=None),
        ready=state.ready if result.ready is None else result.ready,
        fetched=called.added(state.fetched),
        calls=state.calls + called.calls,
    )
