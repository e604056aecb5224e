"""The workloads that run an engine's copies: a Deployment of single pods, a LeaderWorkerSet of gangs."""

import json
from collections.abc import Mapping
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


def leader_worker_set(  # noqa: PLR0913 - what a gang is made of
    name: str,
    namespace: str,
    labels: Mapping[str, str],
    *,
    copies: int,
    workers: int,
    leader: Mapping[str, Any],
    worker: Mapping[str, Any],
    idle: bool = False,
) -> dict[str, Any]:
    """Return the LeaderWorkerSet of `copies` gangs, each a pod of `leader` and `workers` pods of `worker`.

    A gang restarts as a whole, and a rollout deletes one before it creates the next. The pods are marked with a digest
    of both templates, because the LeaderWorkerSet's status does not say which generation it counts.

    `idle`: no gang is available. A StatefulSet of Kubernetes 1.35 updates no pod while maxUnavailable pods are not
    available, broken ones included (MaxUnavailableStatefulSet). So one more may be, and an edit replaces all.
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
            "rolloutStrategy": {
                "type": "RollingUpdate",
                "rollingUpdateConfiguration": {"maxSurge": 0, "maxUnavailable": copies + 1 if idle else 1},
            },
            "startupPolicy": "LeaderCreated",
        },
    }


def is_idle(manifest: Mapping[str, Any]) -> bool:
    """Tell whether a manifest is that of an idle LeaderWorkerSet."""
    strategy = manifest.get("spec", {}).get("rolloutStrategy", {}).get("rollingUpdateConfiguration", {})
    return bool(strategy.get("maxUnavailable", 1) > 1)


def stateful_set(name: str, namespace: str) -> dict[str, Any]:
    """Return the StatefulSet of this name, to be observed: that of the leaders, or of a gang's workers."""
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name, "namespace": namespace}}
