"""The pods of completed downloads of weights: each reports the commit that its revision named.

They exist in every world: a world only says that a Job is complete, and need not know what its pods report.
"""

import hashlib
from collections.abc import Iterator

from modelplane.kube.hydration import RESOLVE
from modelplane.preview.simulation.pods import Pod
from modelplane.preview.simulation.providers import OBJECT, cluster_of
from modelplane.preview.store import View
from modelplane.reading.tree import Manifest, Tree, items, mapping


def download_pods(view: View) -> Iterator[Pod]:
    """Yield, with its cluster, a pod for each complete Job whose pods resolve a revision."""
    for obj in view.scan(OBJECT):
        job = mapping(obj, "status", "atProvider", "manifest")
        pod = mapping(job, "spec", "template", "spec")
        if any(c.get("type") == "Complete" for c in items(job, "status", "conditions")):
            for container in items(pod, "initContainers"):
                if container.get("name") == RESOLVE:
                    yield cluster_of(obj), _pod(job, container)


def _pod(job: Manifest, container: Manifest) -> Tree:
    """Return the pod of a Job, whose container that resolves the revision reports a commit.

    No hub is asked: the commit is derived from the repository and its revision.
    """
    named = sorted(arg for arg in container.get("args") or () if arg.startswith(("--repo=", "--revision=")))
    commit = hashlib.sha1(" ".join(named).encode(), usedforsecurity=False).hexdigest()
    ended = {"terminated": {"exitCode": 0, "reason": "Completed", "message": commit}}
    metadata = mapping(job, "metadata")
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{metadata['name']}-0",
            "namespace": str(metadata.get("namespace") or ""),
            "labels": dict(mapping(job, "spec", "template", "metadata", "labels")),
        },
        "status": {"phase": "Succeeded", "initContainerStatuses": [{"name": RESOLVE, "state": ended}]},
    }
