"""The endpoint picker of an InferencePool: watches the pool's pods and chooses which one takes a request."""

import json
from collections.abc import Mapping
from typing import Any

from modelplane.kube.backends import POOL_GROUP
from modelplane.kube.images import Image
from modelplane.model.names import ANNOTATION_CONFIG, LABEL_WORKLOAD, PICKER_PORT, digest

_HEALTH_PORT = 9003
_MOUNT, _FILE = "/config", "picker.json"
_READ = ["get", "list", "watch"]
#: Answers pass through the picker, so a replaced picker stays until it has finished the ones that it has begun.
_DRAIN_SECONDS = 600
#: The former and the present API group of InferenceObjectives; both are read if they exist.
_OBJECTIVE_GROUPS = ["inference.networking.x-k8s.io", "llm-d.ai"]


def _rules() -> list[dict[str, Any]]:
    """Return the rules of the picker's Role: what it may read in its namespace.

    InferenceModelRewrites are in no release that we install, but a picker that finds the kind and may not list it never
    starts.
    """
    return [
        {"apiGroups": [""], "resources": ["pods"], "verbs": _READ},
        {"apiGroups": [POOL_GROUP], "resources": ["inferencepools"], "verbs": _READ},
        {
            "apiGroups": _OBJECTIVE_GROUPS,
            "resources": ["inferenceobjectives", "inferencemodelrewrites"],
            "verbs": _READ,
        },
    ]


def _container(namespace: str, pool: str) -> dict[str, Any]:
    """Return the container. It is healthy once it has seen its pool, which may be created later."""
    health = {"grpc": {"port": _HEALTH_PORT}}
    return {
        "name": "picker",
        "image": Image.ENDPOINT_PICKER.reference,
        "args": [
            f"--pool-name={pool}",
            f"--pool-namespace={namespace}",
            f"--pool-group={POOL_GROUP}",
            f"--grpc-port={PICKER_PORT}",
            f"--grpc-health-port={_HEALTH_PORT}",
            f"--config-file={_MOUNT}/{_FILE}",
        ],
        "ports": [
            {"name": "grpc", "containerPort": PICKER_PORT, "protocol": "TCP"},
            {"name": "health", "containerPort": _HEALTH_PORT, "protocol": "TCP"},
        ],
        "startupProbe": {**health, "periodSeconds": 2, "failureThreshold": 150},
        "readinessProbe": {**health, "periodSeconds": 2},
        "livenessProbe": {**health, "periodSeconds": 10},
        "volumeMounts": [{"name": "config", "mountPath": _MOUNT, "readOnly": True}],
    }


def _deployment(name: str, namespace: str, pool: str, config: str, label: str) -> dict[str, Any]:
    """Return the spec of the Deployment: one picker, so that it knows all prefixes; its successor starts first."""
    pod = {
        "serviceAccountName": name,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": _DRAIN_SECONDS,
        "containers": [_container(namespace, pool)],
        "volumes": [{"name": "config", "configMap": {"name": name}}],
    }
    metadata = {"labels": {LABEL_WORKLOAD: name, label: name}, "annotations": {ANNOTATION_CONFIG: digest(config)}}
    return {
        "replicas": 1,
        "selector": {"matchLabels": {label: name}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
        "template": {"metadata": metadata, "spec": pod},
    }


def endpoint_picker(  # noqa: PLR0913 - what a picker is made of
    name: str, namespace: str, labels: Mapping[str, str], *, pool: str, config: Mapping[str, Any], label: str
) -> list[dict[str, Any]]:
    """Return the objects of the picker of the InferencePool `pool`, all called `name`.

    `config` is its EndpointPickerConfig, written as JSON, which is also YAML. The picker reads it only once, so its
    pods have a digest of it, and another configuration starts another picker. Its pods have none of `labels`, which
    would make them members of the pool. They are selected by `label`, whose value is `name`.
    """
    text = json.dumps(config, indent=2)
    ports = [
        {"name": "grpc", "port": PICKER_PORT, "targetPort": PICKER_PORT, "protocol": "TCP", "appProtocol": "http2"},
        {"name": "health", "port": _HEALTH_PORT, "targetPort": _HEALTH_PORT, "protocol": "TCP"},
    ]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    parts: list[tuple[str, str, dict[str, Any]]] = [
        ("v1", "ServiceAccount", {}),
        ("rbac.authorization.k8s.io/v1", "Role", {"rules": _rules()}),
        ("rbac.authorization.k8s.io/v1", "RoleBinding", {"roleRef": role, "subjects": [subject]}),
        ("v1", "ConfigMap", {"data": {_FILE: text}}),
        ("v1", "Service", {"spec": {"selector": {label: name}, "ports": ports}}),
        ("apps/v1", "Deployment", {"spec": _deployment(name, namespace, pool, text, label)}),
    ]
    metadata = {"name": name, "namespace": namespace, "labels": dict(labels)}
    return [{"apiVersion": version, "kind": kind, "metadata": metadata, **body} for version, kind, body in parts]
