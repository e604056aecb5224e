"""The step that schedules a ModelDeployment: it reads the inputs, calls the scheduler, and writes the decision.

It composes nothing: the placements go into the pipeline context and the status, and the later steps carry them out.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from modelplane.composing.engine_warnings import find_warnings
from modelplane.composing.placement_message import (
    PlacementMessage,
    encode_placement,
    write_placements,
    write_profiles,
)
from modelplane.model.conditions import cap
from modelplane.model.deployment import Deployment
from modelplane.model.observation import Malformed
from modelplane.model.placement import FleetView, Placement, Schedule, Stamp
from modelplane.model.replica import Replica
from modelplane.observed.catalogue import Catalogued
from modelplane.observed.deployment import read_deployment
from modelplane.observed.fields import mapping
from modelplane.observed.replica import own_replicas, unreadable
from modelplane.schedule.catalogue import describe_model, find_profile_warnings
from modelplane.schedule.decided import describe_decision
from modelplane.schedule.found_full import remember
from modelplane.schedule.inputs import Inputs, first_requirements, gather
from modelplane.schedule.reachability import MAX_CLUSTERS, find_cluster
from modelplane.schedule.rollout import rollout_status
from modelplane.schedule.skew import not_scheduled, without_changes
from modelplane.schedule.status import conditions, describe_status, is_ready
from modelplane.schedule.ttl import response_ttl
from modelplane.scheduling import drain
from modelplane.scheduling.words import explain
from modelplane.step import AWAITING, Event, Request, Requirement, Result, Severity, versions

#: Most entries of `status.warnings`.
MAX_WARNINGS = 16


def _present_spec(request: Request, replica: Replica) -> Mapping[str, Any] | None:
    """Return the spec of an own replica that is only in a list, None when it is among the observed resources."""
    if replica.resource in request.observed:
        return None
    found = (obj for listed in request.required.values() for obj in listed if obj.kind == "ModelReplica")
    return next((mapping(obj.body.get("spec")) for obj in found if obj.metadata.get("uid") == replica.uid), None)


def _message(request: Request, deployment: Deployment, view: FleetView, placement: Placement) -> PlacementMessage:
    held = placement.replica if placement.stamp is not Stamp.APPLY else None
    cluster = find_cluster(view, placement.cluster)
    return encode_placement(
        placement,
        deployment,
        address=cluster.address if cluster else None,
        mutual_tls=bool(cluster and cluster.mutual_tls),
        spec=_present_spec(request, held) if held else None,
    )


def _held(replica: Replica) -> Placement:
    return Placement(replica.cluster, replica.index or 0, replica.engines, replica, Stamp.HOLD)


def _event(verb: str, clusters: Iterable[str]) -> Event:
    """Return one event for all replicas, because Crossplane's recorder drops events that come in a burst."""
    counted = sorted(Counter(clusters).items())
    shown = ", ".join(f"{count} on {cluster}" for cluster, count in counted[:MAX_CLUSTERS])
    more = f" and {len(counted) - MAX_CLUSTERS} more clusters" if len(counted) > MAX_CLUSTERS else ""
    return Event(Severity.NORMAL, f"{verb}: {shown}{more}")


def _events(request: Request, catalogued: Catalogued, schedule: Schedule) -> Iterator[Event]:
    """Yield events for what changed in this pass: new replicas, and replicas that go, by cause."""
    new = [placement.cluster for placement in schedule.placements if placement.replica is None]
    if new:
        yield _event("Placed replicas", new)
    for cause in sorted({end.cause for end in schedule.ending}):
        yield _event(
            f"Ended replicas ({cause})", [end.replica.cluster for end in schedule.ending if end.cause is cause]
        )
    if new:
        yield from (Event(Severity.WARNING, warning) for warning in _warnings(request, catalogued, schedule))


def _warnings(request: Request, catalogued: Catalogued, schedule: Schedule) -> tuple[str, ...]:
    """Return the probable mistakes in the engines of the deployment, or of the profiles that replicas run on."""
    return (*find_warnings(request.composite), *find_profile_warnings(request, catalogued, schedule))


def _fetching(requirements: tuple[Requirement, ...], context: Mapping[str, Any] | None = None) -> Result:
    """Return the result while inputs are fetched: Crossplane ignores everything else in it and calls again."""
    return Result(requirements=requirements, context=context or {}, ttl=AWAITING, ready=False)


def _wait(request: Request, deployment: Deployment, own: tuple[Replica, ...], inputs: Inputs) -> Result:
    """Return the result without a decision; if nothing is left to fetch, the pass ends with the replicas unchanged."""
    waits, view = _fetching(inputs.requirements, inputs.context), inputs.view
    if view is None:
        return waits
    return replace(waits, context=write_placements(_message(request, deployment, view, _held(each)) for each in own))


def _about(found: Sequence[str], rollout: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the status fields that are present only where there is something to report."""
    warnings = [cap(warning) for warning in found[:MAX_WARNINGS]]
    return ({"rollout": rollout} if rollout else {}) | ({"warnings": warnings} if warnings else {})


def compose(request: Request) -> Result:
    """Schedule the ModelDeployment; an input that cannot be read is fatal, so that Crossplane changes nothing."""
    deployment = read_deployment(request.composite)
    if isinstance(deployment, Malformed):
        return Result(fatal=str(deployment))
    first = first_requirements(request, deployment)
    if any(requirement.name not in request.required for requirement in first):
        return replace(_fetching(first), cacheable=True)
    return _decide(deployment, request)


def _decide(deployment: Deployment, request: Request) -> Result:
    """Return the result with the inputs fetched so far.

    It is cacheable only if the deployment is settled: the TTL of any other result depends on the passes before (`ttl`),
    and so do the clusters that it reads (`found_full`).
    """
    own = own_replicas(request.observed.values())
    for replica in own:
        if field := unreadable(replica):
            text = f"ModelReplica {replica.name}: {field}: cannot be read; restore it or delete the replica"
            return Result(fatal=text)
    inputs = gather(request, deployment, own)
    deployment, view = inputs.catalogued.deployment, inputs.view
    if view is None or inputs.outcome is None:
        return _wait(request, deployment, own, inputs)
    skew = versions.differs(request)
    outcome = drain(without_changes(inputs.outcome) if skew else inputs.outcome, view)
    rollout = rollout_status(request, deployment, outcome)
    report = explain(outcome, deployment)
    found = conditions(request, deployment, view, outcome, report)
    found = not_scheduled(found, deployment, outcome) if skew else found
    messages = [_message(request, deployment, view, placement) for placement in outcome.placements]
    status = describe_status(request, deployment, view, outcome, report) | describe_model(request, deployment, outcome)
    return Result(
        status=status | _about(_warnings(request, inputs.catalogued, outcome), rollout),
        conditions=found,
        requirements=inputs.requirements,
        context=write_placements(messages) | write_profiles(messages, inputs.catalogued.specs),
        events=tuple(_events(request, inputs.catalogued, outcome)),
        ttl=response_ttl(request, deployment, outcome, remember(request, deployment, view, inputs.outcome)),
        ready=is_ready(found),
        cacheable=outcome.settled,
        details=None if outcome.settled else partial(describe_decision, outcome),
    )
