"""The apps/v1 Deployment that runs the copies of a Standalone engine."""

from collections.abc import Mapping
from typing import Any

from modelplane.kube.pod import STARTUP_SECONDS
from modelplane.model.names import LABEL_WORKLOAD

#: The Deployment calls itself stuck only after a load could have ended; pulling an image comes before the load.
_PROGRESS_SECONDS = STARTUP_SECONDS + 1800


def deployment(
    name: str, namespace: str, labels: Mapping[str, str], *, copies: int, template: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the Deployment of `copies` pods of `template`, whose label `modelplane.ai/workload` is `name`.

    A rollout takes a pod away before it makes the next one: a full pool has no spare GPU node.
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
