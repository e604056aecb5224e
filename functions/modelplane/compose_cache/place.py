"""One pass' view of a cache on one cluster: the claim to be, the claim that is there, and what they are told to be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from modelplane.cel import quantity
from modelplane.compose_cache.spec import CacheSpec
from modelplane.composing.hold import held
from modelplane.composing.site import Site
from modelplane.kube.volume import BOUND, volume_claim
from modelplane.model.staging import Phase
from modelplane.observed.fields import mapping, text
from modelplane.observed.remote import Remote, read_remote
from modelplane.step import Request

Manifests = Mapping[str, Mapping[str, Any]]
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Stage:
    """A cache on one cluster.

    `volume` is what is published as staged there (name and uid of a claim), empty while nothing is. `objects` are the
    Objects to be by composition resource name. `lacks_token`: the Secret with the token, or its key, does not exist.
    """

    cluster: str
    phase: Phase
    message: str = ""
    volume: Mapping[str, Any] = field(default_factory=dict)
    objects: Manifests = field(default_factory=dict)
    lacks_token: bool = False


def volume_resource(cluster: str, volume: str) -> str:
    """Return the composition resource name of a volume."""
    return f"volume-{cluster}-{volume}"


def _gib(size: Any) -> int:
    """Return a size in whole GiB, 0 when it cannot be read. A server writes 1024Gi as 1Ti."""
    try:
        return (quantity.parse(text(size)).integer() or 0) // _GIB
    except quantity.QuantityError:
        return 0


def _asked(claim: Mapping[str, Any]) -> int:
    """Return the GiB that a claim asks for."""
    return _gib(mapping(mapping(mapping(claim.get("spec")).get("resources")).get("requests")).get("storage"))


@dataclass(frozen=True, slots=True)
class Place:
    """What one pass knows of a cache on one cluster. `last` is the volume that was published before."""

    request: Request
    spec: CacheSpec
    site: Site
    storage_class: str
    last: Mapping[str, Any]

    @property
    def resource(self) -> str:
        """Return the composition resource name of the volume."""
        return volume_resource(self.site.cluster, self.spec.volume)

    @property
    def seen(self) -> Remote | None:
        """Return the volume as it is observed."""
        found = self.request.observed.get(self.resource)
        return read_remote(found) if found else None

    @property
    def claim(self) -> Mapping[str, Any]:
        """Return the claim as the cluster held it last, empty while it was not seen."""
        return mapping(self.seen.manifest if self.seen else None)

    @property
    def going(self) -> bool:
        """Tell whether somebody deletes the claim on the cluster."""
        return bool(mapping(self.claim.get("metadata")).get("deletionTimestamp"))

    @property
    def uid(self) -> str:
        """Return the uid of the claim on the cluster, "" while it was not seen or is being deleted."""
        return "" if self.going else text(mapping(self.claim.get("metadata")).get("uid"))

    @property
    def bound(self) -> bool:
        """Tell whether the claim is there and has its volume."""
        return bool(self.uid) and mapping(self.claim.get("status")).get("phase") == "Bound"

    @property
    def filled(self) -> bool:
        """Tell whether this very claim was published as staged before."""
        return bool(self.uid) and self.last == {"name": self.spec.volume, "uid": self.uid}

    @property
    def grows(self) -> bool:
        """Tell whether the volume has not grown to its size yet."""
        capacity = _gib(mapping(mapping(self.claim.get("status")).get("capacity")).get("storage"))
        return self.bound and 0 < capacity < self.spec.size_gib

    @property
    def least(self) -> int:
        """Return the GiB that the claim asks for on its cluster, below which it cannot be brought.

        A growth that the cluster refused is not among them: it can be taken back.
        """
        return _asked(self.claim) or (_asked(self.seen.wanted) if self.seen else 0)

    def volume(self) -> Mapping[str, Any] | str:
        """Return the Object of the volume, or why there cannot be one. What it was made with it keeps, but grows."""
        seen = self.seen
        made_with = text(mapping(seen.wanted.get("spec")).get("storageClassName")) if seen else ""
        storage_class, size = made_with or self.storage_class, max(self.spec.size_gib, self.least)
        if seen and not (storage_class and self.site.config):
            return held(self.request.observed[self.resource].body)
        if not self.site.config:
            return "the cluster has not published how it is reached (status.providerConfigRef): its conditions say why"
        if not storage_class:
            return (
                "no storage class for caches: name one that many nodes can mount (ReadWriteMany) in the "
                "InferenceCluster's spec.cluster.existing.cache.storageClassName"
            )
        claim = volume_claim(self.spec.volume, self.site.namespace, size_gib=size, storage_class=storage_class)
        return self.site.place(claim, ready_when=BOUND, watch=True)

    def misplaced(self) -> str:
        """Return in words that the claim asks in vain for a storage class that the cluster names no more, "" if not.

        A claim's class cannot be changed: it gives way. One that was published may be mounted, and stays.
        """
        held, now = text(mapping(self.claim.get("spec")).get("storageClassName")), self.storage_class
        waits = mapping(self.claim.get("status")).get("phase") == "Pending" and not (
            self.seen and self.seen.sync_failure
        )
        if not waits or now in ("", held) or self.last.get("name") == self.spec.volume:
            return ""
        return (
            f"PersistentVolumeClaim {self.spec.volume} has no volume of storage class {held}, and gives way to one of "
            f"class {now}, which the cluster names now"
        )

    def caveats(self) -> str:
        """Return in words what is not as asked of a volume that is there, "" when all is."""
        seen, least = self.seen, self.least
        refused = f"the volume stays at {least} GiB: it cannot shrink to spec.huggingFace.sizeGiB {self.spec.size_gib}"
        return "; ".join(
            filter(None, (refused if least > self.spec.size_gib else "", seen.sync_failure if seen else ""))
        )

    def unbound(self) -> str:
        """Return in words what a volume waits for that is not bound."""
        seen, called = self.seen, f"PersistentVolumeClaim {self.spec.volume}"
        if seen is None or seen.manifest is None:
            return f"{called} {seen.sync_failure if seen and seen.sync_failure else 'is being applied'}"
        if self.going:
            return f"{called} is being deleted on the cluster, and is made anew when it is gone"
        phase = text(mapping(self.claim.get("status")).get("phase")) or "Pending"
        waits = f"{called} of storage class {text(mapping(self.claim.get('spec')).get('storageClassName'))} is {phase}"
        if phase == "Lost":
            waits += ", its data gone: delete it on the cluster, and it is made and filled anew"
        else:
            waits += ": its events on the cluster say what for"
        return f"{waits}; {seen.sync_failure}" if seen.sync_failure else waits
