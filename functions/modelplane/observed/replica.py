"""Reads a ModelReplica: ours, another deployment's, or one written by hand."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from modelplane.lru import Lru, weigh
from modelplane.model.deployment import Role
from modelplane.model.names import LABEL_REPLICA_INDEX
from modelplane.model.replica import Claim, Replica, StampedEngine, StampedMember
from modelplane.observed.fields import (
    controller,
    count,
    deleting,
    is_true,
    labels,
    mapping,
    mappings,
    resource_name,
    text,
)
from modelplane.observed.memo import once_per_version
from modelplane.step import Object


def _claim(request: Mapping[str, Any]) -> Claim:
    selectors = tuple(text(selector.get("cel")) for selector in mappings(request.get("selectors")))
    return Claim(
        text(request.get("name")), text(request.get("deviceClassName")), count(request.get("count", 1)), selectors
    )


def _member(member: Mapping[str, Any]) -> StampedMember | None:
    role, pool = member.get("role", Role.STANDALONE), text(member.get("nodePoolName"))
    if role not in tuple(Role) or not pool:
        return None
    pods = count(mapping(member.get("worker")).get("nodes"), 1) if role == Role.WORKER else 1
    return StampedMember(Role(role), pool, pods, tuple(_claim(r) for r in mappings(member.get("deviceRequests"))))


#: The first engines seen with each content, at most 16 MiB of them: the replicas of a deployment share one value.
_ENGINES: Final = Lru[tuple[StampedEngine, ...]](16 * 1024 * 1024)


def read_engines(engines: Any) -> tuple[StampedEngine, ...]:
    """Return the engines of a ModelReplica's `spec.engines` (or `status.servedEngines`) that can be read."""
    read = []
    for engine in mappings(engines):
        members = tuple(_member(member) for member in mappings(engine.get("members")))
        known = tuple(member for member in members if member is not None)
        if known and len(known) == len(members):
            read.append(StampedEngine(text(engine.get("name")), known, count(engine.get("copies", 1))))
    engines = tuple(read)
    return _ENGINES.get(engines, lambda: (engines, weigh(engines)))


def _index(obj: Object) -> int | None:
    value = labels(obj).get(LABEL_REPLICA_INDEX, "")
    return int(value) if value.isascii() and value.isdigit() else None


@once_per_version
def read_replica(obj: Object) -> Replica:
    """Return the replica. One without a readable `spec.clusterName` or engines is pinned nowhere and holds nothing."""
    spec, status = mapping(obj.body.get("spec")), mapping(obj.body.get("status"))
    served = read_engines(status.get("servedEngines"))
    return Replica(
        namespace=obj.namespace,
        name=obj.name,
        uid=text(obj.metadata.get("uid")),
        cluster=text(spec.get("clusterName")),
        engines=read_engines(spec.get("engines")),
        owner=controller(obj),
        resource=resource_name(obj),
        index=_index(obj),
        created=text(obj.metadata.get("creationTimestamp")),
        deleting=deleting(obj),
        ready=is_true(obj, "Ready"),
        serves=status.get("served") is True,
        served_engines=served or None,
    )


def unreadable(replica: Replica) -> str | None:
    """Return the field that keeps a replica from being judged, None when all was read."""
    if not replica.cluster:
        return "spec.clusterName"
    return None if replica.engines else "spec.engines"


def own_replicas(observed: Iterable[Object]) -> tuple[Replica, ...]:
    """Return the ModelReplicas among a deployment's observed composed resources."""
    return tuple(read_replica(obj) for obj in observed if obj.kind == "ModelReplica")
