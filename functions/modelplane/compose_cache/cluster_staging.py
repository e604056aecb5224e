"""A cache on one cluster: the desired volume claim, the observed one, and its status."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from modelplane.cel import quantity
from modelplane.compose_cache.spec import CacheSpec
from modelplane.composing.hold import held
from modelplane.composing.messages import sentences
from modelplane.composing.site import Site
from modelplane.kube.volume import BOUND, volume_claim
from modelplane.model.staging import StagingPhase
from modelplane.observed.fields import mapping, text
from modelplane.observed.remote import Remote, read_remote
from modelplane.step import Request

Manifests = Mapping[str, Mapping[str, Any]]
_GIB: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class StagingResult:
    """The result of one pass for a cache on one cluster.

    `volume` is published as staged there (name and uid of a claim), empty while none is. `objects` are the desired
    Objects by composition resource name. `lacks_secret`: a Secret that the download needs, or its key, does not exist.
    """

    cluster: str
    phase: StagingPhase
    message: str = ""
    volume: Mapping[str, Any] = field(default_factory=dict)
    objects: Manifests = field(default_factory=dict)
    lacks_secret: bool = False


def volume_resource(cluster: str, volume: str) -> str:
    """Return the composition resource name of a volume."""
    return f"volume-{cluster}-{volume}"


def _gib(size: Any) -> int:
    """Return a size in whole GiB, 0 when it cannot be parsed. A server writes 1024Gi as 1Ti."""
    try:
        return (quantity.parse(text(size)).integer() or 0) // _GIB
    except quantity.QuantityError:
        return 0


def _requested(claim: Mapping[str, Any]) -> int:
    """Return the GiB that a claim requests."""
    return _gib(mapping(mapping(mapping(claim.get("spec")).get("resources")).get("requests")).get("storage"))


@dataclass(frozen=True, slots=True)
class ClusterStaging:
    """The inputs of one pass for a cache on one cluster. `last` is the volume that was published before.

    `tolerations` are those of the cluster's pools, each once. `user` is the uid of the download, None for root.
    `commit` is the commit for all clusters, `reported` the one that this claim's download has resolved; each is ""
    while it is not known. `mistaken` is why nothing new may be created on the cluster, "" where it may.
    """

    request: Request
    spec: CacheSpec
    site: Site
    storage_class: str
    last: Mapping[str, Any]
    tolerations: tuple[Mapping[str, Any], ...] = ()
    user: int | None = None
    mistaken: str = ""
    commit: str = ""
    reported: str = ""

    @property
    def resource(self) -> str:
        """Return the composition resource name of the volume."""
        return volume_resource(self.site.cluster, self.spec.volume)

    @property
    def observed(self) -> Remote | None:
        """Return the observed Object of the volume."""
        found = self.request.observed.get(self.resource)
        return read_remote(found) if found else None

    @property
    def claim(self) -> Mapping[str, Any]:
        """Return the claim as it was last observed on the cluster, empty while it never was."""
        return mapping(self.observed.manifest if self.observed else None)

    @property
    def _phase(self) -> str:
        return text(mapping(self.claim.get("status")).get("phase"))

    @property
    def _held_class(self) -> str:
        """Return the storage class of the claim on the cluster."""
        return text(mapping(self.claim.get("spec")).get("storageClassName"))

    @property
    def sync_failure(self) -> str:
        """Return since when and why the volume's Object is not in sync, "" when it is."""
        return self.observed.sync_failure if self.observed else ""

    @property
    def deleting(self) -> bool:
        """Tell whether the claim is being deleted on the cluster."""
        return bool(mapping(self.claim.get("metadata")).get("deletionTimestamp"))

    @property
    def uid(self) -> str:
        """Return the uid of the claim on the cluster, "" while it was not observed or is being deleted."""
        return "" if self.deleting else text(mapping(self.claim.get("metadata")).get("uid"))

    @property
    def bound(self) -> bool:
        """Tell whether the claim is there and has its volume."""
        return bool(self.uid) and self._phase == "Bound"

    @property
    def filled(self) -> bool:
        """Tell whether this claim was published as staged before."""
        return bool(self.uid) and (self.last.get("name"), self.last.get("uid")) == (self.spec.volume, self.uid)

    @property
    def grows(self) -> bool:
        """Tell whether the volume has not grown to its size yet."""
        capacity = _gib(mapping(mapping(self.claim.get("status")).get("capacity")).get("storage"))
        return self.bound and 0 < capacity < self.spec.size_gib

    @property
    def least(self) -> int:
        """Return the GiB that the claim requests on its cluster; it cannot shrink below that.

        A growth that the cluster refused does not count: it can be reverted.
        """
        return _requested(self.claim) or (_requested(self.observed.wanted) if self.observed else 0)

    def keep_copy(self, resource: str, made: Mapping[str, Any] | None) -> Manifests:
        """Return the Object of a Secret's copy by composition resource name.

        It is as `made`, and as observed while its Secret is missing (None); an Object that never was is not made then.
        """
        observed = self.request.observed.get(resource)
        kept = held(observed.body) if made is None and observed else made
        return {} if kept is None else {resource: kept}

    def volume(self) -> Mapping[str, Any] | str:
        """Return the Object of the volume, or why there cannot be one. An existing claim only grows."""
        made_with = text(mapping(self.observed.wanted.get("spec")).get("storageClassName")) if self.observed else ""
        storage_class, size = made_with or self.storage_class, max(self.spec.size_gib, self.least)
        if self.observed and not (storage_class and self.site.config):
            return held(self.request.observed[self.resource].body)
        if not self.site.config:
            unreached = "the cluster is not reached yet, its status.providerConfigRef is empty"
            return sentences(unreached, "See the condition ClusterReady of the InferenceCluster.")
        if not storage_class:
            field = "spec.cluster.existing.cache.storageClassName"
            remedy = f"Set {field} of the InferenceCluster to a class with ReadWriteMany."
            return sentences("the cluster names no storage class for caches", remedy)
        claim = volume_claim(self.spec.volume, self.site.namespace, size_gib=size, storage_class=storage_class)
        return self.site.place_keeping_cluster(claim, ready_when=BOUND, watch=True)

    def wrong_storage_class(self) -> str:
        """Return that the claim waits for a storage class that the cluster no longer names, "" if it does not.

        A claim's class is immutable, so the claim is replaced. A published claim may be mounted, and stays.
        """
        now, waits = self.storage_class, self._phase == "Pending" and not self.sync_failure
        if not waits or now in ("", self._held_class) or self.last.get("name") == self.spec.volume:
            return ""
        return (
            f"PersistentVolumeClaim {self.spec.volume} is Pending with storage class {self._held_class}, the cluster "
            f"names {now} now: the claim is replaced"
        )

    def wrong_commit(self) -> str:
        """Return that the claim is being filled with another commit than the cache's, "" if it is not.

        Two downloads on one volume would overwrite each other's files, so the claim is replaced. A published claim may
        be mounted, and stays.
        """
        if self.reported in ("", self.commit) or self.last.get("name") == self.spec.volume:
            return ""
        return (
            f"PersistentVolumeClaim {self.spec.volume} is being filled with commit {self.reported}, and the cache is "
            f"staged at {self.commit}: the claim is replaced"
        )

    def caveats(self) -> str:
        """Return how a staged volume differs from the spec, "" if it does not."""
        asked = self.spec.size_gib
        kept = f"the volume keeps {self.least} GiB, it cannot shrink to spec.huggingFace.sizeGiB {asked}"
        return sentences(kept if self.least > asked else "", self.sync_failure)

    def unbound(self) -> str:
        """Return what an unbound volume waits for."""
        called = f"PersistentVolumeClaim {self.spec.volume}"
        if not self.claim:
            return f"{called} {self.sync_failure or 'is being applied'}"
        if self.deleting:
            return f"{called} is being deleted on the cluster and is created again when it is gone"
        state = f"{called} of storage class {self._held_class} is {self._phase or 'Pending'}"
        if self._phase == "Lost":
            remedy = "Delete it on the cluster: it is then created and filled again."
            return sentences(f"{state}: its data is gone", remedy, self.sync_failure)
        return sentences(state, "See its events on the cluster.", self.sync_failure)
