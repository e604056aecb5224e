"""What may go in a future, and when: replicas go from one cluster first, from the others later."""

from collections.abc import Iterator
from typing import Final

from modelplane.model.names import API_VERSION
from modelplane.planning.branches import Branch
from modelplane.preview import ControlPlane
from modelplane.preview.deletion import finalizers_of
from modelplane.preview.worlds import World
from modelplane.reading.kinds import Key, key_of
from modelplane.reading.trace import REPLICA
from modelplane.reading.tree import Manifest, mapping

_CROSSPLANE: Final = ".crossplane.io"
_CLUSTER: Final = "InferenceCluster"
_HELD: Final = "planning.modelplane.ai/held"


def released(fleet: ControlPlane, world: World | None) -> ControlPlane:
    """Return a fork of a fleet as it was read, from which what is deleted goes, as Crossplane lets it.

    Nobody here takes away the finalizers that Crossplane sets on composites. An InferenceCluster keeps them: it stays
    until its replicas are gone.
    """
    control = fleet.fork(world)
    control.hold_by(finalizers)
    return control


def finalizers(obj: Manifest) -> list[str]:
    """Return the finalizers that hold an object without Crossplane's."""
    found = finalizers_of(obj)
    if obj["apiVersion"] != API_VERSION or obj["kind"] == _CLUSTER:
        return found
    return [each for each in found if not each.endswith(_CROSSPLANE)]


class Leaving:
    """Keeps the ModelReplicas of a fleet, and lets those of one cluster go first, in a branch for each cluster."""

    def __init__(self, control: ControlPlane, clusters: frozenset[str]) -> None:
        replicas = control.view().scan(REPLICA)
        self._clusters = {key_of(each): str(mapping(each, "spec").get("clusterName")) for each in replicas}
        if clusters:
            self._keep(control, "")

    def part(self, branch: Branch) -> Iterator[Branch]:
        """Yield a branch for each of its clusters from which replicas want to go now, and one for the others."""
        if len(branch.clusters) < 2:
            yield branch
            return
        want = {
            self._clusters.get(key_of(each), "")
            for each in branch.control.view().scan(REPLICA)
            if each["metadata"].get("deletionTimestamp")
        }
        for cluster in sorted(want & branch.clusters):
            fork = branch.fork()
            fork.clusters = frozenset({cluster})
            self._keep(fork.control, cluster)
            yield fork
        branch.clusters -= want
        if branch.clusters:
            yield branch

    def release(self, branch: Branch) -> Branch:
        """Let all clusters of a branch let replicas go, and return it."""
        branch.control.hold_by(finalizers)
        branch.clusters = frozenset()
        return branch

    def _keep(self, control: ControlPlane, besides: str) -> None:
        """Keep all replicas but those of a cluster, "" for none."""
        kept: set[Key] = {key for key, cluster in self._clusters.items() if cluster != besides}
        control.hold_by(lambda obj: [*finalizers(obj), *([_HELD] if key_of(obj) in kept else ())])
