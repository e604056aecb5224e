"""Which cluster is behind a kubeconfig: the uid of its Namespace kube-system, which lasts as long as the cluster does.

A kubeconfig that leads elsewhere than before, or to a cluster that another InferenceCluster has, is a mistake that
placing must not build on: devices would be counted that are not there, or twice. Nothing that exists is taken away.
A cluster says itself who it is. So the uid is its who has published it first: one that another InferenceCluster has is
neither published nor marked by whoever sees it later, however much older that one is.
"""

import re
from collections.abc import Collection
from typing import Final

from modelplane.composing import requirements as require
from modelplane.model.conditions import ClusterCondition, Condition, Reason, Status
from modelplane.model.names import ANNOTATION_ABANDON, ANNOTATION_SHARES, digest
from modelplane.model.observation import Gap
from modelplane.observed.fields import mapping, text
from modelplane.observed.remote import Remote
from modelplane.step import Object, Request

#: What is taken for a uid. Kubernetes makes UUIDs; the form is that of a label's value, as which it marks a config.
_UID: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?")


def read_uid(value: object) -> str:
    """Return a uid, "" for none; for what a cluster gives instead, of any length and form, a digest of it."""
    found = text(value)
    return found if not found or _UID.fullmatch(found) else f"malformed-{digest(found)}"


def seen_uid(probe: Remote | None) -> str:
    """Return the uid of the cluster that the probe saw, "" while it has seen none."""
    return read_uid(mapping((probe.manifest or {}).get("metadata")).get("uid")) if probe else ""


def published_uid(request: Request, probe: Remote | None) -> str:
    """Return `status.clusterUID`: of the cluster that was seen first, "" while none was, or another one has its uid."""
    published, seen = read_uid(mapping(request.composite.body.get("status")).get("clusterUID")), seen_uid(probe)
    if published or not seen:
        return published
    found = request.all(require.marked_configs(seen))
    may = not isinstance(found, Gap) and (_is_free(request, found) or _shares(request.composite))
    return seen if may else ""


def mark_of(request: Request, probe: Remote | None, uid: str) -> str:
    """Return the uid that the ClusterProviderConfig is marked with: the published one, unless another has its mark."""
    found = request.all(require.marked_configs(uid))
    # Fetched are those of the cluster that is seen.
    if isinstance(found, Gap) or uid != seen_uid(probe) or _is_free(request, found):
        return uid
    return ""


def _is_free(request: Request, marked: Collection[Object]) -> bool:
    """Tell whether the cluster's own config is among those that are marked with a uid, or there are none."""
    return not marked or request.composite.name in {each.name for each in marked}


def check(request: Request, probe: Remote | None, published: str) -> Condition | None:
    """Return why the cluster may not be placed on, ClusterReady False; None where it is who it is said to be.

    `published` is the uid that the InferenceCluster has published, "" before the first. It stays as it is when another
    cluster is seen: that is what the replicas were placed on.
    """
    uid, cluster = seen_uid(probe), request.composite.name
    if not uid:
        return None
    kind = ClusterCondition.CLUSTER_READY
    if published and uid != published:
        message = (
            f"the kubeconfig leads to another cluster than before: the uid of its Namespace kube-system is {uid}, and "
            f"was {published}. Correct the kubeconfig's Secret; if the cluster was made anew, delete InferenceCluster "
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
    """Tell whether its owner has annotated that an InferenceCluster has pools of a cluster that another has too."""
    return mapping(cluster.metadata.get("annotations")).get(ANNOTATION_SHARES) == "true"


def _first(request: Request, uid: str) -> Object | None:
    """Return the oldest ClusterProviderConfig that is marked with the uid; it has its InferenceCluster's name."""
    found = request.all(require.marked_configs(uid))
    if isinstance(found, Gap):
        return None
    return min(found, key=lambda each: (text(each.metadata.get("creationTimestamp")), each.name), default=None)
