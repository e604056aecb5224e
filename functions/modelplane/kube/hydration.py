"""The Job that downloads a ModelCache's weights onto its volume."""

import json
from dataclasses import dataclass
from typing import Any

from modelplane.kube.volume import claimed
from modelplane.model.names import LABEL_FILLS, MODELS_PATH, digest
from modelplane.model.staging import HydrateExit

#: Tries of the Job; the program itself tries again after what a hub or a network does now and then.
_TRIES = 3
#: A finished Job that is still there after an hour is removed: it failed, and is created again where it is wanted.
_KEPT_SECONDS = 3600
#: Slowest download that is waited for, in seconds for a GiB, and the least time that every download has.
_SECONDS_PER_GIB, _LEAST_SECONDS = 60, 6 * 3600
_CONTAINER = "hydrate"
#: A deletion of the Job without options, such as the provider's, deletes its pods first; batch/v1 would orphan them.
_PODS_FIRST = "foregroundDeletion"


@dataclass(frozen=True, slots=True)
class Download:
    """What is downloaded: a repository's revision ("": its default branch), at most `size_gib`.

    `token` is the (name, key) of a Secret beside the Job, None for an open repository; `token_version` tells one
    content of that Secret from the next. With another one, or another size, the Job is another Job.
    """

    repo: str
    revision: str
    size_gib: int
    token: tuple[str, str] | None = None
    token_version: str = ""


def _container(download: Download, image: str) -> dict[str, Any]:
    args = [f"--repo={download.repo}", f"--target={MODELS_PATH}", f"--size-gib={download.size_gib}"]
    args += [f"--revision={download.revision}"] if download.revision else []
    # Kubernetes puts the value of a variable, such as the token, in the place of a $(NAME).
    args = [each.replace("$", "$$") for each in args]
    container: dict[str, Any] = {
        "name": _CONTAINER,
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
        name, key = download.token
        container["env"] = [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": name, "key": key}}}]
    return container


def _failure_policy() -> dict[str, Any]:
    """Return what ends the Job at once: a way to end that another try would not change."""
    lasting = sorted(int(code) for code in HydrateExit if code not in (HydrateExit.STAGED, HydrateExit.AGAIN))
    ended = {"containerName": _CONTAINER, "operator": "In", "values": lasting}
    disrupted = {"type": "DisruptionTarget", "status": "True"}
    return {
        "rules": [
            {"action": "FailJob", "onExitCodes": ended},
            {"action": "Ignore", "onPodConditions": [disrupted]},
        ]
    }


def hydration_job(volume: str, uid: str, namespace: str, download: Download, *, image: str) -> dict[str, Any]:
    """Return the Job that fills the claim `volume` of this uid.

    Its name carries its content, since a Job's template is immutable, and the uid: a new claim is empty.
    """
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        # A volume that was just made belongs to root, and fsGroup does not reach one that many nodes mount.
        "securityContext": {"runAsUser": 0, "runAsGroup": 0},
        "containers": [_container(download, image)],
        "volumes": [{"name": "models", **claimed(volume, read_only=False)}],
    }
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
