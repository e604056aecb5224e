"""Which gangs an edit may replace at a time: one after the other, and at once those that do not serve.

Since Kubernetes 1.35 a StatefulSet updates no pod while maxUnavailable of its pods are not available
(MaxUnavailableStatefulSet). That of a LeaderWorkerSet's leaders counts broken ones too, for example those whose image
cannot be pulled: they would keep the edit that repairs them from all gangs, themselves included. So maxUnavailable is
raised for them, and `partition` then protects the others: no pod below it is updated.

This takes down no gang that serves, also if observations are late:
- An edit is applied with maxUnavailable 1 while a gang is available, also where it was raised: both change together.
- It is raised once the StatefulSet has acted on the edit. From then on that updates the highest outdated gang first,
  and none that is up to date. So while a gang from `partition` up is outdated, those below have been left alone.
What serves below `partition` when it is raised goes on to serve, unless it fails by itself.
"""

from collections.abc import Mapping
from typing import Any

from modelplane.compose_replica.readiness import (
    engine_of,
    is_behind,
    is_seen,
    leaders_resource,
    readiness_of,
    template_mark,
    workers_resource,
)
from modelplane.kube.workload import ONE_BY_ONE, RollingUpdate, with_rolling_update
from modelplane.observed.fields import count, mapping
from modelplane.observed.remote import Remote

_KIND = "LeaderWorkerSet"


def compose(
    objects: Mapping[str, Mapping[str, Any]], remotes: Mapping[str, Remote], *, edited: bool
) -> dict[str, dict[str, Any]]:
    """Return the Objects of the observed LeaderWorkerSets with their rolling updates; `edited`: in this pass."""
    composed = {}
    for resource, body in objects.items():
        remote, provided = remotes.get(resource), mapping(body["spec"].get("forProvider"))
        if remote and remote.manifest and mapping(provided.get("manifest")).get("kind") == _KIND:
            update = _decide(resource, provided["manifest"], remotes, edited=edited)
            manifest = with_rolling_update(provided["manifest"], update)
            composed[resource] = {**body, "spec": {**body["spec"], "forProvider": {**provided, "manifest": manifest}}}
    return composed


def _decide(
    resource: str, manifest: Mapping[str, Any], remotes: Mapping[str, Remote], *, edited: bool
) -> RollingUpdate:
    """Return the rolling update of a LeaderWorkerSet for its manifest."""
    all_at_once = RollingUpdate(max_unavailable=_replicas(manifest) + 1)
    begun = _read(remotes[resource].wanted)
    if (edited or (begun != ONE_BY_ONE and not begun.partition)) and readiness_of(resource, remotes).available <= 0:
        return all_at_once
    lowest = _lowest_stuck(resource, manifest, remotes)
    return RollingUpdate(lowest, all_at_once.max_unavailable) if lowest else ONE_BY_ONE


def _lowest_stuck(resource: str, manifest: Mapping[str, Any], remotes: Mapping[str, Remote]) -> int:
    """Return the lowest of the highest gangs that do not serve and that the last edit has not reached, 0 for none.

    Every gang above it is like it, or up to date. The first gang is never one: if all look broken, the view of them may
    be. A broken gang is one whose workers are not all ready, and whose leader is not either, by their number.
    """
    engine, mark, copies = engine_of(resource), template_mark(manifest), _replicas(manifest)
    leaders = remotes.get(leaders_resource(engine))
    if leaders is None or not _has_acted(remotes[resource], leaders, mark, copies):
        return 0
    lowest = broken = 0
    for copy in range(copies - 1, 0, -1):
        workers = remotes.get(workers_resource(engine, copy))
        if workers is None or not workers.synced or not workers.manifest or not is_seen(workers.manifest):
            break
        whole = _ready(workers.manifest) >= _replicas(workers.manifest)
        outdated = template_mark(workers.manifest) != mark
        if whole and outdated:
            break
        broken += not whole
        lowest = copy if outdated else lowest
    return lowest if _ready(leaders.manifest) + broken <= copies else 0


def _has_acted(remote: Remote, leaders: Remote, mark: Any, copies: int) -> bool:
    """Tell whether the StatefulSet of the leaders has acted on the templates and copies of a LeaderWorkerSet.

    The provider has applied the Object, or is about to apply a raised maxUnavailable with the same templates.
    """
    applied = remote.synced or (remote.synced is None and _read(remote.wanted) != ONE_BY_ONE)
    if not applied or template_mark(remote.wanted) != mark or not leaders.synced or not leaders.manifest:
        return False
    return not is_behind(leaders.manifest, mark) and _replicas(leaders.manifest) == copies


def _read(manifest: Mapping[str, Any]) -> RollingUpdate:
    strategy = mapping(mapping(manifest.get("spec")).get("rolloutStrategy"))
    found = mapping(strategy.get("rollingUpdateConfiguration"))
    return RollingUpdate(count(found.get("partition")), count(found.get("maxUnavailable"), 1))


def _replicas(manifest: Mapping[str, Any]) -> int:
    return count(mapping(manifest.get("spec")).get("replicas"), 1)


def _ready(manifest: Mapping[str, Any] | None) -> int:
    return count(mapping(mapping(manifest).get("status")).get("readyReplicas"))
