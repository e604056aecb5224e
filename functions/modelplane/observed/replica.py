"""Reads a ModelReplica: the deployment's own, another deployment's, or a hand-written one."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from modelplane.lru import Lru, weigh
from modelplane.model.conditions import Reason, ReplicaCondition, Status
from modelplane.model.deployment import Role
from modelplane.model.names import LABEL_CLUSTER, LABEL_REPLICA_INDEX, LABEL_REVISION, place_of_resource
from modelplane.model.replica import Claim, Replica, StampedEngine, StampedMember
from modelplane.model.rollout import BUILDER
from modelplane.model.routing import Copies
from modelplane.observed.bounds import selector_texts, too_many_selectors
from modelplane.observed.fields import (
    condition,
    controller,
    count,
    deleting,
    is_true,
    labels,
    mapping,
    mappings,
    number,
    resource_name,
    text,
)
from modelplane.observed.memo import once_per_version
from modelplane.observed.resources import read_asked, read_bytes
from modelplane.observed.stamp import carried_content, interface, own_choice, stamp_digest
from modelplane.observed.tolerations import read_tolerations
from modelplane.step import Object

#: Stands for any other content that a replica last served with.
_ANOTHER = "another"


def _claim(request: Mapping[str, Any]) -> Claim:
    selectors = tuple(text(selector.get("cel")) for selector in mappings(request.get("selectors")))
    return Claim(
        text(request.get("name")), text(request.get("deviceClassName")), count(request.get("count", 1)), selectors
    )


def _member(member: Mapping[str, Any], *, too_large: bool) -> StampedMember | None:
    role, pool = member.get("role", Role.STANDALONE), text(member.get("nodePoolName"))
    if role not in tuple(Role) or not pool:
        return None
    pods = count(mapping(member.get("worker")).get("nodes"), 1) if role == Role.WORKER else 1
    requests, tolerations = mappings(member.get("deviceRequests")), read_tolerations(member.get("tolerations"))
    claims, asked = () if too_large else tuple(map(_claim, requests)), read_asked(member.get("resources"))
    whole = too_large and any(True for _ in requests)
    return StampedMember(
        Role(role), pool, pods, claims, whole, tolerations, asked, read_bytes(member.get("sharedMemory"))
    )


#: The first value with each content, at most 8 MiB: the replicas of a deployment share one value.
_ENGINES: Final = Lru[tuple[StampedEngine, ...]](8 * 1024 * 1024)


def read_engines(engines: Any) -> tuple[StampedEngine, ...]:
    """Return the readable engines of a ModelReplica's `spec.engines` (or `status.servedEngines`).

    An engine that is too large is not read: its claiming pods are charged whole nodes. One with `charged` stands in for
    engines that a partial export lacks (`reading/unread.py`); no API server accepts that field.
    """
    too_large = bool(too_many_selectors(selector_texts(engines)))
    read = []
    for engine in mappings(engines):
        members = tuple(_member(member, too_large=too_large) for member in mappings(engine.get("members")))
        known = tuple(member for member in members if member is not None)
        if charged := text(engine.get("charged")):
            known = tuple(replace(member, whole_nodes=True) for member in known)
        if known and len(known) == len(members):
            name, copies = text(engine.get("name")), count(engine.get("copies", 1))
            read.append(StampedEngine(name, known, copies, charged))
    engines = tuple(read)
    return _ENGINES.get(engines, lambda: (engines, weigh(engines)))


def _index(obj: Object) -> int | None:
    value = labels(obj).get(LABEL_REPLICA_INDEX, "")
    return int(value) if value.isascii() and value.isdigit() else None


def _cluster(obj: Object) -> str:
    asked = text(mapping(obj.body.get("spec")).get("clusterName"))
    return "" if not asked or lacks_label(obj) else placed_cluster(obj) or asked


def placed_cluster(obj: Object) -> str:
    """Return the cluster on which a ModelDeployment has placed the replica, "" for a hand-written one.

    It is read from the resource name, which is Crossplane's key: spec and labels of a composed replica can be edited
    until they are restored.
    """
    place = place_of_resource(resource_name(obj)) if controller(obj) else None
    return place[0] if place else ""


def lacks_label(obj: Object) -> bool:
    """Tell whether a hand-written replica composes nothing because it lacks the label of its cluster.

    A replica that has served or composed something is exempt: it is older than the rule.
    """
    spec, status = mapping(obj.body.get("spec")), mapping(obj.body.get("status"))
    began = status.get("served") is True or bool(status.get("workloads"))
    return not controller(obj) and not began and labels(obj).get(LABEL_CLUSTER) != spec.get("clusterName")


def _is_stale(obj: Object) -> bool:
    """Tell whether Ready is for an earlier generation: the replica has had no pass since its spec changed."""
    generation = number(obj.metadata.get("generation"), 0)
    return number(condition(obj, "Ready").get("observedGeneration"), generation) < generation


def _is_refused(obj: Object) -> bool:
    """Tell whether the replica's own pass has refused its present engines, and none of them runs.

    Only that pass reads their templates, for example for labels that the cluster denies.
    """
    accepted = condition(obj, ReplicaCondition.MODEL_ACCEPTED)
    denied = (accepted.get("status"), accepted.get("reason")) == (Status.FALSE, Reason.INVALID_ENGINE)
    return denied and not mapping(obj.body.get("status")).get("workloads") and not _is_stale(obj)


@once_per_version
def read_replica(obj: Object) -> Replica:
    """Return the replica. Without a readable `spec.clusterName` or engines it is on no cluster and holds nothing.

    A replica that composes nothing because it lacks its cluster's label holds nothing either.
    """
    obj = obj.outline
    spec, status = mapping(obj.body.get("spec")), mapping(obj.body.get("status"))
    served = read_engines(status.get("servedEngines"))
    return Replica(
        namespace=obj.namespace,
        name=obj.name,
        uid=text(obj.metadata.get("uid")),
        cluster=_cluster(obj),
        engines=read_engines(spec.get("engines")),
        owner=controller(obj),
        resource=resource_name(obj),
        index=_index(obj),
        created=text(obj.metadata.get("creationTimestamp")),
        deleting=deleting(obj),
        ready=is_true(obj, "Ready"),
        stale=_is_stale(obj),
        complete=status.get("complete") is not False,
        copies=sum(count(row.get("ready")) for row in mappings(status.get("workloads"))),
        crashed=status.get("crashed") is True,
        has_served=status.get("served") is True,
        served_engines=served or None,
        ending=spec.get("ending") is True,
        profile=text(mapping(spec.get("profile")).get("name")),
        ended=status.get("ended") is True,
        refused=_is_refused(obj),
    )


def _volume(obj: Object) -> str:
    """Return the claim that a replica's pods mount, "" if it is not stamped and several are possible."""
    spec, status = mapping(obj.body.get("spec")), mapping(obj.body.get("status"))
    recorded = [volume for volume in (status.get("volumes") or ()) if isinstance(volume, str)]
    return text(spec.get("volume")) or (recorded[0] if len(recorded) == 1 else "")


def _served_content(obj: Object, content: str) -> str:
    """Return the digest of the pods' content when the replica last served: `content`, or another one.

    If an earlier version wrote the status and did not record it, the recorded engines are compared; if these are not
    recorded either, the replica is assumed to have served with its present content.
    """
    spec, status = mapping(obj.body.get("spec")), mapping(obj.body.get("status"))
    if count(status.get("builder")) < count(spec.get("builder")):
        return _ANOTHER
    if served := text(status.get("servedStamp")):
        return content if served == stamp_digest(obj, _volume(obj)) else _ANOTHER
    if not status.get("servedEngines"):
        return content
    before = Object({**obj.body, "spec": {**spec, "engines": status.get("servedEngines")}}, obj.key)
    return content if carried_content(before) == content else _ANOTHER


@once_per_version
def read_own_replica(obj: Object) -> Replica:
    """Return a deployment's own replica, with the digests of its pods' content."""
    content, spec = carried_content(obj), mapping(obj.body.get("spec"))
    builder = count(mapping(obj.body.get("status")).get("builder"))
    profile = mapping(spec.get("profile"))
    return replace(
        read_replica(obj),
        content=content,
        served_content=_served_content(obj, content),
        revision=labels(obj).get(LABEL_REVISION, ""),
        outdated_builder=0 < builder < BUILDER,
        cache=text(mapping(spec.get("modelCacheRef")).get("name")),
        volume=_volume(obj),
        model=text(profile.get("model")),
        digest=text(profile.get("digest")),
        choice=own_choice(obj),
        interface=interface(spec, spec.get("engines")),
        served_interface=interface(spec, mapping(obj.body.get("status")).get("servedEngines")),
    )


@once_per_version
def ready_status(obj: Object) -> str:
    """Return the status of the condition Ready, "" where there is none."""
    return text(condition(obj, "Ready").get("status"))


@once_per_version
def serving_copies(obj: Object) -> Copies:
    """Return how many of a replica's copies serve: of the engine that has the smallest part of its own."""
    if was_complete(obj):
        return Copies.ALL
    rows = [*mappings(mapping(obj.body.get("status")).get("workloads"))]
    few = any(2 * count(row.get("ready")) < count(row.get("desired")) for row in rows)
    return Copies.FEW if few else Copies.MOST


def was_complete(obj: Object) -> bool:
    """Tell whether a replica last had all its copies with its present pods; an earlier version recorded Ready alone."""
    complete = mapping(obj.body.get("status")).get("complete")
    return complete if isinstance(complete, bool) else is_true(obj, ReplicaCondition.MODEL_READY)


@once_per_version
def model_message(obj: Object) -> str:
    """Return the message of the replica's condition ModelReady, "" without one."""
    return text(condition(obj, ReplicaCondition.MODEL_READY).get("message"))


def held_message(obj: Object) -> str:
    """Return why the replica is held although its spec asks for a change, "" if it is not held."""
    return text(mapping(obj.body.get("status")).get("held"))


def unreadable(replica: Replica) -> str | None:
    """Return the field that could not be read, None if all could."""
    if not replica.cluster:
        return "spec.clusterName"
    return None if replica.engines else "spec.engines"


def own_replicas(observed: Iterable[Object]) -> tuple[Replica, ...]:
    """Return the ModelReplicas among a deployment's observed composed resources."""
    return tuple(read_own_replica(obj) for obj in observed if obj.kind == "ModelReplica")
