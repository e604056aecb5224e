"""Composes an InferenceCluster: how it is reached, what is observed of it, and what it publishes to the scheduler."""

from collections.abc import Mapping
from typing import Any

from modelplane.api.inferencecluster import Existing, InferenceClusterSpec
from modelplane.compose_cluster import commitments, existing, gateway, pools, reach, report
from modelplane.compose_cluster.protection import protect
from modelplane.compose_cluster.report import CONFIG, Sight
from modelplane.compose_cluster.spec import read_spec
from modelplane.composing import requirements as require
from modelplane.composing.hold import hold_all
from modelplane.model.conditions import ClusterCondition, Condition, Reason, Status
from modelplane.model.names import provider_config
from modelplane.model.observation import Malformed
from modelplane.step import AWAITING, SETTLED, Desired, Request, Requirement, Result


def _result(
    sight: Sight,
    bodies: Mapping[str, Mapping[str, Any]],
    status: Mapping[str, Any],
    cluster_ready: Condition,
    requirements: tuple[Requirement, ...] = (),
) -> Result:
    conditions = (cluster_ready, report.backend_ready(sight))
    standing = {reach.RESOURCE: sight.connection.status is Status.TRUE, gateway.RESOURCE: bool(sight.address)}
    return Result(
        desired={name: Desired.of(body, ready=standing.get(name, True)) for name, body in bodies.items()},
        status=status,
        conditions=conditions,
        requirements=requirements,
        ttl=SETTLED if all(condition.status is Status.TRUE for condition in conditions) else AWAITING,
        ready=sight.ready,
    )


def _hold(request: Request, reason: Reason, words: str) -> Result:
    """Return a result that keeps everything as it is observed, and says what is in the way."""
    sight, kept = report.look(request), "; what exists stays as it is" if request.observed else ""
    condition = Condition(ClusterCondition.CLUSTER_READY, Status.FALSE, reason, f"{words}{kept}")
    return _result(sight, hold_all(request), report.held(sight), condition)


def _bodies(request: Request, source: Existing, classes: set[str]) -> dict[str, dict[str, Any]]:
    """Return the resources of the cluster. What looks at it comes once there is a config to look through."""
    name = request.composite.name
    bodies = {CONFIG: existing.reach(name, source), **protect(request, classes)}
    if CONFIG in request.observed:
        config = provider_config(name)
        bodies |= {reach.RESOURCE: reach.probe(config), gateway.RESOURCE: gateway.watch(config)}
    return bodies


def _compose(request: Request, spec: InferenceClusterSpec, source: Existing) -> Result:
    sight, node_pools = report.look(request), spec.nodePools or []
    classes = {pool.className for pool in node_pools}
    published = pools.publish(request, node_pools, report.published_pools(sight.last))
    needs = [require.inference_class(name) for name in sorted(classes)]
    status = report.status(request, sight, published, commitments.placed(request), existing.storage_class(source))
    requirements = (*needs, require.residents(request.composite.name))
    return _result(
        sight, _bodies(request, source, classes), status, report.cluster_ready(sight, published), requirements
    )


def compose(request: Request) -> Result:
    """Return the cluster's resources; with a spec that cannot be carried out, everything as it is observed."""
    spec = read_spec(request.composite)
    if isinstance(spec, Malformed):
        reason = Reason.INVALID_NODE_POOL if spec.field.startswith("spec.nodePools") else Reason.PROVISIONING
        return _hold(request, reason, str(spec))
    if spec.cluster.source != "Existing" or spec.cluster.existing is None:
        words = f"source {spec.cluster.source} is not composed yet by this version; bring the cluster as Existing"
        return _hold(request, Reason.PROVISIONING, words)
    return _compose(request, spec, spec.cluster.existing)
