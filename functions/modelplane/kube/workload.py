"""The workloads that run an engine's copies: a Deployment of single pods, a LeaderWorkerSet of gangs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelplane.kube.pod import STARTUP_SECONDS
from modelplane.model.names import ANNOTATION_TEMPLATE, LABEL_WORKLOAD, digest

#: A Deployment reports a stuck rollout only after the longest load; the image is pulled before the load.
_PROGRESS_SECONDS = STARTUP_SECONDS + 1800


def deployment(
    name: str, namespace: str, labels: Mapping[str, str], *, copies: int, template: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the Deployment of `copies` pods of `template`, whose label `modelplane.ai/workload` is `name`.

    A rollout deletes a pod before it creates the next one, because a full pool has no spare GPU node.
    """
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(labels)},
        "spec": {
            "replicas": copies,
            "selector": {"matchLabels": {LABEL_WORKLOAD: name}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
            "progressDeadlineSeconds": _PROGRESS_SECONDS,
            "template": template,
        },
    }


def _marked(template: Mapping[str, Any], mark: str) -> dict[str, Any]:
    metadata = template["metadata"]
    annotations = {**metadata.get("annotations", {}), ANNOTATION_TEMPLATE: mark}
    return {**template, "metadata": {**metadata, "annotations": annotations}}


@dataclass(frozen=True, slots=True)
class RollingUpdate:
    """Which gangs of a LeaderWorkerSet an edit may replace at a time.

    None below the index `partition`, and no further one while `max_unavailable` are not available.
    """

    partition: int = 0
    max_unavailable: int = 1


ONE_BY_ONE = RollingUpdate()


def _rollout_strategy(update: RollingUpdate) -> dict[str, Any]:
    partition = {"partition": update.partition} if update.partition else {}
    settings = {"maxSurge": 0, "maxUnavailable": update.max_unavailable, **partition}
    return {"type": "RollingUpdate", "rollingUpdateConfiguration": settings}


def leader_worker_set(  # noqa: PLR0913 - what a gang is made of
    name: str,
    namespace: str,
    labels: Mapping[str, str],
    *,
    copies: int,
    workers: int,
    leader: Mapping[str, Any],
    worker: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the LeaderWorkerSet of `copies` gangs, each a pod of `leader` and `workers` pods of `worker`.

    A gang restarts as a whole, and a rollout deletes one before it creates the next. The pods are marked with a digest
    of both templates, because the LeaderWorkerSet's status does not say which generation it counts.
    """
    mark = digest(json.dumps([leader, worker, workers], sort_keys=True))
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(labels)},
        "spec": {
            "replicas": copies,
            "leaderWorkerTemplate": {
                "size": 1 + workers,
                "restartPolicy": "RecreateGroupOnPodRestart",
                "leaderTemplate": _marked(leader, mark),
                "workerTemplate": _marked(worker, mark),
            },
            "rolloutStrategy": _rollout_strategy(ONE_BY_ONE),
            "startupPolicy": "LeaderCreated",
        },
    }


def with_rolling_update(manifest: Mapping[str, Any], update: RollingUpdate) -> dict[str, Any]:
    """Return the manifest of a LeaderWorkerSet with this rolling update, which by itself restarts nothing."""
    return {**manifest, "spec": {**manifest["spec"], "rolloutStrategy": _rollout_strategy(update)}}


def stateful_set(name: str, namespace: str) -> dict[str, Any]:
    """Return the StatefulSet of this name, to be observed: that of the leaders, or of a gang's workers."""
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name, "namespace": namespace}}
