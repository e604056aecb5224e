"""Today's code takes over what earlier versions left: nothing that serves is deleted, renamed or restarted."""

from collections.abc import Mapping, Set
from pathlib import Path
from types import MappingProxyType

import pytest

from modelplane.model.names import LABEL_EGRESS, LABEL_ISOLATED
from modelplane.preview import ControlPlane
from upgrade.changelog import announced
from upgrade.manifests import Manifest
from upgrade.scenes import Clusters
from upgrade.states import paths, read_state
from upgrade.templates import digests, revisions
from upgrade.watch import Watch, watch

#: Deployments of a state whose users asked for something that goes on once clusters answer, by the state's name.
UNFINISHED: Mapping[str, frozenset[str]] = MappingProxyType(
    {"leaving": frozenset({"replaced"}), "moving": frozenset({"moving"})}
)
#: What others read comes first.
ORDER = (
    "InferenceClass", "InferenceCluster", "InferenceGateway", "ModelCache",
    "ModelDeployment", "ModelReplica", "ModelEndpoint", "ModelService",
)  # fmt: skip
ROUNDS = 20

STATES = {f"{path.parent.name}/{path.stem}": path for path in paths()}


def restarting(path: Path) -> Set[str]:
    """Return the workloads whose restart the changelog says for revisions after the one that a state was left with."""
    numbers = dict(enumerate(revisions(), 1))
    left = digests(read_state(path.with_stem("topologies")))
    since = max(number for number, each in numbers.items() if left.items() <= each.items())
    return frozenset().union(*(names for (number, _), names in announced().items() if number > since))


def composites(control: ControlPlane) -> list[tuple[str, str | None, str]]:
    found = [(kind, obj["metadata"]) for kind in ORDER for obj in control.list(kind)]
    return [(kind, metadata.get("namespace"), metadata["name"]) for kind, metadata in found]


def failed(control: ControlPlane) -> set[tuple[str, str]]:
    """Return the composites whose last pass failed as a whole."""
    return {
        (kind, obj["metadata"]["name"])
        for kind in ORDER
        for obj in control.list(kind)
        for condition in obj.get("status", {}).get("conditions", [])
        if (condition["type"], condition["status"]) == ("Synced", "False")
    }


def content(control: ControlPlane) -> list[Manifest]:
    """Return everything but the versions of the objects."""
    objects = [obj for kind in (*ORDER, "Object", "Usage", "ClusterUsage") for obj in control.list(kind)]
    for obj in objects:
        obj["metadata"].pop("resourceVersion")
    return objects


def work(control: ControlPlane, watching: Watch, allowed: Set[str], *, finishing: bool) -> None:
    """Reconcile every composite, whether it is due or not, until a round changes nothing; watch each pass that does."""
    watched = None
    for _ in range(ROUNDS):
        before = content(control)
        for kind, namespace, name in composites(control):
            control.reconcile(kind, namespace, name)
            if control._store.revision == watched:  # nothing was written since
                continue
            watched = control._store.revision
            lost = watching.lost(control, allowed, finishing=finishing)
            assert lost == [], f"after a pass of {kind} {name}"
        if content(control) == before:
            return
    raise AssertionError(f"not settled after {ROUNDS} rounds")


@pytest.mark.parametrize("name", STATES)
def test_what_an_earlier_version_left_stands_and_serves_on(name: str) -> None:
    state, clusters = read_state(STATES[name]), Clusters(answering=False)
    control = ControlPlane(state, world=clusters)
    known, allowed = failed(control), restarting(STATES[name])
    watching = watch(state, UNFINISHED.get(STATES[name].stem, frozenset()))
    work(control, watching, allowed, finishing=False)
    clusters.answering = True
    work(control, watching, allowed, finishing=True)
    assert control.settle()
    assert watching.lost(control, allowed, finishing=True) == []
    assert failed(control) == known


@pytest.mark.parametrize("name", [name for name in STATES if name.endswith("/topologies")])
def test_a_namespace_that_an_earlier_version_made_is_not_closed(name: str) -> None:
    state = read_state(STATES[name])
    control = ControlPlane(state, world=Clusters())
    assert control.settle()
    before = {obj["metadata"]["uid"] for obj in state if obj["kind"] == "ModelReplica"}
    made = [obj for obj in control.list("Object") if obj["metadata"]["ownerReferences"][0]["uid"] in before]
    put = [obj["spec"]["forProvider"]["manifest"] for obj in made]
    namespaces = [manifest for manifest in put if manifest["kind"] == "Namespace"]
    assert len(namespaces) == len(before) > 0
    labels = set().union(*(manifest["metadata"]["labels"] for manifest in namespaces))
    assert labels.isdisjoint({LABEL_ISOLATED, LABEL_EGRESS})
    assert not [manifest for manifest in put if manifest["kind"] == "NetworkPolicy"]


def test_the_states_hold_what_they_are_kept_for() -> None:
    replicas = [obj for path in STATES.values() for obj in read_state(path) if obj["kind"] == "ModelReplica"]
    served = [obj for obj in replicas if obj["status"].get("served")]
    assert len(served) > 40
    assert any("modelplane.ai/cluster" not in obj["metadata"].get("labels", {}) for obj in served)
    assert any("deletionTimestamp" in obj["metadata"] for obj in served)
    assert any(len(str(obj)) > 1_000_000 for obj in served)
