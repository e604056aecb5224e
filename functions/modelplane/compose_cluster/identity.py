"""Which cluster is behind a kubeconfig: the uid of its Namespace kube-system, which lasts as long as the cluster.

If a kubeconfig leads to another cluster than before, or to the cluster of another InferenceCluster, nothing is placed
there: its devices would be counted wrongly or twice. Existing replicas stay.
A cluster reports its own uid, which could be false. So a uid belongs to the InferenceCluster that published it first:
another one that observes it later neither publishes it nor marks its config with it, even if it is older.

Where two InferenceClusters share a cluster, the one whose config has the mark has the cluster: it alone composes what
both need there (the Gateway and its parts, the mark of the installation), and the other observes them. Its Objects do
not delete what they represent while another one shares the cluster, so that it can be deleted at any time: once its
config is gone, the other marks its own and takes over what it finds. It is known to share the cluster by the label of
its config. Once it has published the uid it keeps that label without the annotation too, since replicas may be there.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from modelplane.clouds import CLOUDS
from modelplane.compose_cluster.sources import CONFIG
from modelplane.composing import requirements as require
from modelplane.model.conditions import ClusterCondition, Condition, Reason, Status
from modelplane.model.names import (
    ANNOTATION_ABANDON,
    ANNOTATION_SHARES,
    LABEL_CLUSTER_UID,
    LABEL_SHARES_UID,
    digest,
)
from modelplane.model.observation import Gap
from modelplane.observed.fields import labels, mapping, text
from modelplane.observed.remote import Remote
from modelplane.step import Object, Request, Requirement

#: The form of a uid. Kubernetes uses UUIDs; any value of a label is accepted, because it marks a config as a label.
_UID: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?")


def read_uid(value: object) -> str:
    """Return a uid, "" for none; a digest of a value that does not have the form of a uid."""
    found = text(value)
    return found if not found or _UID.fullmatch(found) else f"malformed-{digest(found)}"


def seen_uid(probe: Remote | None) -> str:
    """Return the uid of the cluster that the probe observes, "" while it has observed none."""
    return read_uid(mapping((probe.manifest or {}).get("metadata")).get("uid")) if probe else ""


def leads_elsewhere(probe: Remote | None, published: str) -> bool:
    """Tell whether the kubeconfig leads to another cluster than the published one, "" for none."""
    return bool(published) and seen_uid(probe) not in {"", published}


def last_uid(request: Request, probe: Remote | None) -> str:
    """Return the uid that the InferenceCluster has published, "" for none, or if its cluster was made anew.

    The kubeconfig of a cluster that Modelplane makes leads nowhere else: another uid is that of a cluster which the
    cloud's provider has made again, after somebody had deleted it there.
    """
    published = read_uid(mapping(request.composite.body.get("status")).get("clusterUID"))
    return "" if is_made(request) and leads_elsewhere(probe, published) else published


def is_made(request: Request) -> bool:
    """Tell whether Modelplane makes the cluster."""
    return mapping(mapping(request.composite.body.get("spec")).get("cluster")).get("source") in CLOUDS


def published_uid(request: Request, probe: Remote | None) -> str:
    """Return `status.clusterUID`: of the first observed cluster; "" for none, or if the uid belongs to another."""
    published, seen = last_uid(request, probe), seen_uid(probe)
    if published or not seen:
        return published
    found = request.all(require.marked_configs(seen))
    may = not isinstance(found, Gap) and (_is_free(request, found) or _shares(request.composite))
    return seen if may else ""


@dataclass(frozen=True, slots=True)
class Sharing:
    """Which InferenceClusters have one cluster: `holder` has it, "" while that is not known; `others` share it too.

    The one that asks is not among the `others`. If it does not share the cluster, it is its holder. Two that observed
    the cluster at the same moment have both marked their configs: they share it, whatever their annotations.
    """

    holder: str = ""
    others: tuple[str, ...] = ()

    def of_another(self, cluster: str) -> str:
        """Return the InferenceCluster that has the cluster if it is another one than `cluster`, else ""."""
        return "" if self.holder == cluster else self.holder


def read_sharing(request: Request, probe: Remote | None, published: str) -> Sharing:
    """Return who has the cluster that the probe observes; not known if that is another than the published one."""
    own, seen = request.composite.name, seen_uid(probe)
    uid = published or seen
    if not uid:
        return Sharing(own)
    if leads_elsewhere(probe, uid):
        return Sharing()
    marked, sharing = request.all(require.marked_configs(uid)), request.all(require.sharing_configs(uid))
    if isinstance(marked, Gap) or isinstance(sharing, Gap):
        return Sharing()
    first = _first(request, uid)
    shares = _shares(request.composite) or own in {each.name for each in sharing}
    if shares and first is None:
        # Others that share the cluster may take it over too: the oldest config that is marked decides.
        return Sharing()
    holder = first.name if first else own
    return Sharing(holder, tuple(sorted({holder, *(each.name for each in (*sharing, *marked))} - {own})))


def requirements(uid: str) -> tuple[Requirement, ...]:
    """Return the requirements of `check` and `read_sharing` for the observed or published uid, none for ""."""
    return (require.marked_configs(uid), require.sharing_configs(uid)) if uid else ()


def config_labels(request: Request, probe: Remote | None, uid: str) -> Mapping[str, str]:
    """Return the labels of the ClusterProviderConfig for the published uid, "" for none.

    It is marked with it unless another config is: then it says that it shares the cluster. While it is not known which
    configs are marked, it says what it did.
    """
    found = request.all(require.marked_configs(uid))
    # The configs of the observed cluster are fetched.
    if not uid or isinstance(found, Gap) or uid != seen_uid(probe):
        config = request.observed.get(CONFIG)
        shared = config is not None and labels(config).get(LABEL_SHARES_UID) == uid
        return {LABEL_SHARES_UID if shared else LABEL_CLUSTER_UID: uid} if uid else {}
    first = _first(request, uid)
    of_another = first is not None and first.name != request.composite.name and _shares(request.composite)
    return {LABEL_SHARES_UID if of_another or not _is_free(request, found) else LABEL_CLUSTER_UID: uid}


def _is_free(request: Request, marked: Collection[Object]) -> bool:
    """Tell whether no config is marked with the uid, or the cluster's own is."""
    return not marked or request.composite.name in {each.name for each in marked}


def check(request: Request, probe: Remote | None, published: str) -> Condition | None:
    """Return ClusterReady=False if the kubeconfig leads to a wrong cluster, None otherwise.

    `published` is the uid that the InferenceCluster has published, "" before the first one. It stays when another
    cluster is observed, because the replicas were placed on the first one.
    """
    uid, cluster = seen_uid(probe), request.composite.name
    if not uid:
        return None
    kind = ClusterCondition.CLUSTER_READY
    if leads_elsewhere(probe, published):
        message = (
            f"the kubeconfig leads to another cluster than before: the uid of its Namespace kube-system is {uid}, and "
            f"was {published}. Correct the kubeconfig's Secret; if the cluster was recreated, delete InferenceCluster "
            f"{cluster} with the annotation {ANNOTATION_ABANDON}, and apply it again"
        )
        return Condition(kind, Status.FALSE, Reason.IDENTITY_CHANGED, message)
    first = _first(request, uid)
    if first is not None and first.name != cluster and not _shares(request.composite):
        message = (
            f"InferenceCluster {first.name} has this cluster already: the uid of the Namespace kube-system of both is "
            f"{uid}. Correct the kubeconfig's Secret, or delete InferenceCluster {cluster}; if the two describe "
            f'different pools of it, annotate {cluster} with {ANNOTATION_SHARES}: "true"'
        )
        return Condition(kind, Status.FALSE, Reason.DUPLICATE_CLUSTER, message)
    return None


def _shares(cluster: Object) -> bool:
    """Tell whether an InferenceCluster is annotated to share its cluster with another one."""
    return mapping(cluster.metadata.get("annotations")).get(ANNOTATION_SHARES) == "true"


def _first(request: Request, uid: str) -> Object | None:
    """Return the oldest ClusterProviderConfig that is marked with the uid; it has its InferenceCluster's name."""
    found = request.all(require.marked_configs(uid))
    if isinstance(found, Gap):
        return None
    return min(found, key=lambda each: (text(each.metadata.get("creationTimestamp")), each.name), default=None)
