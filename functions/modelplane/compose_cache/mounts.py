"""Which volumes the replicas of a team may mount, so that none of these is taken away."""

from collections.abc import Iterable

from modelplane.observed.fields import mapping
from modelplane.step import Object


def _may_mount(replica: Object, cache: str, cluster: str, volume: str) -> bool:
    """Tell whether a replica may mount a volume: it says so, or it has begun and has not said yet what it mounts."""
    spec, status = mapping(replica.body.get("spec")), mapping(replica.body.get("status"))
    if spec.get("clusterName") != cluster:
        return False
    if isinstance(mounted := status.get("volumes"), list):
        return volume in mounted
    uses = mapping(spec.get("modelCacheRef")).get("name") == cache
    return uses and bool(mapping(spec.get("crossplane")).get("resourceRefs"))


def users(replicas: Iterable[Object], cache: str, cluster: str, volume: str) -> list[str]:
    """Return the names of the replicas on a cluster that may mount a volume of the cache, sorted."""
    return sorted(replica.name for replica in replicas if _may_mount(replica, cache, cluster, volume))
