"""The Job that downloads a ModelCache's weights onto its volume."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modelplane.kube.pod import tolerations
from modelplane.kube.volume import claimed
from modelplane.model.names import LABEL_FILLS, LABEL_POOL, MODELS_PATH, SYSTEM_POOL, digest
from modelplane.model.staging import HydrateExit

#: Tries of the Job; the program itself retries after temporary failures of the hub or the network.
_TRIES = 3
#: Seconds after which a finished Job is removed: it has failed, and is created again if it is still desired.
_KEPT_SECONDS = 3600
#: The time limit of a download: seconds for each GiB, and at least the second number.
_SECONDS_PER_GIB, _LEAST_SECONDS = 60, 6 * 3600
_CONTAINER = "hydrate"
#: Prefix of the argument with the commit to download.
COMMIT = "--commit="
#: The init container that reports the commit as its termination message, and the path of that message.
RESOLVE = "resolve"
_MESSAGE_FILE = "/dev/termination-log"
#: Finalizer with which a deletion of the Job without options, such as the provider's, deletes its pods first; by
#: default batch/v1 would orphan them.
_PODS_FIRST = "foregroundDeletion"


#: A download needs no GPU: it runs on a node of a pool only if no other node takes it.
_OFF_THE_POOLS = [
    {"weight": 100, "preference": {"matchExpressions": [{"key": LABEL_POOL, **where}]}}
    for where in ({"operator": "DoesNotExist"}, {"operator": "In", "values": [SYSTEM_POOL]})
]


@dataclass(frozen=True, slots=True)
class Download:
    """The content of a download: a repository's revision ("": its default branch), at most `size_gib`.

    `commit` is the commit to download; with "" the Job resolves the revision when it starts, and reports the commit.

    `token` is the (name, key) of a Secret beside the Job, None for an open repository; `token_version` changes with the
    content of that Secret. Another token version or size is another Job.
    """

    repo: str
    revision: str
    size_gib: int
    token: tuple[str, str] | None = None
    token_version: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class DownloadPod:
    """The pod of a download: its image, the image's architectures and pull secrets, and its user.

    `user` is also the group and the fsGroup; None is root. `tolerations` are those of the cluster's pools, for clusters
    on which all nodes are tainted.
    """

    image: str
    architectures: Sequence[str]
    pull_secrets: Sequence[str] = ()
    user: int | None = None
    tolerations: Sequence[Mapping[str, Any]] = ()

    def security_context(self) -> dict[str, Any]:
        """Return the pod's security context."""
        if self.user is None:
            # A new volume belongs to root, and fsGroup has no effect on most ReadWriteMany volumes.
            return {"runAsUser": 0, "runAsGroup": 0}
        context = dict.fromkeys(("runAsUser", "runAsGroup", "fsGroup"), self.user)
        return {**context, "runAsNonRoot": True, "fsGroupChangePolicy": "OnRootMismatch"}

    def affinity(self) -> dict[str, Any]:
        """Return the affinity to nodes that can run the image, preferably outside of the pools."""
        runs = [
            {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
            {"key": "kubernetes.io/arch", "operator": "In", "values": list(self.architectures)},
        ]
        nodes = {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": runs}]},
            "preferredDuringSchedulingIgnoredDuringExecution": _OFF_THE_POOLS,
        }
        return {"nodeAffinity": nodes}


def _container(name: str, download: Download, image: str, *further: str) -> dict[str, Any]:
    """Return a container that runs the program, with `further` arguments."""
    args = [f"--repo={download.repo}", f"--target={MODELS_PATH}", f"--size-gib={download.size_gib}"]
    args += [f"--revision={download.revision}"] if download.revision else []
    args += [f"{COMMIT}{download.commit}"] if download.commit else []
    args += further
    # Kubernetes would replace $(NAME) by the value of a variable, such as the token.
    args = [each.replace("$", "$$") for each in args]
    container: dict[str, Any] = {
        "name": name,
        "image": image,
        "command": ["modelplane", "hydrate"],
        "args": args,
        "volumeMounts": [{"name": "models", "mountPath": MODELS_PATH}],
        "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"memory": "2Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    if download.token:
        secret, key = download.token
        container["env"] = [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}]
    return container


def _failure_policy() -> dict[str, Any]:
    """Return the policy that fails the Job at once for exit codes that another try would not change."""
    lasting = sorted(int(code) for code in HydrateExit if code not in (HydrateExit.STAGED, HydrateExit.AGAIN))
    ended = {"operator": "In", "values": lasting}
    disrupted = {"type": "DisruptionTarget", "status": "True"}
    return {
        "rules": [
            {"action": "FailJob", "onExitCodes": ended},
            {"action": "Ignore", "onPodConditions": [disrupted]},
        ]
    }


def hydration_job(volume: str, uid: str, namespace: str, download: Download, runs: DownloadPod) -> dict[str, Any]:
    """Return the Job that fills the claim `volume` of this uid.

    Its name contains a hash of its content, because a Job's template is immutable, and of the uid, because a new claim
    is empty.
    """
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "tolerations": tolerations(runs.tolerations),
        "securityContext": runs.security_context(),
        "affinity": runs.affinity(),
        "containers": [_container(_CONTAINER, download, runs.image)],
        "volumes": [{"name": "models", **claimed(volume, read_only=False)}],
    }
    if runs.pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in runs.pull_secrets]
    if not download.commit:
        pod["initContainers"] = [_container(RESOLVE, download, runs.image, f"--resolve={_MESSAGE_FILE}")]
    spec = {
        "backoffLimit": _TRIES,
        "activeDeadlineSeconds": max(_LEAST_SECONDS, download.size_gib * _SECONDS_PER_GIB),
        "ttlSecondsAfterFinished": _KEPT_SECONDS,
        "podFailurePolicy": _failure_policy(),
        "template": {"metadata": {"labels": {LABEL_FILLS: uid}}, "spec": pod},
    }
    content = json.dumps(spec, sort_keys=True)
    name = f"{volume}-{digest(content, uid, download.token_version, str(download.size_gib))}"
    metadata = {
        "name": name,
        "namespace": namespace,
        "labels": {LABEL_FILLS: uid},
        "finalizers": [_PODS_FIRST],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": spec,
    }
