"""What the fake kubelets do with nodes and pods: kwok's stages, draining, and an image that cannot be pulled.

Pods with the annotation `PLAYS` are left to `plane.kubelet`, which runs fake engines in them; kwok only deletes them.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from modelplane.kube.hydration import RESOLVE
from modelplane_dev.components import sources

#: An image with this tag cannot be pulled, from any registry.
NOT_FOUND: Final = "not-found"
#: Annotation of a pod that `plane.kubelet` runs: the engine that is played there, of those of `plane.engines`.
PLAYS: Final = "example.org/plays"
_PLAYED = f'.metadata.annotations["{PLAYS}"]'
_CONTAINERS = "(.spec.containers[], (.spec.initContainers // [])[])"
_CANNOT_PULL = f'[{_CONTAINERS} | .image | select(endswith(":{NOT_FOUND}"))][0]'
#: The status that a kubelet writes while it waits to pull again; the other containers of the pod run.
_STATUS = f"""
{{{{ $now := Now }}}}
phase: Pending
startTime: {{{{ $now | Quote }}}}
hostIP: {{{{ NodeIPWith .spec.nodeName | Quote }}}}
conditions:
- {{type: Initialized, status: "True", lastTransitionTime: {{{{ $now | Quote }}}}}}
- {{type: Ready, status: "False", reason: ContainersNotReady, lastTransitionTime: {{{{ $now | Quote }}}}}}
- {{type: ContainersReady, status: "False", reason: ContainersNotReady, lastTransitionTime: {{{{ $now | Quote }}}}}}
containerStatuses:
{{{{ range .spec.containers }}}}
- image: {{{{ .image | Quote }}}}
  name: {{{{ .name | Quote }}}}
  ready: false
  restartCount: 0
  state:
    waiting:
      {{{{ if hasSuffix ":{NOT_FOUND}" .image }}}}
      reason: ImagePullBackOff
      message: {{{{ printf "Back-off pulling image %q: not found" .image | Quote }}}}
      {{{{ else }}}}
      reason: ContainerCreating
      {{{{ end }}}}
{{{{ end }}}}
"""


#: The commit that a download resolves every revision to.
COMMIT: Final = "0123456789abcdef0123456789abcdef01234567"
_COMPLETED = "      reason: Completed\n"
_RESOLVED = f'      {{{{ if eq .name "{RESOLVE}" }}}}message: "{COMMIT}"{{{{ end }}}}\n'
#: What a stage says of the room of a node.
_ROOM = re.compile(r"^(?:allocatable|capacity):\n(?:[ {].*\n)*?{{ end }}\n", re.MULTILINE)
#: How long a pod that is being deleted answers on: the longest sleep of its containers before they are stopped. Asked
#: to stop, a played engine stops at once.
_DRAIN = '"\\([.spec.containers[].lifecycle.preStop.sleep.seconds // 0] | max)s"'


def stages() -> Iterator[dict[str, Any]]:
    """Yield the stages of kwok, with draining, and one more for a pod whose image cannot be pulled: it is never ready.

    Given none for nodes, kwok patches the status of each every 20 seconds although it has a lease. Its own one makes up
    the room of a node that has none yet, and may write that over what a test gives the node meanwhile.
    """
    for file in sources.node_stages():
        stage = yaml.safe_load(file.read_text())
        template = stage["spec"]["next"]["statusTemplate"]
        stage["spec"]["next"]["statusTemplate"] = _ROOM.sub("", template)
        yield stage
    for file in sorted(sources.pod_stages().glob("pod-*.yaml")):
        stage = yaml.safe_load(file.read_text())
        if stage["metadata"]["name"] == "pod-ready":
            others = [{"key": key, "operator": "DoesNotExist"} for key in (_CANNOT_PULL, _PLAYED)]
            stage["spec"]["selector"]["matchExpressions"] += others
            template = stage["spec"]["next"]["statusTemplate"]
            stage["spec"]["next"]["statusTemplate"] = template.replace(_COMPLETED, _COMPLETED + _RESOLVED)
        if stage["metadata"]["name"] == "pod-delete":
            stage["spec"]["delay"] = {"durationMilliseconds": 0, "durationFrom": {"expressionFrom": _DRAIN}}
        yield stage
    waiting = [
        {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
        {"key": ".status.containerStatuses", "operator": "DoesNotExist"},
        {"key": _CANNOT_PULL, "operator": "Exists"},
    ]
    yield {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": "pod-image-not-found"},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": {"matchExpressions": waiting},
            "next": {"statusTemplate": _STATUS},
        },
    }


def write_stages(file: Path) -> Path:
    """Write the stages as kwok reads them; return the file."""
    file.write_text(yaml.safe_dump_all(stages()))
    return file
