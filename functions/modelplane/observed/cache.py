"""Reads a ModelCache: the clusters that it selects, and the progress on each."""

from collections.abc import Mapping

from modelplane.model.observation import Malformed
from modelplane.model.placement import CacheState, Footprint
from modelplane.model.staging import Staging, StagingPhase
from modelplane.observed.fields import deleting, mapping, mappings, text
from modelplane.observed.memo import once_per_version
from modelplane.step import Object


@once_per_version
def read_cache(obj: Object) -> Footprint | CacheState | Malformed:
    """Return the cache's footprint; UNRESOLVED until it has published its clusters; Malformed otherwise."""
    selector = mapping(obj.body.get("spec")).get("clusterSelector")
    wanted = mapping(selector).get("matchLabels")
    readable = isinstance(selector, (type(None), dict)) and isinstance(wanted, (type(None), dict))
    if not readable or not all(isinstance(value, str) for value in mapping(wanted).values()):
        return Malformed("ModelCache", obj.name, "spec.clusterSelector.matchLabels", "give a map of label texts")
    if not isinstance(mapping(obj.body.get("status")).get("clusters"), list):
        return CacheState.UNRESOLVED
    return Footprint(obj.name, dict(mapping(wanted)), {} if deleting(obj) else _volumes(obj))


def _volumes(obj: Object) -> dict[str, str]:
    """Return the claims on which the cache is staged, by cluster."""
    rows = read_staging(obj).items()
    return {name: found.volume for name, found in rows if found.phase == StagingPhase.READY and found.volume}


@once_per_version
def read_staging(obj: Object) -> Mapping[str, Staging]:
    """Return the progress of the cache by cluster, without rows that cannot be read."""
    rows = mappings(mapping(obj.body.get("status")).get("clusters"))
    return {
        text(row.get("name")): Staging(
            phase=text(row.get("phase")),
            message=text(row.get("message")),
            volume=text(mapping(row.get("volume")).get("name")),
        )
        for row in rows
    }
