"""What `modelplane inventory` needs on an inference cluster, in one table: account, rights, walls, pod."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from modelplane.kube.hydration import DownloadPod
from modelplane.model.names import GPU_TAINT, INVENTORY, RBAC_GROUP

_LABELS: Final = {"app.kubernetes.io/name": INVENTORY}
_ACCOUNT: Final = [{"kind": "ServiceAccount", "name": INVENTORY, "namespace": INVENTORY}]
#: What it reads of the whole cluster.
RIGHTS: Final[list[dict[str, Any]]] = [
    {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list"]},
    {"apiGroups": ["resource.k8s.io"], "resources": ["resourceslices", "resourceclaims"], "verbs": ["list"]},
    {"apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"], "verbs": ["get"]},
]
#: What it may do in its own namespace.
OWN_RIGHTS: Final[list[dict[str, Any]]] = [
    {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [INVENTORY], "verbs": ["get", "patch"]},
]
#: On a cluster whose nodes are all tainted it runs on one of a pool, or on one of the control plane.
_TOLERATIONS: Final = [
    {"key": GPU_TAINT, "operator": "Exists", "effect": "NoSchedule"},
    {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"},
]
_HEALTHY: Final = "/tmp/inventory"  # noqa: S108 - a volume of the pod's own
#: Of the functions' image, which has no shell.
PYTHON: Final = "/usr/bin/python3.11"
#: Fails once the last reading is older than this.
_IS_HEALTHY: Final = f"import os,sys,time;sys.exit(time.time()-os.stat({_HEALTHY!r}).st_mtime>180)"


def _placed(api: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": INVENTORY, "namespace": INVENTORY}, **fields}


def _of_cluster(api: str, kind: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": INVENTORY}, **fields}


def config_map() -> dict[str, Any]:
    """Return the ConfigMap that the process fills, which it may not make."""
    return _placed("v1", "ConfigMap")


def deployment(
    image: str,
    architectures: Sequence[str],
    *,
    values: Mapping[str, Any] | None = None,
    tolerations: Iterable[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the Deployment of one pod with an image that exists for these architectures.

    `values` are a cluster's own, by field of the pod (`stack.overrides`), `tolerations` those of its pools.
    """
    own = dict(values or {})
    tolerated = [*_TOLERATIONS, *tolerations, *own.pop("tolerations", ())]
    container = {
        "name": "inventory",
        "image": image,
        "command": ["modelplane", "inventory", f"--healthy-file={_HEALTHY}"],
        "resources": {"requests": {"cpu": "20m", "memory": "96Mi"}, "limits": {"memory": "512Mi"}},
        "readinessProbe": {
            "exec": {"command": [PYTHON, "-c", _IS_HEALTHY]},
            "periodSeconds": 30,
            "timeoutSeconds": 5,
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],  # noqa: S108 - as above
    }
    pod = {
        "serviceAccountName": INVENTORY,
        "enableServiceLinks": False,
        **own,
        "tolerations": [each for at, each in enumerate(tolerated) if each not in tolerated[:at]],
        "affinity": DownloadPod(image, architectures).affinity(),
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "tmp", "emptyDir": {"sizeLimit": "1Mi"}}],
    }
    spec = {
        "replicas": 1,
        "strategy": {"type": "Recreate"},  # two would each write what the other remembers
        "selector": {"matchLabels": _LABELS},
        "template": {"metadata": {"labels": _LABELS}, "spec": pod},
    }
    return _placed("apps/v1", "Deployment", spec=spec)


def around() -> dict[str, dict[str, Any]]:
    """Return everything but the Deployment and the ConfigMap, by what it is for.

    Nothing may connect to the pod, which connects to the API server alone: its address is not known here, its port is.
    """
    bound = {"apiGroup": RBAC_GROUP, "name": INVENTORY}
    ports = [{"protocol": "TCP", "port": port} for port in (443, 6443)]
    closed = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], "egress": [{"ports": ports}]}
    api = f"{RBAC_GROUP}/v1"
    return {
        "namespace": _of_cluster("v1", "Namespace"),
        "account": _placed("v1", "ServiceAccount"),
        "reads": _of_cluster(api, "ClusterRole", rules=RIGHTS),
        "reader": _of_cluster(api, "ClusterRoleBinding", roleRef={**bound, "kind": "ClusterRole"}, subjects=_ACCOUNT),
        "writes": _placed(api, "Role", rules=OWN_RIGHTS),
        "writer": _placed(api, "RoleBinding", roleRef={**bound, "kind": "Role"}, subjects=_ACCOUNT),
        "walls": _placed("networking.k8s.io/v1", "NetworkPolicy", spec=closed),
    }
