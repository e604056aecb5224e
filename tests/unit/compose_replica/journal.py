"""What an edit of a deployment does to the clusters, pass by pass: what goes, what comes, what is changed in place."""

import copy
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from given.manifests import Manifest
from modelplane.preview import ControlPlane

#: Rounds of passes after the edits; the last of them change nothing.
_ROUNDS = 8
_TOLD = ("deployment-", "leaderworkerset-", "resourceclaimtemplate-")


def _placed(obj: Manifest) -> tuple[str, str]:
    """Return an Object's cluster and resource name; a claim template's without the hash of its content."""
    resource = obj["metadata"]["annotations"]["crossplane.io/composition-resource-name"]
    kind = "claims" if resource.startswith("resourceclaimtemplate-") else resource
    return obj["spec"]["providerConfigRef"]["name"], kind


def _manifests(control: ControlPlane) -> dict[str, tuple[str, Manifest]]:
    """Return what runs engines, or is claimed by them: by Object name what it is called and its manifest."""
    found = {}
    for obj in control.list("Object"):
        resource = obj["metadata"].get("annotations", {}).get("crossplane.io/composition-resource-name", "")
        if resource.startswith(_TOLD):
            found[obj["metadata"]["name"]] = (
                "{1} on {0}".format(*_placed(obj)),
                obj["spec"]["forProvider"]["manifest"],
            )
    return found


def nodes_taken(control: ControlPlane) -> Counter[str]:
    """Return how many whole nodes the workloads of each cluster need."""
    taken: Counter[str] = Counter()
    for called, manifest in _manifests(control).values():
        spec = manifest["spec"]
        size = spec.get("leaderWorkerTemplate", {}).get("size", 1)
        taken[called.partition(" on ")[2]] += spec.get("replicas", 0) * size
    return taken


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    gone = [f"- {before[name][0]}" for name in before.keys() - after.keys()]
    come = [f"+ {after[name][0]}" for name in after.keys() - before.keys()]
    changed = [f"~ {after[name][0]}" for name in after.keys() & before.keys() if after[name] != before[name]]
    return [*sorted(gone), *sorted(changed), *sorted(come)]


def journal(control: ControlPlane, edits: Iterable[Manifest], nodes: Mapping[str, int]) -> list[list[str]]:
    """Return what each pass that follows the edits does; asserts that no cluster ever needs more nodes than it has."""
    for edit in edits:
        control.apply(copy.deepcopy(edit))
    entries: list[list[str]] = []
    for _ in range(_ROUNDS):
        for kind in ("InferenceCluster", "ModelCache", "ModelDeployment", "ModelReplica"):
            for composite in control.list(kind):
                before = _manifests(control)
                control.reconcile(kind, composite["metadata"].get("namespace"), composite["metadata"]["name"])
                done = _differences(before, _manifests(control))
                assert not nodes_taken(control) - Counter(nodes), f"{nodes_taken(control)} after {done}"
                entries += [done] if done else []
    before = _manifests(control)
    assert control.settle()
    assert _manifests(control) == before, f"not at rest after {_ROUNDS} rounds: {entries}"
    return entries
