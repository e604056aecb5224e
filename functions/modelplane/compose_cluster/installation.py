"""Which installation of Modelplane a cluster belongs to: a ConfigMap on it has the id of the first installation.

Two control planes with the kubeconfig of one cluster would each place on all of its nodes, and undo each other's work.
The id is in a ConfigMap of the control cluster, which backups include; without it no cluster is marked.
"""

from typing import Final

from modelplane.composing import requirements as require
from modelplane.composing.hold import held
from modelplane.composing.messages import out_of_sync
from modelplane.composing.orphan import observing, orphaned, resumed
from modelplane.kube.object import Handling, observed_only, remote_object
from modelplane.model.conditions import ClusterCondition, Condition, Reason, Status
from modelplane.model.names import INSTALLATION, SYSTEM_NAMESPACE
from modelplane.observed.fields import excerpt, mapping, text
from modelplane.observed.remote import Remote
from modelplane.step import Manifest, Object, Request

#: Composition resource name of the mark's Object.
RESOURCE: Final = "installation"
#: An existing mark is never changed; the own one is deleted with the InferenceCluster, another's never.
_OF_ANOTHER: Final = Handling(policies=("Observe", "Create"))
_OURS: Final = Handling(policies=("Observe", "Create", "Delete"))


def read_id(request: Request) -> str:
    """Return the id of this installation, "" if it has none or it is not fetched yet."""
    found = request.one(require.installation())
    return text(mapping(found.body.get("data")).get("id")) if isinstance(found, Object) else ""


def marked_by(mark: Remote | None) -> str:
    """Return the id of the installation that a cluster is marked with, "" while no mark was seen."""
    manifest = mark.manifest if mark and not mark.absent else None
    return text(mapping(mapping(manifest).get("data")).get("id"))


def bodies(request: Request, config: str, mark: Remote | None, *, leave: bool = False) -> dict[str, Manifest]:
    """Return the Object of the mark: created if absent; held while the id is not known.

    With `leave` it stays on the cluster when it is composed no more.
    """
    own, seen = read_id(request), request.observed.get(RESOURCE)
    if not own:
        kept = resumed(held(seen.body)) if seen else {}
        return {RESOURCE: orphaned(kept) if leave else kept} if kept else {}
    ours = marked_by(mark) == own and not leave
    metadata = {"name": INSTALLATION, "namespace": "kube-system"}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"id": own}}
    handling = _OURS if ours else _OF_ANOTHER
    return {RESOURCE: remote_object(manifest, handling, namespace=SYSTEM_NAMESPACE, config=config)}


def observe(config: str) -> dict[str, Manifest]:
    """Return the Object that observes a mark that another InferenceCluster of the cluster has."""
    metadata = {"name": INSTALLATION, "namespace": "kube-system"}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    return {RESOURCE: remote_object(manifest, observed_only(), namespace=SYSTEM_NAMESPACE, config=config)}


def watched(request: Request, config: str) -> dict[str, Manifest]:
    """Return the Object of the mark, which observes what is on the cluster of somebody else for now."""
    seen = request.observed.get(RESOURCE)
    return {RESOURCE: observing(held(seen.body))} if seen else observe(config)


def check(request: Request, mark: Remote | None) -> Condition | None:
    """Return ClusterReady=False if the cluster is not known to be this installation's, None if it is.

    A cluster that was in use before marks existed stays in use until its mark is observed.
    """
    own, other = read_id(request), marked_by(mark)
    kind, in_use = ClusterCondition.CLUSTER_READY, mapping(request.composite.body.get("status")).get("gateway")
    if not own or other == own or (not other and in_use):
        return None
    if not other:
        failure = out_of_sync("", {f"ConfigMap kube-system/{INSTALLATION}": mark}) if mark else ""
        waiting = failure or f"the cluster is being marked with the id of this installation, {own}"
        return Condition(kind, Status.FALSE, Reason.PROVISIONING, waiting)
    message = (
        f"the installation of Modelplane with id {excerpt(other)} has this cluster, this one has id {own}. Delete the "
        f"InferenceCluster there, or here; if that installation is gone, or this one was restored from it, delete "
        f"ConfigMap kube-system/{INSTALLATION} of the cluster"
    )
    return Condition(kind, Status.FALSE, Reason.OTHER_INSTALLATION, message)


def may_compose(request: Request, mark: Remote | None) -> bool:
    """Tell whether new objects may be created on the cluster: it is marked with the id of this installation."""
    own = read_id(request)
    return not own or marked_by(mark) == own
